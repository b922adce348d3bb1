package export

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"strconv"
	"time"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/trace"
)

// callRows writes a row of CSV for each call, for data frames and databases, without values.
// What a turn took is shared equally among its calls, as in awo cost; a turn without a call
// has a row without a tool, so that sums over all rows are those of the traces.
type callRows struct {
	w     *csv.Writer
	meter *cost.Meter
}

func newCallRows(w *bufio.Writer) writer {
	return &callRows{csv.NewWriter(w), cost.NewMeter(cost.Options{NoCounting: true})}
}

func (x *callRows) begin() error {
	return x.w.Write([]string{"trajectory", "file", "task", "outcome", "agent", "model", "turn", "turn_time", "call", "tool", "origin", "status", "start", "end", "seconds", "input_tokens", "cached_input_tokens", "output_tokens", "usd"})
}

func (x *callRows) end() error {
	x.w.Flush()
	return x.w.Error()
}

func (x *callRows) add(t *trace.Trajectory) error {
	account, call := x.meter.Trajectory(t), 0
	rows := func(turn, end, calls int) {
		for ; call < end; call++ {
			x.row(t, account, turn, call, calls)
		}
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		rows(-1, turn.FirstCall, 1)
		if turn.NumCalls == 0 {
			x.row(t, account, i, -1, 1)
		}
		rows(i, turn.FirstCall+turn.NumCalls, turn.NumCalls)
	}
	rows(-1, len(t.Calls), 1)
	return x.w.Error()
}

// row writes a call of a turn with so many, or the turn where call is -1.
func (x *callRows) row(t *trace.Trajectory, account *cost.Account, turn, call, calls int) {
	row := []string{plain(t.ID), plain(t.Source.File), plain(t.Task), "", plain(t.Agent), plain(t.Model), "", "", "", "", "", "", "", "", "", "", "", "", ""}
	if t.Outcome != trace.OutcomeUnknown {
		row[3] = t.Outcome.String()
	}
	if turn >= 0 {
		from := &t.Turns[turn]
		if row[6] = strconv.Itoa(turn + 1); from.Model != "" {
			row[5] = plain(from.Model)
		}
		at, end, _ := times(from.Start, from.End)
		row[7] = cmp.Or(at, end)
		if whole := account.Turn(turn); from.Usage.Known {
			share := func(n int64) string { return number(float64(n) / float64(calls)) }
			row[15], row[16], row[17] = share(whole.Input), share(whole.Cached), share(whole.Output)
			if whole.Unpaid == 0 {
				row[18] = number(whole.Paid / float64(calls))
			}
		}
		if call < 0 {
			row[12], row[13], row[14] = times(from.Start, from.End)
		}
	}
	if call >= 0 {
		c := &t.Calls[call]
		row[8], row[9], row[10], row[11] = strconv.Itoa(call+1), plain(c.Tool.Value()), c.Origin.String(), c.Status.String()
		row[12], row[13], row[14] = times(c.Start, c.End)
	}
	x.w.Write(row)
}

// times writes when something began and ended, and how long it took.
func times(start, end time.Time) (from, to, seconds string) {
	if !start.IsZero() {
		from = start.UTC().Format(time.RFC3339Nano)
	}
	if !end.IsZero() {
		to = end.UTC().Format(time.RFC3339Nano)
	}
	if !start.IsZero() && !end.Before(start) {
		seconds = number(end.Sub(start).Seconds())
	}
	return from, to, seconds
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
