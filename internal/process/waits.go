package process

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// Waits adds up where the time of trajectories goes: waiting for the model, for tools, and
// for neither. It keeps what a Distribution keeps, for each tool. The zero value is empty.
//
// A turn lasts from the last thing recorded before it, such as a result or a message, to its
// end, because many formats record only when a response was complete. Where the message
// before it has no time it lasts from its own start. A call without a start lasts from the
// end of its turn. Waiting for tools is from the first start to the last end in a turn, so
// that calls made in parallel count once.
type Waits struct {
	trajectories, turns, calls completeness.Distribution // nanoseconds
	tools                      map[trace.Name]*waitsOfTool
	whole, model, called       time.Duration
}

type waitsOfTool struct {
	calls completeness.Distribution
	sum   time.Duration
}

// Add adds a trajectory. It keeps nothing of t.
func (w *Waits) Add(t *trace.Trajectory) {
	first, last := t.Span()
	if !last.After(first) {
		return
	}
	w.trajectories.Add(uint64(last.Sub(first)))
	w.whole += last.Sub(first)
	for i, began := range begins(t) {
		turn := &t.Turns[i]
		if !began.IsZero() && turn.End.After(began) {
			w.turns.Add(uint64(turn.End.Sub(began)))
			w.model += turn.End.Sub(began)
		}
		w.addCalls(t, turn)
	}
}

// begins returns when each turn began, zero where that is not recorded.
func begins(t *trace.Trajectory) []time.Time {
	out, next, before := make([]time.Time, len(t.Turns)), 0, time.Time{}
	for i := range t.Turns {
		turn, untimed := &t.Turns[i], false
		for ; next < len(t.Messages) && t.Messages[next].Turn <= i; next++ {
			m := &t.Messages[next]
			before = later(before, m.Time)
			untimed = untimed || m.Time.IsZero() && m.Role == trace.RoleUser
		}
		if out[i] = before; untimed || before.IsZero() {
			out[i] = turn.Start
		}
		before = turn.End
		for k := turn.FirstCall; k < min(turn.FirstCall+turn.NumCalls, len(t.Calls)); k++ {
			if c := &t.Calls[k]; timed(c, t) {
				before = later(before, c.End)
			}
		}
	}
	return out
}

// started returns when a call began: without a time of its own, when its turn ended.
func started(c *trace.Call, t *trace.Trajectory) time.Time {
	if c.Start.IsZero() && c.Turn >= 0 {
		return t.Turns[c.Turn].End
	}
	return c.Start
}

// timed reports whether it is known how long a call took that the model decided on.
func timed(c *trace.Call, t *trace.Trajectory) bool {
	start := started(c, t)
	return c.Origin == trace.OriginModel && !start.IsZero() && !c.End.Before(start)
}

// addCalls adds the calls of a turn.
func (w *Waits) addCalls(t *trace.Trajectory, turn *trace.Turn) {
	var first, last time.Time
	for i := turn.FirstCall; i < min(turn.FirstCall+turn.NumCalls, len(t.Calls)); i++ {
		c := &t.Calls[i]
		if !timed(c, t) {
			continue
		}
		start := started(c, t)
		took := c.End.Sub(start)
		tool := w.tools[c.Tool]
		if tool == nil {
			if w.tools == nil {
				w.tools = map[trace.Name]*waitsOfTool{}
			}
			tool = &waitsOfTool{}
			w.tools[c.Tool] = tool
		}
		w.calls.Add(uint64(took))
		tool.calls.Add(uint64(took))
		tool.sum += took
		if first.IsZero() || start.Before(first) {
			first = start
		}
		last = later(last, c.End)
	}
	w.called += last.Sub(first)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Spread is a magnitude of N things.
type Spread struct {
	N      int         `json:"n"`
	Median stat.Figure `json:"median"`
	P95    stat.Figure `json:"p95"`
}

// minTail is how many values a 95th percentile needs: with fewer it is the largest of them.
const minTail = 20

// SpreadOf returns the median and the 95th percentile of a distribution in a unit, and the
// reason none for there being no values.
func SpreadOf(d *completeness.Distribution, unit float64, none string) Spread {
	out := Spread{d.N(), stat.Unknown(none), stat.Unknown(none)}
	if d.N() > 0 {
		out.Median, out.P95 = stat.Known(d.Quantile(0.5)/unit), stat.Unknown("fewer than 20 values have no 95th percentile")
	}
	if d.N() >= minTail {
		out.P95 = stat.Known(d.Quantile(0.95) / unit)
	}
	return out
}

// Wait is how long trajectories, turns of the model or calls of a tool take.
type Wait struct {
	What   string `json:"what"` // trajectory, turn, call, or other: neither turn nor call
	Tool   string `json:"tool"` // "" for all calls
	Spread        // in seconds
	// Total is the seconds of all of them. Of calls made in parallel it counts the time that
	// passed once, but for a single tool.
	Total stat.Figure `json:"total_seconds"`
	Share stat.Figure `json:"share"` // of the time of all trajectories
}

const (
	noTimes = "no times are recorded"
	noTurns = "the traces do not record when model responses were complete"
)

// Rows returns trajectories, turns, calls, what is neither, and then calls by tool, those that
// took longest in all first; nothing where no trajectory records two times.
func (w *Waits) Rows() []Wait {
	if w.trajectories.N() == 0 {
		return nil
	}
	row := func(what, tool string, d *completeness.Distribution, sum time.Duration) Wait {
		out := Wait{What: what, Tool: tool, Spread: SpreadOf(d, float64(time.Second), noTimes), Total: stat.Unknown(noTimes), Share: stat.Unknown(noTimes)}
		if d.N() > 0 {
			out.Total, out.Share = stat.Known(sum.Seconds()), stat.Known(sum.Seconds()/w.whole.Seconds())
		}
		return out
	}
	other := Wait{What: "other", Spread: SpreadOf(&completeness.Distribution{}, 1, "what is left over has no single durations"), Total: stat.Unknown(noTurns), Share: stat.Unknown(noTurns)}
	if w.turns.N() > 0 {
		rest := max(w.whole-w.model-w.called, 0).Seconds()
		other.Total, other.Share = stat.Known(rest), stat.Known(rest/w.whole.Seconds())
	}
	out := []Wait{row("trajectory", "", &w.trajectories, w.whole), row("turn", "", &w.turns, w.model), row("call", "", &w.calls, w.called), other}
	names := slices.SortedFunc(maps.Keys(w.tools), func(a, b trace.Name) int {
		return cmp.Or(cmp.Compare(w.tools[b].sum, w.tools[a].sum), cmp.Compare(a.Value(), b.Value()))
	})
	for _, name := range names {
		out = append(out, row("call", name.Value(), &w.tools[name].calls, w.tools[name].sum))
	}
	return out
}

// Words say in a sentence what Rows returned, "" for nothing.
func Words(rows []Wait) string {
	if len(rows) == 0 {
		return ""
	}
	var long []string
	explained := false
	for i, what := range []string{"A trajectory takes", "a turn", "a call"} {
		if median, ok := rows[i].Median.Value(); ok {
			text := what + " " + seconds(median)
			if i == 0 {
				text += " in the median"
			}
			if p95, ok := rows[i].P95.Value(); ok {
				below := strings.TrimPrefix(seconds(p95), "under ")
				if !explained {
					below, explained = "95 % below "+below, true
				}
				text += " (" + below + ")"
			}
			long = append(long, text)
		}
	}
	if shares := Shares(rows); shares != "" {
		return strings.Join(long, ", ") + "; " + shares + "."
	}
	return strings.Join(long, ", ") + "."
}

// Shares says what of the time is waiting for the model and what for tools, "" where that is not known.
func Shares(rows []Wait) string {
	if len(rows) == 0 || !rows[1].Share.Known() || !rows[2].Share.Known() {
		return ""
	}
	return fmt.Sprintf("the model takes %.0f %% of the time, tools %.0f %%", 100*rows[1].Share.Float(), 100*rows[2].Share.Float())
}

// seconds writes a duration with two or three digits.
func seconds(s float64) string {
	if s < 0.0005 {
		return "under 1 ms"
	}
	digits := 0
	if s < 100 {
		digits = min(max(1-int(math.Floor(math.Log10(s))), 0), 3)
	}
	return fmt.Sprintf("%.*f s", digits, s)
}
