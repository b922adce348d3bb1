package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/contrast"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// Place is where a meta-tool could have been called.
type Place struct {
	Tool       string
	Begin, End int // of its calls; places of one tool that overlap count once
}

// Options say how sessions are compared. The zero value is the default.
type Options struct {
	Places func(t *trace.Trajectory) []Place // nil: nobody knows
	Known  []string                          // the meta-tools that Places finds places of
	Meter  *cost.Meter                       // nil: one of its own
	Look   bool                              // also intervals that hold at every look
	// Promised is how often the reads of each rule should be asked for, by its id.
	Promised map[string]float64
	Stat     stat.Options
}

// Comparison collects sessions.
type Comparison struct {
	o        Options
	sessions []*session
	byCall   map[string]*session // by the id of a call, for transcripts
	joins    int
	tools    map[string]*Tool
	rules    map[string]*Rule
	units    map[string]bool // kinds
	shares   map[float64]bool
	seeds    map[uint64]bool
	none     int // trajectories that no relay recorded
	cut      int // recordings that were cut short
}

// New returns an empty comparison.
func New(o Options) *Comparison {
	if o.Meter == nil {
		o.Meter = cost.NewMeter(cost.Options{})
	}
	return &Comparison{
		o: o, byCall: map[string]*session{}, tools: map[string]*Tool{}, rules: map[string]*Rule{},
		units: map[string]bool{}, shares: map[float64]bool{}, seeds: map[uint64]bool{},
	}
}

func (c *Comparison) tool(name string) *Tool {
	if c.tools[name] == nil {
		c.tools[name] = &Tool{Name: name, HandBacks: map[string]int{}, byUnit: map[*session][2]int{}}
	}
	return c.tools[name]
}

func (c *Comparison) rule(id string) *Rule {
	if c.rules[id] == nil {
		c.rules[id] = &Rule{ID: id}
	}
	return c.rules[id]
}

// Add adds a session. One that no relay recorded is only counted, see Result.Foreign.
func (c *Comparison) Add(t *trace.Trajectory) {
	if t.Relay == nil {
		c.none++
		return
	}
	s := newSession(t, c.o.Meter)
	if t.Anomalies.ByCode[trace.CodeRecordingCut] > 0 {
		c.cut++
	}
	c.sessions = append(c.sessions, s)
	c.units[cmp.Or(t.Relay.Unit, "session")] = true
	c.shares[t.Relay.Share], c.seeds[t.Relay.Seed] = true, true
	for i := range t.Calls {
		if id := t.Calls[i].ID; id != "" && t.Calls[i].Origin == trace.OriginModel {
			c.byCall[id] = s
		}
	}
	for _, name := range t.Relay.MetaTools {
		c.tool(name)
	}
	for _, id := range t.Relay.Prefetch {
		c.rule(id)
	}
	if s.treated {
		c.addUses(t, s)
		c.addReads(t)
	}
	if c.o.Places != nil {
		last := map[string]int{}
		for _, p := range c.o.Places(t) {
			if p.Begin >= last[p.Tool] {
				s.places[p.Tool]++
				last[p.Tool] = p.End
			}
		}
	}
	for _, name := range t.Relay.MetaTools {
		c.tool(name).add(s)
	}
	for _, id := range t.Relay.Prefetch {
		if s.treated {
			c.rule(id).Sessions++
		}
	}
}

// add counts a session in which the meta-tool was offered, or would have been.
func (t *Tool) add(s *session) {
	uses, places := s.uses[t.Name], s.places[t.Name]
	t.byUnit[s] = [2]int{uses, places}
	if !s.treated {
		t.ControlSessions++
		t.Control += places
		return
	}
	t.Sessions++
	t.Places += places
	if uses > 0 {
		t.Used++
	}
	if uses+places > 0 {
		t.Wanted++
	}
}

// Join adds what a transcript says to the session that has one of its calls. It reports
// whether there is one.
func (c *Comparison) Join(j Joined) bool {
	for _, id := range j.Calls {
		s := c.byCall[id]
		if s == nil {
			continue
		}
		if !s.joined {
			c.joins++
		}
		s.joined = true
		s.values[ModelTurns] += float64(j.ModelTurns)
		s.values[InputTokens] += float64(j.InputTokens)
		s.values[OutputTokens] += float64(j.OutputTokens)
		s.values[USD] += j.USD
		return true
	}
	return false
}

// Arm is how much there is of one.
type Arm struct {
	Arm      string `json:"arm"`
	Units    int    `json:"units"`
	Sessions int    `json:"sessions"`
	Assumed  int    `json:"turns_assumed"`
}

// Compared is a figure of a session, the mean, in each arm. Intervals hold if one looks
// once.
type Compared struct {
	Figure             Figure         `json:"-"`
	Name               string         `json:"figure"`
	Treated            stat.Figure    `json:"treated"`
	Control            stat.Figure    `json:"control"`
	Difference         stat.Figure    `json:"difference"`
	DifferenceInterval stat.Interval  `json:"difference_interval"`
	Ratio              stat.Figure    `json:"ratio"`
	RatioInterval      stat.Interval  `json:"ratio_interval"`
	Always             *stat.Interval `json:"difference_always,omitempty"` // of units, at every look; with Options.Look
	P                  stat.Figure    `json:"p"`                           // of a permutation of arms over units
	PAdjusted          stat.Figure    `json:"p_adjusted"`                  // for all figures, by Holm
	Different          bool           `json:"different"`                   // that is below 5 %

	arms stat.Arms
}

// Result is what came of a comparison.
type Result struct {
	Unit             string // "" if sessions differ in it
	Share            float64
	Treated, Control Arm
	Joined           int  // sessions
	Foreign          int  // trajectories that no relay recorded
	Different        bool // some figure does, at 5 % for all of them
	Figures          []Compared
	Tools            []Tool
	Rules            []Rule
	Warnings         []Warning
}

// unitsOf returns units of an arm with the sums of a figure over their sessions, and the
// number of these.
func unitsOf(sessions []*session, treated bool, f func(*session) (float64, bool)) (stat.ClusterRatio, []*session) {
	at := map[string]int{}
	var r stat.ClusterRatio
	var first []*session
	for _, s := range sessions {
		v, ok := f(s)
		if s.treated != treated || !ok {
			continue
		}
		n, known := at[s.unit]
		if !known {
			n = len(r.Num)
			at[s.unit] = n
			r.Num, r.Den, first = append(r.Num, 0), append(r.Den, 0), append(first, s)
		}
		r.Num[n] += v
		r.Den[n]++
	}
	return r, first
}

// together returns the level of the intervals that advice rests on. Of many meta-tools and
// rules some look bad by chance: with each interval at this level, all of the advice
// together rests on a wrong one in at most 5 % (Bonferroni).
func (c *Comparison) together() float64 {
	judged := 0
	for _, t := range c.tools {
		if t.Uses > 0 {
			judged++
		}
	}
	for _, u := range c.rules {
		if u.Reads > 0 {
			judged++
		}
	}
	return 1 - (1-stat.DefaultLevel)/float64(max(judged, 1))
}

// Result compares. The order in which sessions were added does not matter.
func (c *Comparison) Result() *Result {
	slices.SortStableFunc(c.sessions, func(a, b *session) int { return cmp.Or(a.start.Compare(b.start), cmp.Compare(a.id, b.id)) })
	r := &Result{Joined: c.joins, Foreign: c.none, Treated: Arm{Arm: trace.ArmTreated}, Control: Arm{Arm: trace.ArmControl}}
	level := c.together()
	if len(c.units) == 1 {
		r.Unit = slices.Collect(maps.Keys(c.units))[0]
	}
	if len(c.shares) == 1 {
		r.Share = slices.Collect(maps.Keys(c.shares))[0]
	}
	for _, s := range c.sessions {
		arm := &r.Control
		if s.treated {
			arm = &r.Treated
		}
		arm.Sessions++
		arm.Assumed += s.assumed
	}
	for f := range figures {
		isLazy := f == Lookups || f == Unregistered
		if f.Joined() && c.joins == 0 || isLazy && !slices.ContainsFunc(c.sessions, func(s *session) bool { return s.values[f] > 0 }) {
			continue
		}
		r.Figures = append(r.Figures, c.compared(f, r.Share))
	}
	arms := make([]stat.Arms, len(r.Figures))
	for i := range r.Figures {
		arms[i] = r.Figures[i].arms
	}
	for i, tested := range contrast.Arms(arms, contrast.Options{Seed: c.o.Stat.Seed, Each: c.o.Stat.Each, Permutations: c.o.Stat.Resamples}) {
		f := &r.Figures[i]
		f.P, f.PAdjusted, f.Different = tested.P, tested.PAdjusted, tested.Different
		r.Different = r.Different || f.Different
	}
	r.Treated.Units, r.Control.Units = len(r.Figures[0].arms.Treated.Num), len(r.Figures[0].arms.Control.Num)
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		t := c.tools[name]
		surely := stat.Interval{} // the over-use for advice, at a level for all of it together
		t.OverUse = stat.NoInterval("--tools does not say what its calls are, so that nobody finds them made one by one")
		if c.o.Places != nil && slices.Contains(c.o.Known, name) {
			// What agents would do by themselves is how often the calls are made in control.
			often := func(i int) func(s *session) (float64, bool) {
				return func(s *session) (float64, bool) {
					n, ok := t.byUnit[s]
					return float64(n[0]*(1-i) + n[1]), ok
				}
			}
			treated, _ := unitsOf(c.sessions, true, often(0))
			control, _ := unitsOf(c.sessions, false, often(1))
			arms := stat.Arms{Treated: treated, Control: control}
			t.OverUse = arms.Intervals(c.o.Stat).Difference
			surely = t.OverUse
			if level > stat.DefaultLevel && t.Uses > 0 {
				o := c.o.Stat
				o.Level, o.Resamples = level, max(o.Resamples, int(4/(1-level)))
				surely = arms.Intervals(o).Difference
			}
		}
		t.judge(surely, level)
		r.Tools = append(r.Tools, *t)
	}
	for _, id := range slices.Sorted(maps.Keys(c.rules)) {
		u := c.rules[id]
		u.judge(c.o.Promised, level)
		r.Rules = append(r.Rules, *u)
	}
	r.warn(c)
	return r
}

// compared compares one figure.
func (c *Comparison) compared(f Figure, share float64) Compared {
	value := func(s *session) (float64, bool) { return s.values[f], s.joined || !f.Joined() }
	out := Compared{Figure: f, Name: f.String()}
	out.arms.Treated, _ = unitsOf(c.sessions, true, value)
	out.arms.Control, _ = unitsOf(c.sessions, false, value)
	treated, control := mean(out.arms.Treated), mean(out.arms.Control)
	const none = "an arm has no session"
	out.Treated, out.Control, out.Difference = stat.Finite(treated, none), stat.Finite(control, none), stat.Finite(treated-control, none)
	out.Ratio = stat.Finite(treated/control, "control has none")
	in := out.arms.Intervals(c.o.Stat)
	out.DifferenceInterval, out.RatioInterval = in.Difference, in.Ratio
	if c.o.Look {
		out.Always = new(c.always(value, share))
	}
	return out
}

// mean returns the figure of a session, NaN without one.
func mean(r stat.ClusterRatio) float64 {
	if len(r.Num) == 0 {
		return math.NaN()
	}
	return r.Value()
}

// always returns the interval that holds at every look: units in the order in which they
// began, each with the mean of its sessions.
func (c *Comparison) always(value func(*session) (float64, bool), share float64) stat.Interval {
	sequence := stat.NewSequence(share, c.o.Stat.Level)
	type unit struct {
		first *session
		mean  float64
	}
	var units []unit
	for _, treated := range []bool{true, false} {
		r, first := unitsOf(c.sessions, treated, value)
		for i := range r.Num {
			units = append(units, unit{first[i], r.Num[i] / r.Den[i]})
		}
	}
	slices.SortFunc(units, func(a, b unit) int {
		return cmp.Or(a.first.start.Compare(b.first.start), cmp.Compare(a.first.id, b.first.id))
	})
	for _, u := range units {
		sequence.Add(u.first.treated, u.mean)
	}
	return sequence.Interval()
}

// Saved returns the share of a figure that was saved, with its interval.
func (f *Compared) Saved() (share stat.Figure, in stat.Interval) {
	if in = f.RatioInterval; in.Known() {
		in.Lo, in.Hi = 1-in.Hi, 1-in.Lo
	}
	return stat.Finite(1-f.Ratio.Float(), "there is no control"), in
}

// UnitsFor returns how many units it takes to tell from none that a share of the figure is
// saved, 0 if nothing says so. A share of control of 0 is taken for a half.
func (f *Compared) UnitsFor(share, control float64) int {
	if control <= 0 || control >= 1 {
		control = 0.5
	}
	return f.arms.UnitsFor(-share*f.Control.Float(), control)
}
