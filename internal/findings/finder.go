package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	// Tools has it say what findings cost by tool.
	Tools bool
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
	caches       caches
	shared       map[string]*overlap // turns that several kinds would do without, by these
	results      map[trace.Name]*resultSums
	byTool       map[string]*toolCharges // by the findings that would do without the turns
}

type toolSums struct {
	loop, retry, failures, tests stat.RunningShare
}

// sums are those of one kind and tool.
type sums struct {
	count, good, inFailed int
	trajectories, failed  int
	coding                int // trajectories of coding agents
	codes                 map[int]int
	words                 map[string]int
	by                    map[trace.Name]int
	examples              []example
	unread                *Unread // of Fields
	results               int     // likewise: those of the tool
	charge
}

// example is a trajectory with a finding.
type example struct {
	count int
	Example
}

// Example is where a finding can be looked at.
type Example struct {
	File       string `json:"file"`
	Trajectory string `json:"trajectory"`
}

// MaxExamples is how many trajectories a finding names.
const MaxExamples = 3

// see notes t as an example if there are too few in which it happened as often.
func (s *sums) see(t *trace.Trajectory, count int) {
	x := example{count, Example{t.Source.File, t.ID}}
	at, _ := slices.BinarySearchFunc(s.examples, x, func(a, b example) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.Trajectory, b.Trajectory), strings.Compare(a.File, b.File))
	})
	if at < MaxExamples {
		s.examples = slices.Insert(s.examples, at, x)
		s.examples = s.examples[:min(len(s.examples), MaxExamples)]
	}
}

// overlap is turns that several findings would do without.
type overlap struct {
	keys []hitKey
	charge
}

// charge is what turns cost.
type charge struct {
	turns, usage, estimated, priced int
	tokens                          int64
	money                           float64
}

func (c *charge) add(o charge) {
	c.turns += o.turns
	c.usage += o.usage
	c.estimated += o.estimated
	c.priced += o.priced
	c.tokens += o.tokens
	c.money += o.money
}

// NewFinder returns an empty Finder.
func NewFinder(o Options) *Finder {
	o.Least = cmp.Or(o.Least, 3)
	return &Finder{options: o, tools: map[trace.Name]*toolSums{}, kinds: map[hitKey]*sums{}, shared: map[string]*overlap{}, results: map[trace.Name]*resultSums{}}
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
		if t.IsParallel(i) {
			f.parallel++
		}
	}
	cache := f.cache(t, isFailed, seen.coding, account)
	batched, counts := 0, map[hitKey]int{}
	turns := make([][]hitKey, len(t.Turns)) // the findings that would do without each turn
	for i := range seen.hits {
		h := &seen.hits[i]
		key := hitKey{h.code, h.tool}
		counts[key] = h.count
		if h.code == Batch {
			batched = h.count
		}
		if h.code != Batch && h.code != Silent && f.tool(h.tool) == nil {
			f.beyond += h.count
			continue
		}
		s := f.sums(key)
		s.add(h, isFailed)
		s.see(t, h.count)
		if seen.coding {
			s.coding++
		}
		for _, turn := range h.turns {
			turns[turn] = append(turns[turn], key)
		}
	}
	for i, keys := range turns {
		if len(keys) > 0 {
			c := chargeOf(account, cache, i)
			f.charge(keys, c)
			f.chargeTools(t, i, keys, ToolCharge{USD: c.money, Tokens: float64(c.tokens)})
		}
	}
	if cache != nil {
		f.chargeCache(t, account, cache)
	}
	f.batched.Add(batched, seen.called)
	f.addFields(t, seen.fields, account)
	for _, c := range seen.tools {
		if tool := f.tool(c.tool); tool != nil {
			tool.loop.Add(counts[hitKey{Loop, c.tool}], c.calls)
			tool.retry.Add(counts[hitKey{Retry, c.tool}], c.calls)
			tool.failures.Add(counts[hitKey{Failures, c.tool}], c.calls)
			tool.tests.Add(counts[hitKey{Tests, c.tool}], c.calls)
		}
	}
}

// charge notes what a turn costs that findings would do without.
func (f *Finder) charge(keys []hitKey, c charge) {
	if len(keys) == 1 {
		f.sums(keys[0]).charge.add(c)
		return
	}
	name := joined(keys)
	o := f.shared[name]
	if o == nil {
		o = &overlap{keys: keys}
		f.shared[name] = o
	}
	o.charge.add(c)
}

// joined names several findings.
func joined(keys []hitKey) string {
	var name strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&name, "%s %q,", k.code, nameOf(k.tool))
	}
	return name.String()
}

// chargeOf returns what turn i costs, with the cache that it could have had.
func chargeOf(account *cost.Account, cache *cost.Cache, i int) charge {
	c := charge{turns: 1}
	if account == nil {
		return c
	}
	turn := account.Turn(i)
	if turn.Tokens() == 0 && turn.Estimated > 0 {
		return c // not recorded, and not counted either
	}
	if cache != nil {
		turn = cache.Turn(account, i)
	}
	c.usage, c.estimated, c.tokens, c.money, c.priced = 1, turn.Estimated, turn.Tokens(), turn.Paid, 1-turn.Unpaid
	return c
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

func (s *sums) add(h *hit, isFailed bool) {
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
}

// Finding is something that is wrong with the agent, or its tools, and what it cost.
type Finding struct {
	Code Code   `json:"finding"`
	Tool string `json:"tool"` // "" if it is not about one tool

	// USD and Tokens are what doing without the turns would save at most, or a cache: a turn
	// that several findings would do without is charged to the first of them in the order of
	// the findings, and costs what it would with a cache where that is a finding. So the
	// amounts of all findings add up.
	USD    stat.Figure `json:"usd"`
	Tokens stat.Figure `json:"tokens"`
	Turns  int         `json:"turns"`
	// Worth is what the finding is ranked by: USD, or without a price the tokens at the mean
	// price of the others.
	Worth stat.Figure `json:"usd_estimated"`

	// Count is how often: calls, or turns for sequential-reads, turns-without-calls and
	// caching. Of is of how many: the calls of the tool whose end is known or that have a
	// result, calling turns for sequential-reads, else all turns.
	Count    int           `json:"count"`
	Of       int           `json:"of"`
	Rate     stat.Figure   `json:"rate"`
	Interval stat.Interval `json:"rate_interval"`

	Trajectories       int         `json:"trajectories"`
	FailedTrajectories stat.Figure `json:"failed_trajectories"` // of these
	InFailed           stat.Figure `json:"count_in_failed"`

	TurnsUsage int `json:"turns_with_usage"`
	Estimated  int `json:"turns_estimated"` // of these: their tokens are counted from texts

	Recovered int       `json:"recovered,omitempty"`  // retries that did not fail again
	Differs   int       `json:"differs_at,omitempty"` // the character at which system prompts first differ, from 1
	Unread    *Unread   `json:"unread,omitempty"`     // fields of results that nobody reads
	Examples  []Example `json:"examples"`             // trajectories in which it happened most often

	// Statuses are the codes of HTTP that calls returned, the most frequent first.
	Statuses []StatusCount `json:"statuses,omitempty"`

	Tools []ToolCharge `json:"-"` // what USD and Tokens are by tool, with Options.Tools

	Advice string `json:"advice"`
	// Line is what CLAUDE.md or AGENTS.md may say, "" where most of it is no coding agent's.
	Line string `json:"line"`
}

// StatusCount is how many failed calls returned one code.
type StatusCount struct {
	Status int `json:"status"`
	Count  int `json:"count"`
}

// worth is what a fix would save at most: findings are ordered by it. Without a price the
// tokens stand at the mean price of the others.
type worth struct {
	money  float64
	tokens int64
	turns  int
	count  int
}

func (w worth) compare(o worth) int {
	return cmp.Or(cmp.Compare(w.money, o.money), cmp.Compare(w.tokens, o.tokens), cmp.Compare(w.turns, o.turns), cmp.Compare(w.count, o.count))
}

// Findings returns what was found, that which is worth most first: by money, tokens without
// a price at the mean price of the others, where no price is known by tokens, then turns,
// then how often.
func (f *Finder) Findings() []Finding {
	f.findUnread()
	totals := map[hitKey]*charge{} // with all turns, shared ones too
	var priced charge
	for key, s := range f.kinds {
		c := s.charge
		totals[key] = &c
	}
	shared := slices.Sorted(maps.Keys(f.shared)) // in order, as sums of money depend on it
	for _, name := range shared {
		o := f.shared[name]
		for _, key := range o.keys {
			totals[key].add(o.charge)
		}
	}
	names := slices.SortedFunc(maps.Keys(totals), func(a, b hitKey) int {
		return cmp.Or(strings.Compare(string(a.code), string(b.code)), strings.Compare(nameOf(a.tool), nameOf(b.tool)))
	})
	for _, key := range names { // without fields, so that prices are the same where nobody looks for these
		if c := totals[key]; c.priced > 0 && key.code != Fields {
			priced.add(*c)
		}
	}
	rank := func(key hitKey, c *charge) worth {
		w := worth{c.money, c.tokens, c.turns, f.kinds[key].count}
		if c.priced == 0 && priced.tokens > 0 {
			w.money = float64(c.tokens) * priced.money / float64(priced.tokens)
		}
		return w
	}
	var keys []hitKey
	for _, key := range names {
		if s := f.kinds[key]; s.count >= f.options.Least {
			keys = append(keys, key)
		}
	}
	order := func(a, b hitKey, x, y worth) int {
		return cmp.Or(cmp.Compare(comesLast[a.code], comesLast[b.code]), y.compare(x), cmp.Compare(slices.Index(Codes, a.code), slices.Index(Codes, b.code)), strings.Compare(nameOf(a.tool), nameOf(b.tool)))
	}
	slices.SortFunc(keys, func(a, b hitKey) int { return order(a, b, rank(a, totals[a]), rank(b, totals[b])) })
	net := map[hitKey]*charge{}
	for _, key := range keys {
		c := f.kinds[key].charge
		net[key] = &c
	}
	for _, name := range shared {
		o := f.shared[name]
		for _, key := range keys {
			if slices.Contains(o.keys, key) {
				net[key].add(o.charge)
				break
			}
		}
	}
	tools := f.toolsOf(keys)
	slices.SortStableFunc(keys, func(a, b hitKey) int { return order(a, b, rank(a, net[a]), rank(b, net[b])) })
	out := []Finding{}
	for _, key := range keys {
		one := f.finding(key, f.kinds[key], net[key])
		one.Tools = tools[key]
		if one.Worth = one.USD; net[key].priced == 0 && net[key].usage > 0 && priced.tokens > 0 {
			one.Worth = stat.Known(rank(key, net[key]).money)
		}
		out = append(out, one)
	}
	return out
}

func nameOf(n trace.Name) string {
	if n == (trace.Name{}) {
		return ""
	}
	return n.Value()
}

// CacheUnsaid returns in how many trajectories a cache was on, by what was paid, although
// their usage does not say so.
func (f *Finder) CacheUnsaid() int { return f.caches.unsaid }

func (f *Finder) finding(key hitKey, s *sums, c *charge) Finding {
	out := Finding{
		Code: key.code, Tool: nameOf(key.tool), Count: s.count, Trajectories: s.trajectories, Turns: c.turns, TurnsUsage: c.usage, Estimated: c.estimated,
		FailedTrajectories: stat.Unknown(noOutcome), InFailed: stat.Unknown(noOutcome),
		Tokens: stat.Unknown("no token usage is known for these turns"), USD: stat.Unknown("no price is known for these turns"),
	}
	for _, x := range s.examples {
		out.Examples = append(out.Examples, x.Example)
	}
	if f.outcomes > 0 {
		out.FailedTrajectories, out.InFailed = stat.Count(s.failed), stat.Count(s.inFailed)
	}
	if c.usage > 0 {
		out.Tokens = stat.Known(float64(c.tokens))
	}
	if c.priced > 0 {
		out.USD = stat.Known(c.money)
	}
	if key.code == Fields {
		out.Unread, out.Of, out.Rate, out.Interval = s.unread, s.results, s.unread.Share, stat.NoInterval("fields differ in size: read_held_out of results_held_out says how sure it is")
	} else if share := f.share(key); share != nil {
		_, out.Of = share.Counts()
		out.Rate, out.Interval = share.Share(), share.Interval()
	} else {
		const reason = "turns of one trajectory share a cache"
		out.Of, out.Rate, out.Interval = f.turns, stat.Ratio(s.count, f.turns, reason), stat.NoInterval(reason)
	}
	switch key.code {
	case NoCache, BrokenCache:
		out.Differs = f.caches.first()
	case Retry:
		out.Recovered = s.good
	case Failures:
		out.Statuses = statuses(s.codes)
	}
	if 2*s.coding > s.trajectories {
		out.Advice, out.Line = f.codingAdvice(&out)
	} else {
		out.Advice = f.advice(&out, s)
	}
	return out
}

const noOutcome = "no trajectory records its outcome"

// share is how often it happened, by trajectory, nil for caching.
func (f *Finder) share(key hitKey) *stat.RunningShare {
	switch key.code {
	case NoCache, BrokenCache:
		return nil
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
	case Tests:
		return &tool.tests
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
