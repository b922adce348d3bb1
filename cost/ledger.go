package cost

import (
	"cmp"
	"slices"
	"time"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

const secondsADay = 24 * 60 * 60

// Ledger adds up what trajectories cost. It keeps their accounts, because what was
// counted is only scaled when all is read, and 8 bytes a call. It is filled by one
// goroutine.
type Ledger struct {
	meter    *Meter
	accounts []*Account
	entries  []entry
	calls    []ledgerCall // of all trajectories, in order
	tools    names
	agents   names
	groups   names
	group    func(*trace.Trajectory) string
	ids      []string
}

type entry struct {
	calls   int32 // how many
	agent   int32
	group   int32
	day     int32 // since 1970, -1 if not recorded
	outcome trace.Outcome
}

// ledgerCall is a call of the model: its tool and turn, -1 if that is not recorded.
type ledgerCall struct {
	tool int32
	turn int32
}

// names numbers names in order of first appearance.
type names struct {
	list   []string
	number map[string]int32
}

func (n *names) of(s string) int32 {
	i, ok := n.number[s]
	if !ok {
		if n.number == nil {
			n.number = map[string]int32{}
		}
		i = int32(len(n.list))
		n.number[s] = i
		n.list = append(n.list, s)
	}
	return i
}

// NewLedger returns an empty Ledger for accounts of m.
func NewLedger(m *Meter) *Ledger { return &Ledger{meter: m} }

// GroupBy has the Statement add up by what name returns for a trajectory, too. It comes
// before the first Add.
func (l *Ledger) GroupBy(name func(*trace.Trajectory) string) { l.group = name }

// Add makes the account of t, keeps it and returns it.
func (l *Ledger) Add(t *trace.Trajectory) *Account {
	a := l.meter.Trajectory(t)
	l.AddAccount(t, a)
	return a
}

// AddAccount keeps an account of t that the meter of l made.
func (l *Ledger) AddAccount(t *trace.Trajectory, a *Account) {
	e := entry{agent: l.agents.of(t.Agent), day: -1, outcome: t.Outcome}
	if at := t.Started(); !at.IsZero() {
		e.day = int32(at.Unix() / secondsADay)
	}
	if l.group != nil {
		e.group = l.groups.of(l.group(t))
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel {
			continue
		}
		turn := int32(-1)
		if c.Turn >= 0 && c.Turn < len(t.Turns) {
			turn = int32(c.Turn)
		}
		l.calls = append(l.calls, ledgerCall{l.tools.of(c.Tool.Value()), turn})
		e.calls++
	}
	l.accounts = append(l.accounts, a)
	l.entries = append(l.entries, e)
	l.ids = append(l.ids, t.ID)
}

// Len returns the number of trajectories.
func (l *Ledger) Len() int { return len(l.accounts) }

// Account returns the account of trajectory i, in the order of Add.
func (l *Ledger) Account(i int) *Account { return l.accounts[i] }

// Saving returns what all trajectories together would save without the turns that
// removed gives for each (see Account.Without; nil for none), with the tokens of
// further definitions in every turn that is left. It is what a choice among
// meta-tools maximises: a set of them is worth its removed turns less its
// definitions. Some 1.5 microseconds for a trajectory of 20 turns.
func (l *Ledger) Saving(removed func(trajectory int) []int, added int64) Totals {
	var sum Totals
	for i, a := range l.accounts {
		sum.Add(a.Saving(removed(i), added))
	}
	return sum
}

// Apply makes estimates of what was only counted. It returns how many turns stay
// as they were counted, because nothing was learnt for their model.
func (l *Ledger) Apply(f *Fit) (unscaled int) {
	for _, a := range l.accounts {
		unscaled += f.Apply(a)
	}
	return unscaled
}

// Line is what one group cost.
type Line struct {
	Name string `json:"name"` // "" if it is not recorded; of models, Trajectories are those that begin with it
	Amounts
	CostUSD stat.Figure `json:"cost_usd"`          // Totals.USD
	Own     stat.Figure `json:"recorded_cost_usd"` // RecordedUSD

	PaidRange stat.Interval `json:"paid_usd_range,omitzero"` // of a trajectory that is estimated
	account   *Account      // of a trajectory
}

// Amounts are what some trajectories took, and what was paid for them.
type Amounts struct {
	Trajectories int `json:"trajectories"`
	Totals
	Calls         int         `json:"calls"` // of the model
	PaidUSD       stat.Figure `json:"paid_usd"`
	PerTrajectory stat.Figure `json:"usd_per_trajectory"` // of those with a cost, in the mean
	Paying        int         `json:"-"`                  // trajectories with a cost
	RecordedUSD   float64     `json:"-"`                  // sum of recorded costs
	RecordedTurns int         `json:"turns_with_recorded_cost"`
}

// Priced returns the line with its money.
func (l Line) Priced() Line {
	l.CostUSD, l.PaidUSD = l.Money(), l.PaidMoney()
	l.PerTrajectory, l.Own = stat.Unknown(NoPrice), stat.Unknown("the traces record no costs")
	if l.Paying > 0 {
		l.PerTrajectory = stat.Known(l.Paid / float64(l.Paying))
	}
	if l.RecordedTurns > 0 {
		l.Own = stat.Known(l.RecordedUSD)
	}
	return l
}

// HabitLine is what calling one tool right after another cost: the turns that make
// the second call, shared among the calls of a turn.
type HabitLine struct {
	Tools        [2]string   `json:"tools"`
	Occurrences  int         `json:"occurrences"`
	Trajectories int         `json:"trajectories"`
	Turns        float64     `json:"turns"`
	Tokens       float64     `json:"tokens"`
	CostUSD      stat.Figure `json:"cost_usd"`
	USD          float64     `json:"-"`
}

// ToolLine is what the turns that call a tool cost, each shared equally among its
// calls. What later turns pay for reading its results is in those turns.
type ToolLine struct {
	Tool         string      `json:"tool"` // "" is turns without a call
	Calls        int         `json:"calls"`
	Trajectories int         `json:"trajectories"`
	Turns        float64     `json:"turns"`
	Input        float64     `json:"input_tokens"`
	Output       float64     `json:"output_tokens"`
	Share        stat.Figure `json:"share"` // of what was paid for all, without any price of the tokens
	CostUSD      stat.Figure `json:"cost_usd"`
	USD          float64     `json:"-"`
	Unpriced     float64     `json:"-"` // turns without a price
	PaidUSD      stat.Figure `json:"paid_usd"`
	Paid         float64     `json:"-"`
	Unpaid       float64     `json:"-"` // turns without a price or a recorded cost
}

// Statement is what a Ledger adds up to.
type Statement struct {
	Total    Line
	Tokens   stat.Interval // of those of Total; null where none are estimated, as Total.PaidRange
	Models   []Line
	Agents   []Line
	Groups   []Line // by what GroupBy names; nil without
	Outcomes []Line
	Days     []Line // by the day in UTC on which the trajectory began, in order
	Tools    []ToolLine
	Habits   []HabitLine
	Dearest  []Line // trajectories; Name is the ID

	// TurnsUnknown are the calls whose turn is not recorded: in no tool's figures.
	TurnsUnknown int
	// NoTurns are trajectories without a recorded turn: nothing is known of them.
	NoTurns int
	// Offered are trajectories that record the definitions of the tools offered.
	Offered int
	// Caches are turns with input that was read from a cache or written to one.
	Caches int
	// Silent are turns without recorded usage that are in no figure; only Sums has any.
	Silent int
}

// Statement adds everything up. Groups stand in order of money, then tokens, then
// name; at most top habits and trajectories, the most expensive ones, are named.
func (l *Ledger) Statement(top int) *Statement {
	b := &booking{groups: newGroups(), ledger: l, habits: map[[2]int32]*habitSum{}}
	b.tools = make([]toolSum, len(l.tools.list)+1)
	for i := range b.tools {
		b.tools[i].last = -1
	}
	start := 0
	for i, a := range l.accounts {
		n := int(l.entries[i].calls)
		b.book(i, a, l.calls[start:start+n])
		start += n
	}
	return b.statement(top)
}

// Ranges adds to a statement between what bounds its amounts are that f estimated.
func (l *Ledger) Ranges(s *Statement, f *Fit) {
	s.Total.PaidRange, s.Tokens = stat.NoInterval(s.Total.PaidUSD.Missing()), f.Range(l.accounts, false)
	if s.Total.PaidUSD.Known() {
		s.Total.PaidRange = f.Range(l.accounts, true)
	}
	for i := range s.Dearest {
		if one := &s.Dearest[i]; one.Estimated > 0 && one.PaidUSD.Known() {
			one.PaidRange = f.Range([]*Account{one.account}, true)
		}
	}
}

// groups are the lines of a Statement under way.
type groups struct {
	out                    Statement
	models, agents, groups map[string]*Line
	days                   map[int32]*Line // since 1970, below 0 if not recorded
	outcomes               map[trace.Outcome]*Line
}

func newGroups() groups {
	return groups{models: map[string]*Line{}, agents: map[string]*Line{}, groups: map[string]*Line{}, days: map[int32]*Line{}, outcomes: map[trace.Outcome]*Line{}}
}

// of returns the lines that trajectories of an agent, with an outcome and of a day, count in.
func (g *groups) of(agent string, outcome trace.Outcome, day int32) []*Line {
	return []*Line{&g.out.Total, line(g.agents, agent), line(g.outcomes, outcome), line(g.days, day)}
}

// close makes rows of the lines.
func (g *groups) close() {
	same := func(name string) string { return name }
	g.out.Total = g.out.Total.Priced()
	g.out.Models, g.out.Agents = lines(g.models, same), lines(g.agents, same)
	g.out.Days = lines(g.days, func(day int32) string {
		if day < 0 {
			return ""
		}
		return time.Unix(int64(day)*secondsADay, 0).UTC().Format(time.DateOnly)
	})
	g.out.Outcomes = lines(g.outcomes, trace.Outcome.String)
	slices.SortFunc(g.out.Days, func(x, y Line) int { return cmp.Compare(x.Name, y.Name) })
}

// booking is the sums of a Statement under way.
type booking struct {
	groups
	ledger  *Ledger
	tools   []toolSum // by number, turns without calls last
	habits  map[[2]int32]*habitSum
	dearest []costly
}

// costly is what a trajectory cost.
type costly struct {
	at     int
	paid   float64
	tokens int64
}

type toolSum struct {
	ToolLine
	last int // trajectory that was counted last
}

type habitSum struct {
	HabitLine
	last int
}

func line[K comparable](m map[K]*Line, key K) *Line {
	if m[key] == nil {
		m[key] = &Line{}
	}
	return m[key]
}

// own is the line of trajectory i alone.
func (b *booking) own(i int) Line {
	a := b.ledger.accounts[i]
	own := Line{Name: b.ledger.ids[i], account: a, Amounts: Amounts{Totals: a.Total(), Trajectories: 1, Calls: int(b.ledger.entries[i].calls), RecordedUSD: a.RecordedUSD, RecordedTurns: a.RecordedTurns}}
	if own.Unpaid < own.Turns {
		own.Paying = 1
	}
	return own
}

func (b *booking) book(i int, a *Account, calls []ledgerCall) {
	e, own := &b.ledger.entries[i], b.own(i)
	for _, l := range b.of(b.ledger.agents.list[e.agent], e.outcome, e.day) {
		l.add(&own)
	}
	if b.ledger.group != nil {
		line(b.groups.groups, b.ledger.groups.list[e.group]).add(&own)
	}
	if len(a.Turns) == 0 {
		b.out.NoTurns++
	}
	if a.Offered > 0 {
		b.out.Offered++
	}
	b.dearest = append(b.dearest, costly{i, own.Paid, own.Tokens()})
	b.bookModels(a, &own, calls)
	b.bookTools(i, a, calls)
}

func (l *Line) add(o *Line) {
	l.Totals.Add(o.Totals)
	l.Trajectories += o.Trajectories
	l.Paying += o.Paying
	l.Calls += o.Calls
	l.RecordedUSD += o.RecordedUSD
	l.RecordedTurns += o.RecordedTurns
}

func (b *booking) bookModels(a *Account, own *Line, calls []ledgerCall) {
	for _, c := range calls {
		if c.turn >= 0 && int(c.turn) < len(a.Turns) {
			line(b.models, a.Model(int(c.turn))).Calls++
		}
	}
	for i := range a.Turns {
		t := &a.Turns[i]
		l := line(b.models, a.Model(i))
		l.Totals.Add(a.Turn(i))
		if i == 0 {
			l.Trajectories++
			l.Paying += own.Paying
		}
		// Recorded costs are kept by trajectory: where it changes its model they are nobody's.
		if i == 0 && !slices.ContainsFunc(a.Turns, func(o Turn) bool { return o.model != t.model }) {
			l.RecordedUSD += a.RecordedUSD
			l.RecordedTurns += a.RecordedTurns
		}
		if t.Cached > 0 || t.Write > 0 {
			b.out.Caches++
		}
	}
}

// bookTools shares turns among their calls; calls stand in the order of turns.
func (b *booking) bookTools(trajectory int, a *Account, calls []ledgerCall) {
	next, before := 0, int32(-1)
	for i := range a.Turns {
		for next < len(calls) && calls[next].turn < int32(i) {
			b.out.TurnsUnknown++
			next++
		}
		first := next
		for next < len(calls) && calls[next].turn == int32(i) {
			next++
		}
		turn := a.Turn(i)
		if first == next {
			b.tools[len(b.tools)-1].add(trajectory, &turn, 1, 0)
		}
		share := 1 / float64(max(next-first, 1))
		for _, c := range calls[first:next] {
			b.tools[c.tool].add(trajectory, &turn, share, 1)
			if before >= 0 {
				b.habit(trajectory, before, c.tool, &turn, share)
			}
			before = c.tool
		}
	}
	b.out.TurnsUnknown += len(calls) - next
}

func (t *toolSum) add(trajectory int, turn *Totals, share float64, calls int) {
	t.Calls += calls
	if t.last != trajectory {
		t.last = trajectory
		t.Trajectories++
	}
	t.Turns += share
	t.Input += share * float64(turn.Input)
	t.Output += share * float64(turn.Output)
	t.USD += share * turn.USD
	t.Unpriced += share * float64(turn.Unpriced)
	t.Paid += share * turn.Paid
	t.Unpaid += share * float64(turn.Unpaid)
}

// priced returns the line with its money, and its part of the whole.
func (t ToolLine) priced(whole Line) ToolLine {
	t.CostUSD, t.PaidUSD = money(t.USD, t.Unpriced < t.Turns), money(t.Paid, t.Unpaid < t.Turns)
	if t.Share = stat.Known(t.Paid / whole.Paid); whole.Paid == 0 {
		t.Share = stat.Finite((t.Input+t.Output)/float64(whole.Tokens()), NoTurns)
	}
	return t
}

// compare puts the most expensive tool first.
func (t ToolLine) compare(o ToolLine) int {
	return cmp.Or(cmp.Compare(o.Paid, t.Paid), cmp.Compare(o.Input+o.Output, t.Input+t.Output), cmp.Compare(t.Tool, o.Tool))
}

func (b *booking) habit(trajectory int, first, second int32, turn *Totals, share float64) {
	key := [2]int32{first, second}
	h := b.habits[key]
	if h == nil {
		h = &habitSum{last: -1}
		b.habits[key] = h
	}
	h.Occurrences++
	if h.last != trajectory {
		h.last = trajectory
		h.Trajectories++
	}
	h.Turns += share
	h.Tokens += share * float64(turn.Tokens())
	h.USD += share * turn.USD
}

func (b *booking) statement(top int) *Statement {
	l := b.ledger
	if b.close(); l.group != nil {
		b.out.Groups = lines(b.groups.groups, func(name string) string { return name })
	}
	for i := range b.tools {
		t := &b.tools[i]
		if i < len(l.tools.list) {
			t.Tool = l.tools.list[i]
		}
		if t.Turns > 0 || t.Calls > 0 {
			b.out.Tools = append(b.out.Tools, t.priced(b.out.Total))
		}
	}
	slices.SortFunc(b.out.Tools, ToolLine.compare)
	for key, h := range b.habits {
		h.Tools, h.CostUSD = [2]string{l.tools.list[key[0]], l.tools.list[key[1]]}, money(h.USD, h.USD != 0)
		b.out.Habits = append(b.out.Habits, h.HabitLine)
	}
	slices.SortFunc(b.out.Habits, func(x, y HabitLine) int {
		return cmp.Or(cmp.Compare(y.USD, x.USD), cmp.Compare(y.Tokens, x.Tokens), slices.Compare(x.Tools[:], y.Tools[:]))
	})
	slices.SortStableFunc(b.dearest, func(x, y costly) int {
		return cmp.Or(cmp.Compare(y.paid, x.paid), cmp.Compare(y.tokens, x.tokens))
	})
	b.out.Habits = slices.Clone(b.out.Habits[:min(top, len(b.out.Habits))])
	for _, x := range b.dearest[:min(top, len(b.dearest))] {
		b.out.Dearest = append(b.out.Dearest, b.own(x.at).Priced())
	}
	return &b.out
}

func lines[K comparable](m map[K]*Line, name func(K) string) []Line {
	out := []Line{}
	for key, l := range m {
		l.Name = name(key)
		out = append(out, l.Priced())
	}
	slices.SortFunc(out, func(x, y Line) int {
		return cmp.Or(cmp.Compare(y.Paid, x.Paid), cmp.Compare(y.Tokens(), x.Tokens()), cmp.Compare(x.Name, y.Name))
	})
	return out
}
