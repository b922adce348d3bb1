package backtest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/golden"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/trace"
)

// TestAttachedReads draws ten reads of each set whose attached results answer a call, and looks
// each up in the recording: what it asks for stood in a message or result before, the call was
// answered, and only tools that read by their names were called in between. The lines of the
// golden file were followed by hand: trajectory, line of the file, tool, the turn behind which
// the result is attached (from 1; 0 is the first message) and the turn that calls for it.
func TestAttachedReads(t *testing.T) {
	archive := golden.Open(t)
	for _, file := range []string{"tau2/airline_azure-gpt-4o.json", "tau2/retail_gpt-4.1.json", "taubench/gpt-4o-airline.json"} {
		t.Run(file, func(t *testing.T) {
			archive.Keep(file)
			list := recordings.Read(t, recordings.Recorded(t, file))
			set := LearnReads(corpus.Filled(list, corpus.Options{}), nil, Options{Workers: 2}, 0).Set
			var lines []string
			for _, one := range attachedReads(t, list, readerOf(&set), 10) {
				lines = append(lines, fmt.Sprintf("%s line %d: %s behind turn %d for turn %d\n", one.t.ID, one.t.Source.Line, one.call.Tool.Value(), one.turn+1, one.call.Turn+1))
				one.check(t)
			}
			archive.Check(t, file, []byte(strings.Join(lines, "")))
		})
	}
}

// attachedRead is a read whose result is attached behind a turn, and the call that it answers.
type attachedRead struct {
	t     *trace.Trajectory
	call  *trace.Call
	place int // of the call
	turn  int
	made  []madeRead // of the trajectory
}

// attachedReads draws so many attached reads that answer a call, each of another trajectory.
func attachedReads(t *testing.T, list []*trace.Trajectory, r *reader, n int) []attachedRead {
	t.Helper()
	var all []attachedRead
	order := map[*trace.Trajectory]string{}
	for _, tr := range list {
		var used []attachedRead
		made := r.Find(&Case{Run: &corpus.Run{Trajectory: tr}}).Reading.made
		for _, m := range made {
			if m.until >= 0 {
				used = append(used, attachedRead{tr, &tr.Calls[m.call], m.call, m.turn, made})
			}
		}
		if len(used) > 0 {
			order[tr] = fmt.Sprintf("%x", sha256.Sum256([]byte(tr.ID)))
			all = append(all, used[int(order[tr][0])%len(used)])
		}
	}
	if len(all) < n {
		t.Fatalf("%d trajectories with attached reads, want %d", len(all), n)
	}
	slices.SortFunc(all, func(a, b attachedRead) int { return cmp.Compare(order[a.t], order[b.t]) })
	return all[:n]
}

// check looks the read up in the recording.
func (a *attachedRead) check(t *testing.T) {
	t.Helper()
	if !a.call.HasResult || a.call.Status == trace.StatusFailed || a.call.Turn <= a.turn {
		t.Errorf("%s, turn %d: the call was not answered, or comes before the read", a.t.ID, a.call.Turn+1)
	}
	var known strings.Builder
	for i := range a.t.Messages {
		if m := &a.t.Messages[i]; m.Turn <= a.turn+1 {
			known.WriteString(strings.ToLower(m.Text.Text()))
		}
	}
	for _, m := range a.made { // what was attached by then may be what this read follows from
		if m.call >= 0 && m.turn <= a.turn && m.call != a.place {
			known.WriteString(strings.ToLower(a.t.Calls[m.call].Result.Text()))
		}
	}
	for i := range a.t.Calls[:a.place] {
		c := &a.t.Calls[i]
		if c.Turn <= a.turn {
			known.WriteString(strings.ToLower(c.Result.Text()))
			continue
		}
		if effect, _ := toolname.Decide(toolname.Unknown, toolname.Unknown, c.Tool.Value()); effect != toolname.Reads {
			t.Errorf("%s, turn %d: %s was called between the read and its use", a.t.ID, c.Turn+1, c.Tool.Value())
		}
	}
	args, ok := new(trace.ValueReader).Args(a.call)
	if !ok || len(args.Members) == 0 {
		t.Fatalf("%s, turn %d: no arguments", a.t.ID, a.call.Turn+1)
	}
	for _, m := range args.Members {
		if !strings.Contains(known.String(), strings.ToLower(m.Value.Text)) {
			t.Errorf("%s, turn %d: %s was not known before", a.t.ID, a.call.Turn+1, m.Name)
		}
	}
}
