package findings

import (
	"cmp"
	"maps"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// MaxTools is how many tools a Finder tells apart. Calls of further ones are counted and
// not looked at.
const MaxTools = 10_000

// Options say how a Finder works. The zero value is the default.
type Options struct {
	// Least is how often something must have happened to be a finding; 0 means 3.
	Least int
}

// Finder adds up what was seen in trajectories. It is used by one goroutine, and its
// findings depend on the order of trajectories only where sums of money are rounded.
type Finder struct {
	options      Options
	tools        map[trace.Name]*toolSums
	kinds        map[hitKey]*sums
	trajectories int
	failed       int // trajectories
	outcomes     int // trajectories that record one
	turns        int
	parallel     int // turns with several calls
	silent       stat.RunningShare
	batched      stat.RunningShare
	beyond       int // calls of tools beyond MaxTools
}

type toolSums struct {
	loop, retry, failures stat.RunningShare
}

// sums are those of one kind and tool.
type sums struct {
	count, good, inFailed int
	trajectories, failed  int
	codes                 map[int]int
	words                 map[string]int
	by                    map[trace.Name]int
	turns, usage          int
	estimated, priced     int
	tokens                int64
	money                 float64
	idle                  struct {
		turns  int
		tokens int64
		money  float64
	}
}

// NewFinder returns an empty Finder.
func NewFinder(o Options) *Finder {
	o.Least = cmp.Or(o.Least, 3)
	return &Finder{options: o, tools: map[trace.Name]*toolSums{}, kinds: map[hitKey]*sums{}}
}

// Add adds what was seen in t, with its account: nil if nothing is known of its tokens.
// Turns without recorded usage count with the tokens that the account has for them, unless
// it was made without counting.
func (f *Finder) Add(t *trace.Trajectory, seen *Seen, account *cost.Account) {
	f.trajectories++
	if t.Outcome != trace.OutcomeUnknown {
		f.outcomes++
	}
	isFailed := t.Outcome == trace.OutcomeFailure
	if isFailed {
		f.failed++
	}
	f.turns += seen.turns
	f.silent.Add(seen.silent, seen.turns)
	for i := range t.Turns {
		if t.Turns[i].NumCalls > 1 {
			f.parallel++
		}
	}
	batched, counts := 0, map[hitKey]int{}
	for i := range seen.hits {
		h := &seen.hits[i]
		counts[hitKey{h.code, h.tool}] = h.count
		if h.code == Batch {
			batched = h.count
		}
		if h.code != Batch && h.code != Silent && f.tool(h.tool) == nil {
			f.beyond += h.count
			continue
		}
		f.sums(hitKey{h.code, h.tool}).add(h, isFailed, account)
	}
	f.batched.Add(batched, seen.turns-seen.silent)
	for _, c := range seen.tools {
		if tool := f.tool(c.tool); tool != nil {
			tool.loop.Add(counts[hitKey{Loop, c.tool}], c.calls)
			tool.retry.Add(counts[hitKey{Retry, c.tool}], c.calls)
			tool.failures.Add(counts[hitKey{Failures, c.tool}], c.calls)
		}
	}
}

// tool returns the sums of a tool, nil for one beyond MaxTools.
func (f *Finder) tool(name trace.Name) *toolSums {
	s := f.tools[name]
	if s == nil && len(f.tools) < MaxTools {
		s = &toolSums{}
		f.tools[name] = s
	}
	return s
}

func (f *Finder) sums(key hitKey) *sums {
	s := f.kinds[key]
	if s == nil {
		s = &sums{codes: map[int]int{}, words: map[string]int{}, by: map[trace.Name]int{}}
		f.kinds[key] = s
	}
	return s
}

func (s *sums) add(h *hit, isFailed bool, account *cost.Account) {
	s.count += h.count
	s.good += h.good
	s.trajectories++
	if isFailed {
		s.failed++
		s.inFailed += h.count
	}
	for _, code := range h.codes {
		s.codes[code]++
	}
	for _, word := range h.words {
		s.words[word]++
	}
	for _, c := range h.by {
		if len(s.by) < MaxTools || s.by[c.tool] > 0 {
			s.by[c.tool] += c.calls
		}
	}
	s.turns += len(h.turns)
	s.idle.turns += len(h.idle)
	if account == nil {
		return
	}
	idle := 0
	for _, i := range h.turns {
		turn := account.Turn(i)
		for idle < len(h.idle) && h.idle[idle] < i {
			idle++
		}
		isIdle := idle < len(h.idle) && h.idle[idle] == i
		if turn.Tokens() == 0 && turn.Estimated > 0 {
			continue // not recorded, and not counted either
		}
		s.usage++
		s.estimated += turn.Estimated
		s.tokens += turn.Tokens()
		s.money += turn.Paid
		s.priced += 1 - turn.Unpaid
		if isIdle {
			s.idle.tokens += turn.Tokens()
			s.idle.money += turn.Paid
		}
	}
}

// Finding is something that is wrong with the agent, or its tools, and what it cost.
type Finding struct {
	Code Code   `json:"code"`
	Tool string `json:"tool"` // "" if it is not about one tool

	// Count is how often: calls, or turns for batch and turns-without-calls. Of is of how
	// many: the calls of the tool whose end is known or that have a result, calling turns
	// for batch, and turns for turns-without-calls.
	Count    int           `json:"count"`
	Of       int           `json:"of"`
	Rate     stat.Figure   `json:"rate"`
	Interval stat.Interval `json:"rate_interval"`

	Trajectories       int         `json:"trajectories"`
	FailedTrajectories stat.Figure `json:"failed_trajectories"` // of these
	InFailed           stat.Figure `json:"count_in_failed"`

	// Turns are the turns that made nothing but these calls, Tokens and Money what those
	// of them cost whose usage is known: the most that doing without them would save.
	Turns      int         `json:"turns"`
	TurnsUsage int         `json:"turns_with_usage"`
	Estimated  int         `json:"turns_estimated"` // of these: their tokens are counted from texts
	Tokens     stat.Figure `json:"tokens"`
	Money      stat.Figure `json:"money"` // US dollars

	// Answers are the turns without a call after which a user speaks or the trajectory
	// ends; Recovered the retries that did not fail again.
	Answers   int `json:"answers,omitempty"`
	Recovered int `json:"recovered,omitempty"`
	// Statuses are the codes of HTTP that calls returned, the most frequent first.
	Statuses []StatusCount `json:"statuses,omitempty"`

	Advice string `json:"advice"`

	worth worth
}

// StatusCount is how many failed calls returned one code.
type StatusCount struct {
	Status int `json:"status"`
	Count  int `json:"count"`
}

// worth is what mending would save at most: findings are ordered by it.
type worth struct {
	money  float64
	tokens int64
	turns  int
	count  int
}

func (w worth) compare(o worth) int {
	return cmp.Or(cmp.Compare(w.money, o.money), cmp.Compare(w.tokens, o.tokens), cmp.Compare(w.turns, o.turns), cmp.Compare(w.count, o.count))
}

// Findings returns what was found, that which is worth most first: by money, where it is
// the same or not known by tokens, then turns, then how often. Turns that answer somebody
// are worth nothing.
func (f *Finder) Findings() []Finding {
	out := []Finding{}
	for key, s := range f.kinds {
		if key.code == Silent && s.good == s.count {
			continue // every run ends with an answer: there is nothing to mend
		}
		if s.count >= f.options.Least {
			out = append(out, f.finding(key, s))
		}
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(b.worth.compare(a.worth), cmp.Compare(slices.Index(Codes, a.Code), slices.Index(Codes, b.Code)), cmp.Compare(a.Tool, b.Tool))
	})
	return out
}

func (f *Finder) finding(key hitKey, s *sums) Finding {
	out := Finding{
		Code: key.code, Count: s.count, Trajectories: s.trajectories, Turns: s.turns, TurnsUsage: s.usage, Estimated: s.estimated,
		FailedTrajectories: stat.Unknown(noOutcome), InFailed: stat.Unknown(noOutcome),
		Tokens: stat.Unknown("no token usage is known for these turns"), Money: stat.Unknown("no price is known for these turns"),
		worth: worth{s.money, s.tokens, s.turns, s.count},
	}
	if key.tool != (trace.Name{}) {
		out.Tool = key.tool.Value()
	}
	if f.outcomes > 0 {
		out.FailedTrajectories, out.InFailed = stat.Count(s.failed), stat.Count(s.inFailed)
	}
	if s.usage > 0 {
		out.Tokens = stat.Known(float64(s.tokens))
	}
	if s.priced > 0 {
		out.Money = stat.Known(s.money)
	}
	share := f.share(key)
	_, out.Of = share.Counts()
	out.Rate, out.Interval = share.Share(), share.Interval()
	switch key.code {
	case Silent:
		out.Answers = s.good
		out.worth = worth{s.idle.money, s.idle.tokens, s.idle.turns, 0}
	case Retry:
		out.Recovered = s.good
	case Failures:
		out.Statuses = statuses(s.codes)
	}
	out.Advice = f.advice(&out, s)
	return out
}

const noOutcome = "no trajectory records its outcome"

// share is how often it happened, by trajectory.
func (f *Finder) share(key hitKey) *stat.RunningShare {
	switch key.code {
	case Batch:
		return &f.batched
	case Silent:
		return &f.silent
	}
	tool := f.tools[key.tool]
	switch key.code {
	case Loop:
		return &tool.loop
	case Retry:
		return &tool.retry
	}
	return &tool.failures
}

// statuses returns codes in order of how often they were met.
func statuses(codes map[int]int) []StatusCount {
	var out []StatusCount
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if code != 0 {
			out = append(out, StatusCount{code, codes[code]})
		}
	}
	slices.SortStableFunc(out, func(a, b StatusCount) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// Beyond returns how many calls of tools beyond MaxTools would have been findings' calls.
func (f *Finder) Beyond() int { return f.beyond }
