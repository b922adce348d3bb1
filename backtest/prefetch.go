package backtest

import (
	"cmp"
	"math"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/trace"
)

// readAhead makes the reads that usually follow an answer at once, and hands their
// results to the agent with it.
var readAhead = prefetchAt(0)

// prefetchAt returns the technique with a threshold of P(use); 0 stands for the default.
func prefetchAt(threshold float64) Technique {
	return Technique{
		Name: "prefetch", Doc: "reads that usually follow an answer are made with it, and their results attached",
		Train: func(p *Part) Trained { return p.trainReader(threshold) },
	}
}

// reader is rules that were learnt, and what their reads cost.
type reader struct {
	meter    *cost.Meter
	set      prefetch.Set
	sessions *prefetch.Sessions // of set
	evidence []stored.Evidence
	// following is how many reads of the second level an answer of a rule's target leads
	// to: the mean over the answers of the training part.
	following []float64
	notes     []string
}

// follows surveys what follows from answers in the training part, once.
func (p *Part) follows() *learn.Survey {
	if p.survey == nil {
		p.survey = learn.NewSurvey(p.Runs, learn.Options{
			Reads: p.knownReads().of, Tokens: func(c *trace.Call) int64 { return p.meter.Raw(c.Result) },
			Workers: p.Options.Workers, Links: p.links,
		})
	}
	return p.survey
}

// LearnReads learns from runs which reads to make ahead of an agent, as the technique prefetch
// does from a training part. links are those of the runs, nil if nobody has looked for them.
func LearnReads(runs []*corpus.Run, links *dataflow.Set, o Options, threshold float64) *learn.Result {
	o.Meter = cmp.Or(o.Meter, cost.NewMeter(cost.Options{}))
	p := &Part{Runs: runs, Options: o, meter: o.Meter, links: links}
	return p.follows().Choose(learn.ChooseOptions{Threshold: threshold, Seed: o.Seed})
}

// trainReader learns to read ahead, once for each threshold.
func (p *Part) trainReader(threshold float64) *reader {
	threshold = cmp.Or(threshold, learn.DefaultThreshold)
	if r := p.readers[threshold]; r != nil {
		return r
	}
	learnt := p.follows().Choose(learn.ChooseOptions{Threshold: threshold, NoIntervals: true})
	r := &reader{meter: p.meter, set: learnt.Set, evidence: learnt.Evidence, following: make([]float64, len(learnt.Set.Rules))}
	r.sessions = prefetch.NewSessions(&r.set)
	for i := range r.set.Rules {
		for k := range r.set.Rules {
			if next := &r.set.Rules[k]; next.Depth == 2 && next.Source.Tool == r.set.Rules[i].Target.Tool {
				r.following[i] += learnt.Evidence[k].PerAnswer
			}
		}
	}
	r.notes = []string{
		"only tools that rules, annotations or else names say to read are read ahead, and what was read counts for nothing once another tool is called",
		"what reads in vain return is not recorded: their tokens are the mean of their tool, and how many reads of the second level they lead to is the mean of the training part",
	}
	if p.readers == nil {
		p.readers = map[float64]*reader{}
	}
	p.readers[threshold] = r
	return r
}

// readerOf follows rules of which nothing else is known.
func readerOf(set *prefetch.Set) *reader {
	r := &reader{set: *set, following: make([]float64, len(set.Rules))}
	r.sessions = prefetch.NewSessions(&r.set)
	return r
}

// turnsRead returns the turns that reading ahead from a P(use) on saves in the training
// part, by trajectory; nil for 0.
func (p *Part) turnsRead(use float64) [][]span {
	if use == 0 || p.read[use] != nil {
		return p.read[use]
	}
	if p.read == nil {
		p.read = map[float64][][]span{}
	}
	p.read[use] = turnsRead(p.Runs, p.trainReader(use), p.choosing())
	return p.read[use]
}

// turnsRead replays reading ahead, and returns the turns that it saves, by trajectory.
func turnsRead(runs []*corpus.Run, r *reader, o ChooseOptions) [][]span {
	o = o.filled()
	type found struct {
		t *trace.Trajectory
		*Finding
	}
	read := [][]span{}
	for f := range par.Map(max(o.Workers, 1), slices.Values(runs), func(run *corpus.Run) found {
		return found{run.Trajectory, r.find(&Case{Run: run}, nil, nil)}
	}) {
		var list []span
		var account *cost.Account
		if len(f.Removed) > 0 && recordsUsage(f.t) {
			account = o.account(f.t)
		}
		for _, turn := range f.Removed {
			t := &f.t.Turns[turn]
			one := span{item: readItem, begin: int32(t.FirstCall), end: int32(t.FirstCall + t.NumCalls), turns: 1, calls: 1}
			if account != nil {
				saved := account.Saving([]int{turn}, 0)
				one.tokens, one.usd = float32(saved.Tokens()), float32(saved.USD)
			}
			list = append(list, one)
		}
		read = append(read, list)
	}
	return read
}

// Reading is what was read ahead in a trajectory.
type Reading struct {
	Reads, Used float64 // reads that were made, and those that answered a call
	Stale       float64 // that were asked for when a tool had been called that may have changed them
	Second      float64 // of Used: those of the second level

	made   []madeRead
	served []int // calls that the agent need not make
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
	for first := 0; first < len(t.Calls); {
		end := first + 1
		for end < len(t.Calls) && t.Calls[end].Turn == t.Calls[first].Turn && t.Calls[first].Turn >= 0 {
			end++
		}
		_, gone := slices.BinarySearch(removed, t.Calls[first].Turn)
		s.turn(first, end, gone)
		first = end
	}
	f.Used = len(f.Removed) > 0 || f.Reading.Reads > 0
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
	for _, read := range s.session.Answered(prefetch.Answer{Call: s.calls[i], Result: s.results[i], Failed: from.Status == trace.StatusFailed}) {
		if at, is := s.read(now, read); is {
			for _, next := range s.session.Got(read, s.results[at]) {
				s.read(now, next)
			}
		} else if s.r.following[read.Rule] > 0 {
			// Its result is not recorded, and what would have followed from it neither.
			s.out.Reads += s.r.following[read.Rule]
			for k := range s.r.set.Rules {
				if next := &s.r.set.Rules[k]; next.Depth == 2 && next.Source.Tool == read.Tool {
					s.out.made = append(s.out.made, madeRead{s.t.Calls[now].Turn, -1, -1, k, s.r.evidence[k].PerAnswer, prefetch.Call{}})
				}
			}
		}
	}
}

// read makes a read after call i. It returns the later call whose result it is, if there
// is one that was answered.
func (s *reading) read(i int, read prefetch.Read) (int, bool) {
	s.out.Reads++
	one := madeRead{s.t.Calls[i].Turn, -1, -1, read.Rule, 1, read.Call}
	at, asked := s.first[read.Key()]
	asked = asked && at > i && s.t.Calls[at].Turn > s.t.Calls[i].Turn && s.t.Calls[at].HasResult && s.t.Calls[at].Status != trace.StatusFailed
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
	t := c.Trajectory
	for i := range f.Reading.made {
		one := &f.Reading.made[i]
		tokens := float64(attachedTokens)
		switch mean := r.evidence[one.rule].TokensUsed; {
		case one.call >= 0:
			call := &t.Calls[one.call]
			tokens += float64(r.meter.Raw(call.Result))
			if one.until >= 0 {
				// The recorded call names tool and arguments, too: they go with the turn.
				tokens -= attachedTokens
			}
		case !math.IsNaN(mean):
			tokens += mean
		}
		last := len(t.Turns) - 1
		if one.until >= 0 {
			last = one.until
		}
		sum.Add(c.Account.Reading(int64(math.Round(tokens*one.times)), one.turn+1, last, f.Removed))
	}
	return sum
}

// Summary says what the figures leave out.
func (r *reader) Summary() Learnt { return Learnt{Rules: len(r.set.Rules), Notes: r.notes} }
