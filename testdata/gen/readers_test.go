package main

import (
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/awo-dev/awo/testdata/gen/encode"
	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/truth"
	"github.com/awo-dev/awo/trace"
	traceformats "github.com/awo-dev/awo/trace/formats"
)

// formatOf is what package trace calls the formats that are written here.
var formatOf = map[string]string{"atif": "atif", "chat": "openai-chat", "otlp": "otlp"}

// TestReadersFindWhatWasWritten reads a corpus back with package trace, in every
// format that it reads: the same trajectories, turns, calls, arguments and
// results as were generated, however they were written.
func TestReadersFindWhatWasWritten(t *testing.T) {
	options := office.Options{Seed: 31, Trajectories: 200, Tokens: office.Approximate, Drift: true}
	o, err := office.New(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"atif", "chat", "otlp"} {
		t.Run(format, func(t *testing.T) {
			name := formatOf[format]
			if !slices.ContainsFunc(traceformats.All, func(f trace.Format) bool { return f.Name == name }) {
				t.Skipf("package trace has no format %s", name)
			}
			file := filepath.Join(t.TempDir(), "runs.jsonl")
			if _, err := (job{options: options, format: format, out: file}).write(io.Discard); err != nil {
				t.Fatal(err)
			}
			read := make(map[string]*trace.Trajectory) // by task and trial, or by first message and time
			r, err := trace.Open([]string{file}, trace.Options{Formats: traceformats.All})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			i := 0
			for tr, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				if tr.Format != name {
					t.Fatalf("read as %s", tr.Format)
				}
				key := tr.ID
				if format == "chat" { // which has no ids
					key = o.Run(i).ID
				} else if tr.Session != "" {
					key = tr.Session
				}
				read[key] = tr
				i++
			}
			if i != options.Trajectories || len(read) != i {
				t.Fatalf("%d trajectories, %d ids", i, len(read))
			}
			for i := range options.Trajectories {
				run := o.Run(i)
				compare(t, run, o.Truth(run), read[run.ID], format)
			}
		})
	}
}

func compare(t *testing.T, run *office.Run, want truth.Trajectory, got *trace.Trajectory, format string) {
	t.Helper()
	if got == nil {
		t.Fatalf("%s was not read", run.ID)
	}
	calling, users := 0, 0
	for _, turn := range got.Turns {
		if turn.NumCalls > 0 {
			calling++
		}
	}
	for _, m := range got.Messages {
		if m.Role == trace.RoleUser {
			users++
		}
	}
	if len(got.Turns) != want.Turns || calling != want.CallingTurns || users != want.UserMessages || len(got.Calls) != len(want.Calls) {
		t.Fatalf("%s: %d turns, %d calling, %d user messages, %d calls; written were %d, %d, %d, %d", run.ID,
			len(got.Turns), calling, users, len(got.Calls), want.Turns, want.CallingTurns, want.UserMessages, len(want.Calls))
	}
	if len(got.Tools) != len(run.Tools) {
		t.Errorf("%s: %d tool definitions of %d", run.ID, len(got.Tools), len(run.Tools))
	}
	if got.Anomalies.Total != 0 {
		t.Errorf("%s: odd: %v", run.ID, got.Anomalies)
	}
	for i, c := range run.Calls() {
		g := &got.Calls[i]
		if g.Tool.Value() != c.Tool.Name || g.Turn != want.Calls[i].Turn || g.AfterUser != want.Calls[i].AfterUser || g.HasResult != c.HasResult {
			t.Fatalf("%s call %d: read %s, turn %d, after user %v, result %v", run.ID, i, g.Tool.Value(), g.Turn, g.AfterUser, g.HasResult)
		}
		if args := canonical(t, c.Args.Value().AppendJSON(nil)); string(g.AppendCanonicalArgs(nil)) != args {
			t.Fatalf("%s call %d: other arguments were read", run.ID, i)
		}
		if c.HasResult && g.Result.Text() != c.Result.Text() && format != "otlp" {
			t.Fatalf("%s call %d: another result was read", run.ID, i)
		}
		status := want.Calls[i].Status
		if format == "chat" { // which has no error flag
			status = trace.StatusUnknown.String()
		}
		if g.Status.String() != status {
			t.Errorf("%s call %d: status is %s, not %s", run.ID, i, g.Status, status)
		}
	}
	if format == "chat" {
		return
	}
	if got.Task != run.Task || got.Outcome == trace.OutcomeUnknown || (got.Outcome == trace.OutcomeSuccess) != run.Solved || got.Agent != run.Agent.Name || got.Model != run.Agent.Model {
		t.Errorf("%s: task %s, outcome %s, agent %s, model %s", run.ID, got.Task, got.Outcome, got.Agent, got.Model)
	}
	for i, turn := range run.Turns() {
		u, w := got.Turns[i].Usage, turn.Usage
		if !u.Known || u.Input != int64(w.Input) || u.CachedInput != int64(w.Cached) || u.CacheWrite != int64(w.CacheWrite) ||
			u.Output != int64(w.Output) || u.Reasoning != int64(w.Reasoning) {
			t.Errorf("%s turn %d: usage is %+v, not %+v", run.ID, i, u, w)
		}
		if !got.Turns[i].Start.Equal(turn.Start) || !got.Turns[i].End.Equal(turn.End) || got.Turns[i].Text.Text() != turn.Text {
			t.Errorf("%s turn %d: from %v to %v", run.ID, i, got.Turns[i].Start, got.Turns[i].End)
		}
	}
}

func canonical(t *testing.T, object []byte) string {
	t.Helper()
	v, err := trace.ParseValue(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(v.AppendCanonical(nil))
}

// TestEncodersGiveOneRecordARun: what streams line by line holds a line a run.
func TestEncodersGiveOneRecordARun(t *testing.T) {
	o, err := office.New(office.Options{Trajectories: 3, Tokens: office.Approximate})
	if err != nil {
		t.Fatal(err)
	}
	for r := range o.Runs() {
		for name, f := range map[string]func([]byte, *office.Run) []byte{"atif": encode.ATIF, "chat": encode.Chat} {
			line := f(nil, r)
			if n := slices.Index(line, '\n'); n != len(line)-1 {
				t.Errorf("%s of %s: line break at %d of %d", name, r.ID, n, len(line))
			}
		}
	}
}
