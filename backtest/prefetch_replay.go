package backtest

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

// Reading is what was read ahead in a trajectory.
type Reading struct {
	Reads, Used float64 // reads that were made, and those that answered a call
	Stale       float64 // that were asked for when a tool had been called that may have changed them
	Second      float64 // of Used: those of the second level

	made   []madeRead
	served []int // calls that the agent need not make
	turns  []int // that go because all their calls are answered
}

// InVain returns how many reads answered no call.
func (r *Reading) InVain() float64 { return r.Reads - r.Used }

// madeRead is one read, and from when until when it is in the context for nothing.
type madeRead struct {
	turn  int     // after which it is read
	until int     // turn of its use; -1 for none
	call  int     // whose recorded result it is; -1 if that is not recorded
	rule  int     // that led to it
	times float64 // how many such reads: a mean for what is not recorded

	read prefetch.Call // zero for a mean
}

// reading is the replay of one trajectory.
type reading struct {
	*askedCalls
	r       *reader
	t       *trace.Trajectory
	session *prefetch.Session
	out     *Reading
	finding *Finding
	place   map[string]int // key of a read -> in out.made
	taken   []int          // at calls that another technique makes: the last one that it makes at once, from 1; nil for none
	held    []int          // calls of a meta-tool that is under way
}

// askedCalls are the calls of a trajectory as a reader looks at them.
type askedCalls struct {
	calls   []prefetch.Call
	results []trace.Value
	known   []bool         // the arguments are
	first   map[string]int // key -> first call that has it
}

// newAskedCalls reads the calls of a trajectory.
func newAskedCalls(t *trace.Trajectory) *askedCalls {
	a := &askedCalls{
		calls: make([]prefetch.Call, len(t.Calls)), results: make([]trace.Value, len(t.Calls)), known: make([]bool, len(t.Calls)),
		first: map[string]int{},
	}
	var values trace.ValueReader
	for i := range t.Calls {
		from := &t.Calls[i]
		if from.Tool == (trace.Name{}) {
			continue
		}
		a.calls[i].Tool, a.calls[i].Arguments = from.Tool.Value(), trace.NewObject()
		if from.ArgsMissing() {
			continue
		}
		args, ok := values.Args(from)
		if !ok || args.Kind != trace.Object {
			continue
		}
		a.calls[i].Arguments, a.known[i] = args, true
		a.calls[i] = a.calls[i].Keyed()
		key := a.calls[i].Key()
		if from.Origin == trace.OriginModel {
			if _, met := a.first[key]; !met {
				a.first[key] = i
			}
		}
		if !from.HasResult {
			continue
		}
		if a.results[i], ok = values.Result(from); !ok {
			a.results[i] = trace.NewString(from.Result.Text())
		}
	}
	return a
}

// Find replays the trajectory with a session.
func (r *reader) Find(c *Case) *Finding {
	if f := c.ahead[r]; f != nil {
		return f
	}
	return r.find(c, nil, nil)
}

// find replays what is left of a trajectory: taken are calls that are made without a turn
// of the model, removed turns that are not there. What follows from the answers of a
// meta-tool is read when it has ended: it makes calls of its own till then.
func (r *reader) find(c *Case, taken []int, removed []int) *Finding {
	f := &Finding{Reading: &Reading{}}
	t := c.Trajectory
	if len(r.set.Rules) == 0 || len(t.Turns) == 0 {
		return f
	}
	asked := c.asked
	if asked == nil {
		asked = newAskedCalls(t)
	}
	s := &reading{askedCalls: asked, r: r, t: t, session: r.sessions.Session(), out: f.Reading, finding: f, place: map[string]int{}, taken: taken}
	for first, next := 0, 0; first < len(t.Calls); {
		for ; next < len(t.Messages) && t.Messages[next].Call <= first; next++ {
			s.said(&t.Messages[next])
		}
		end := first + 1
		for end < len(t.Calls) && t.Calls[end].Turn == t.Calls[first].Turn && t.Calls[first].Turn >= 0 {
			end++
		}
		_, gone := slices.BinarySearch(removed, t.Calls[first].Turn)
		s.turn(first, end, gone)
		first = end
	}
	f.Reading.turns, f.Used = f.Removed, len(f.Removed) > 0 || f.Reading.Reads > 0
	return f
}

// turn replays the calls of one turn.
func (s *reading) turn(first, end int, gone bool) {
	served := make([]bool, end-first)
	all := !gone && s.t.Calls[first].Turn >= 0
	for i := first; i < end; i++ {
		served[i-first] = s.serves(i, gone)
		all = all && served[i-first]
	}
	for i := first; i < end; i++ {
		if served[i-first] {
			continue
		}
		if s.t.Calls[i].Tool == (trace.Name{}) {
			s.session.Begin(prefetch.Call{Arguments: trace.NewObject()}) // it may have changed anything
			continue
		}
		s.made(i)
	}
	if all {
		s.finding.Removed = append(s.finding.Removed, s.t.Calls[first].Turn)
	}
}

// serves reports whether the call need not be made, and takes what was read ahead.
func (s *reading) serves(i int, gone bool) bool {
	if gone || s.isTaken(i) || !s.known[i] || s.t.Calls[i].Origin != trace.OriginModel {
		return false
	}
	key := s.calls[i].Key()
	at, read := s.place[key]
	_, level, fresh := s.session.Take(s.calls[i])
	if !read {
		return false
	}
	delete(s.place, key)
	if !fresh {
		s.out.Stale++
		return false
	}
	s.out.Used++
	if level == 2 {
		s.out.Second++
	}
	s.out.made[at].until = s.t.Calls[i].Turn
	s.out.served = append(s.out.served, i)
	return true
}

// made replays a call that is made, and reads ahead from its answer.
func (s *reading) made(i int) {
	s.session.Begin(s.calls[i])
	if s.isTaken(i) && s.taken[i] != i+1 {
		s.held = append(s.held, i)
		return
	}
	for _, call := range append(s.held, i) {
		s.follow(call, i)
	}
	s.held = nil
}

func (s *reading) isTaken(i int) bool { return s.taken != nil && s.taken[i] > 0 }

// follow reads ahead, after call now, from the answer of call i.
func (s *reading) follow(i, now int) {
	from := &s.t.Calls[i]
	if !s.known[i] || !from.HasResult || from.Origin != trace.OriginModel {
		return
	}
	var reads []prefetch.Read
	if s.r.gateway {
		reads = s.session.Passed(s.calls[i])
	}
	reads = append(reads, s.session.Answered(prefetch.Answer{Call: s.calls[i], Result: s.results[i], Failed: from.Status == trace.StatusFailed})...)
	s.readAll(reads, now+1, s.t.Calls[now].Turn)
}

// said reads ahead from a message of the user: what is read is attached to it.
func (s *reading) said(m *trace.Message) {
	if m.Role == trace.RoleUser && !s.r.gateway {
		s.readAll(s.session.Said(m.Text.Text()), m.Call, m.Turn-1)
	}
}

// readAll makes reads, and those that follow from their answers, when calls before from
// have been made; the results are in the context after a turn.
func (s *reading) readAll(reads []prefetch.Read, from, turn int) {
	for _, read := range reads {
		if at, is := s.read(from, turn, read); is {
			s.readAll(s.session.Got(read, s.results[at]), from, turn)
			continue
		}
		if s.r.following[read.Rule] == 0 || read.Level > 1 {
			continue
		}
		// Its result is not recorded, and what would have followed from it neither.
		s.out.Reads += s.r.following[read.Rule]
		for k := range s.r.set.Rules {
			if next := &s.r.set.Rules[k]; next.Source.Tool == read.Tool && next.Depth > read.Level {
				s.out.made = append(s.out.made, madeRead{turn, -1, -1, k, s.r.evidence[k].PerAnswer, prefetch.Call{}})
			}
		}
	}
}

// read makes a read. It returns the later call whose result it is, if there is one that was
// answered.
func (s *reading) read(from, turn int, read prefetch.Read) (int, bool) {
	s.out.Reads++
	one := madeRead{turn, -1, -1, read.Rule, 1, read.Call}
	at, asked := s.first[read.Key()]
	asked = asked && at >= from && s.t.Calls[at].Turn > turn && s.t.Calls[at].HasResult && s.t.Calls[at].Status != trace.StatusFailed
	if !asked {
		s.session.Lost(read)
	} else {
		one.call = at
		s.place[read.Key()] = len(s.out.made)
	}
	s.out.made = append(s.out.made, one)
	return at, asked
}

// ReadsOf replays a trajectory with rules for reading ahead, and returns the reads that are
// made, by the turn after which they are, and the calls that the agent need not make then.
func ReadsOf(set *prefetch.Set, t *trace.Trajectory) (made map[int][]prefetch.Call, served []int) {
	r := readerOf(set)
	made = map[int][]prefetch.Call{}
	out := r.Find(&Case{Run: &corpus.Run{Trajectory: t}}).Reading
	for i := range out.made {
		made[out.made[i].turn] = append(made[out.made[i].turn], out.made[i].read)
	}
	return made, out.served
}

// attachedTokens is what stands around a result that is attached, beside its arguments: the
// name of the tool, of the members, and punctuation.
const attachedTokens = 12

// Saving returns what the removed turns save, less what is read of results that are in
// the context before they are asked for, or for nothing.
func (r *reader) Saving(c *Case, f *Finding) cost.Totals {
	if c.Account == nil {
		return cost.Totals{}
	}
	return c.Account.Saving(f.Removed, 0).Less(r.reading(c, f))
}

// reading returns what reading ahead costs.
func (r *reader) reading(c *Case, f *Finding) cost.Totals {
	var sum cost.Totals
	if f.Reading == nil {
		return sum
	}
	for i := range f.Reading.made {
		sum.Add(r.read(c, f, &f.Reading.made[i]))
	}
	return sum
}

// read returns what one read costs.
func (r *reader) read(c *Case, f *Finding, one *madeRead) cost.Totals {
	tokens := float64(attachedTokens)
	switch mean := r.evidence[one.rule].TokensUsed; {
	case one.call >= 0:
		tokens += float64(r.meter.Raw(c.Trajectory.Calls[one.call].Result))
		if one.until >= 0 {
			// The recorded call names tool and arguments, too: they go with the turn.
			tokens -= attachedTokens
		}
	case !math.IsNaN(mean):
		tokens += mean
	}
	last := len(c.Trajectory.Turns) - 1
	if one.until >= 0 {
		last = one.until
	}
	return c.Account.Reading(int64(math.Round(tokens*one.times)), one.turn+1, last, f.Removed)
}

// Summary says what the figures leave out.
func (r *reader) Summary() Learnt { return Learnt{Rules: len(r.set.Rules), Notes: r.notes} }
