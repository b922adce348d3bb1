package cost

import (
	"slices"
	"time"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// Sums makes a Statement of sums over recorded usage, as counts of many machines are, in
// place of the trajectories that a Ledger wants. What is linear in tokens is exact but for
// the last digits of a float64; habits and the most expensive trajectories are not in sums.
type Sums struct {
	groups
	meter *Meter
	tools map[string]*ToolLine
	none  ToolLine // turns without a call
}

// NewSums returns the Statement of nothing at the prices of m. Caching must not be
// CachingOn, which wants the turns one by one.
func NewSums(m *Meter) *Sums {
	return &Sums{groups: newGroups(), meter: m, tools: map[string]*ToolLine{}}
}

// Some is the turns of one model and day.
type Some struct {
	Model string
	Day   time.Time // zero if it is not recorded

	Turns, Caches, Calls int
	Input, Cached, Write int64 // tokens; Cached and Write are part of Input
	WriteHour, Output    int64 // WriteHour is part of Write
	Agent                string
	Outcome              trace.Outcome
	Began                time.Time // the day on which the trajectories began
	Silent               int       // turns without usage, which are in none of these

	IsPaid  bool    // each turn records what it cost
	PaidUSD float64 // then, their sum
}

// totals returns what the turns cost.
func (s *Sums) totals(x *Some) Totals {
	m := s.meter
	if m.options.Caching == CachingOff {
		x.Cached, x.Write, x.WriteHour, x.Caches = 0, 0, 0, 0
	}
	out := Totals{Turns: x.Turns, Input: x.Input, Cached: x.Cached, Write: x.Write, Output: x.Output}
	p := m.prices[m.price(m.model(x.Model), x.Day, time.Time{})]
	if p == nil {
		out.Unpriced = x.Turns
	} else {
		out.USD = p.USD(out.Fresh(), out.Cached, out.Write, out.Output) + p.forAnHour(float64(x.WriteHour))
	}
	switch {
	case x.IsPaid:
		out.Paid = x.PaidUSD
	case p == nil:
		out.Unpaid = x.Turns
	default:
		out.Paid = out.USD
	}
	return out
}

// Turns adds turns.
func (s *Sums) Turns(x Some) {
	t := s.totals(&x)
	own := Line{Amounts: Amounts{Totals: t}}
	for _, l := range append(s.of(x.Agent, x.Outcome, dayOf(x.Began)), line(s.models, x.Model)) {
		l.add(&own)
	}
	line(s.models, x.Model).Calls += x.Calls
	s.out.Caches += x.Caches
	s.out.Silent += x.Silent
}

// Runs is trajectories that begin with one model, on one day.
type Runs struct {
	Model   string
	Sole    bool // it is the model of all their turns
	Agent   string
	Outcome trace.Outcome
	Began   time.Time

	Trajectories, NoTurns, Offered int
	Calls, TurnsUnknown            int
	RecordedUSD                    float64
	RecordedTurns                  int
}

// Runs adds trajectories.
func (s *Sums) Runs(x Runs) {
	own := Line{Amounts: Amounts{Trajectories: x.Trajectories, Calls: x.Calls, RecordedUSD: x.RecordedUSD, RecordedTurns: x.RecordedTurns}}
	if m := s.meter; x.RecordedTurns > 0 || m.prices[m.price(m.model(x.Model), x.Began, time.Time{})] != nil {
		own.Paying = x.Trajectories - x.NoTurns
	}
	for _, l := range s.of(x.Agent, x.Outcome, dayOf(x.Began)) {
		l.add(&own)
	}
	if with := x.Trajectories - x.NoTurns; with > 0 {
		l := line(s.models, x.Model)
		l.Trajectories += with
		l.Paying += own.Paying
		if x.Sole {
			l.RecordedUSD += x.RecordedUSD
			l.RecordedTurns += x.RecordedTurns
		}
	}
	s.out.NoTurns += x.NoTurns
	s.out.Offered += x.Offered
	s.out.TurnsUnknown += x.TurnsUnknown
}

// Calls adds calls of a tool: x has the tokens of their turns, whose calls were so many,
// once for each call. For turns without a call shared is 0.
func (s *Sums) Calls(tool string, shared int, x Some) {
	times := x.Turns
	t := s.totals(&x)
	l := &s.none
	if shared > 0 {
		if l = s.tools[tool]; l == nil {
			l = &ToolLine{Tool: tool}
			s.tools[tool] = l
		}
		l.Calls += times
	}
	share := 1 / float64(max(shared, 1))
	l.Turns += share * float64(times)
	l.Input += share * float64(t.Input)
	l.Output += share * float64(t.Output)
	l.USD += share * t.USD
	l.Unpriced += share * float64(t.Unpriced)
	l.Paid += share * t.Paid
	l.Unpaid += share * float64(t.Unpaid)
}

// Users says how many trajectories have a turn that calls a tool, or, with none, a turn
// that calls nothing.
func (s *Sums) Users(tool string, none bool, trajectories int) {
	switch l := s.tools[tool]; {
	case none:
		s.none.Trajectories += trajectories
	case l != nil:
		l.Trajectories += trajectories
	}
}

// Statement returns what was added.
func (s *Sums) Statement() *Statement {
	s.close()
	out := s.out
	out.Total.PaidRange, out.Tokens = stat.NoInterval(allRecorded), stat.NoInterval(allRecorded)
	for _, l := range s.tools {
		out.Tools = append(out.Tools, l.priced(out.Total))
	}
	if s.none.Turns > 0 {
		out.Tools = append(out.Tools, s.none.priced(out.Total))
	}
	slices.SortFunc(out.Tools, ToolLine.compare)
	return &out
}

// dayOf is a day as groups have it.
func dayOf(day time.Time) int32 {
	if day.IsZero() {
		return -1
	}
	return int32(day.Unix() / secondsADay)
}
