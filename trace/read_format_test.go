package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unique"

	"github.com/awo-dev/awo/diag"
)

// The formats of these tests, in detection order. They are as small as formats
// can be and use everything that the Reader offers to formats.
func testFormats() []Format {
	return []Format{
		{Name: "spans", Detect: detectKeys("trace", "n"), Decode: decodeSpan, Assemble: assembleSpans},
		{Name: "runs", Detect: detectKeys("info", "runs"), Decode: decodeRun, Split: SplitMember("runs", nil)},
		{Name: "chat", Detect: detectChat, Decode: decodeChat},
		{Name: "calls", Detect: detectKeys("calls"), Decode: decodeCalls},
	}
}

func detectKeys(keys ...string) func(Head) Match {
	return func(h Head) Match {
		near := ""
		for _, r := range h.Records {
			if r.Has(keys...) {
				return Match{OK: true}
			}
			for _, k := range keys {
				if r.Has(k) {
					near = "lacks some of " + strings.Join(keys, ", ")
				}
			}
		}
		return Match{Lacks: near}
	}
}

// detectChat claims messages, and lists of messages.
func detectChat(h Head) Match {
	for _, r := range h.Records {
		if r.Has("role") {
			return Match{OK: true, Whole: h.Container == ContainerArray}
		}
		if strings.HasPrefix(string(r.Raw), `[{"role"`) {
			return Match{OK: true}
		}
	}
	return Match{}
}

// parseTest decodes a record and maps what encoding/json says to a problem.
func parseTest(r Record, into any) error {
	err := json.Unmarshal(r.Data, into)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		if int(e.Offset) >= len(r.Data) && strings.Contains(e.Error(), "unexpected end") {
			return diag.New(r.At(len(r.Data)), "json-truncated", "the record ends too early")
		}
		return diag.New(r.At(int(e.Offset)-1), "json-syntax", "no JSON")
	}
	if err != nil {
		return diag.New(r.Pos(), "json-shape", "not the right shape")
	}
	return nil
}

type testRun struct {
	ID    string   `json:"id"`
	Calls []string `json:"calls"`
	Pad   string   `json:"pad"`
	Also  []testRun
}

func (r testRun) trajectory() *Trajectory {
	t := &Trajectory{ID: r.ID}
	for _, c := range r.Calls {
		t.Calls = append(t.Calls, Call{Tool: unique.Make(c)})
	}
	return t
}

func decodeCalls(r Record) ([]Fragment, error) {
	var run testRun
	if err := parseTest(r, &run); err != nil {
		return nil, err
	}
	fragments := []Fragment{{Trajectory: run.trajectory()}}
	for _, also := range run.Also {
		fragments = append(fragments, Fragment{Trajectory: also.trajectory()})
	}
	return fragments, nil
}

func decodeRun(r Record) ([]Fragment, error) {
	fragments, err := decodeCalls(r)
	for _, f := range fragments {
		names := []string{}
		for _, m := range r.Shared.([]DocumentMember) {
			names = append(names, fmt.Sprintf("%s@%v=%s", m.Name, m.Value.Pos(), m.Value.Data))
		}
		f.Trajectory.Agent = strings.Join(names, " ")
	}
	return fragments, err
}

func decodeChat(r Record) ([]Fragment, error) {
	var messages []struct{ Role, Call string }
	if err := parseTest(r, &messages); err != nil {
		return nil, err
	}
	t := &Trajectory{}
	for _, m := range messages {
		if m.Call != "" {
			t.Calls = append(t.Calls, Call{Tool: unique.Make(m.Call)})
		}
	}
	return []Fragment{{Trajectory: t}}, nil
}

type testSpan struct {
	Trace string  `json:"trace"`
	N     int64   `json:"n"`
	Call  string  `json:"call"`
	Bad   bool    `json:"bad"`
	Whole bool    `json:"whole"`
	Split bool    `json:"split"`
	Pad   *string `json:"pad"`
}

func decodeSpan(r Record) ([]Fragment, error) {
	var s testSpan
	if err := parseTest(r, &s); err != nil {
		return nil, err
	}
	if s.Whole {
		return []Fragment{{Trajectory: testRun{ID: s.Trace, Calls: []string{s.Call}}.trajectory()}}, nil
	}
	return []Fragment{{Key: s.Trace, Order: s.N, Data: r.Data, Pos: r.Pos()}}, nil
}

func assembleSpans(key string, parts []Fragment) ([]*Trajectory, error) {
	t := &Trajectory{}
	out := []*Trajectory{t}
	for _, p := range parts {
		var s testSpan
		if err := json.Unmarshal(p.Data, &s); err != nil {
			return nil, err
		}
		if s.Bad {
			return nil, diag.New(p.Pos, "span-bad", "a bad span")
		}
		if s.Split {
			t = &Trajectory{}
			out = append(out, t)
		}
		t.Calls = append(t.Calls, Call{Tool: unique.Make(s.Call), Result: Raw{Data: p.Data, Form: FormJSON}})
	}
	return out, nil
}

// tools returns the names of a trajectory's tools.
func tools(t *Trajectory) string {
	names := make([]string, len(t.Calls))
	for i, c := range t.Calls {
		names[i] = c.Tool.Value()
	}
	return strings.Join(names, ",")
}

// describe returns what a Reader yields as one line an item: for a trajectory
// its ID, place, offset, format and tools, for a problem its text.
func describe(r *Reader) []string {
	var lines []string
	for t, err := range r.All() {
		lines = append(lines, describeItem(t, err))
	}
	return lines
}

func describeItem(t *Trajectory, err error) string {
	if err != nil {
		if e, ok := errors.AsType[*diag.Error](err); ok && e.Severity == diag.SeverityWarning {
			return "warning " + err.Error()
		}
		return "error " + err.Error()
	}
	s := fmt.Sprintf("%s at %v +%d %s [%s]", t.ID, t.Source, t.Offset, t.Format, tools(t))
	if t.Agent != "" {
		s += " " + t.Agent
	}
	return s
}

// asProblem returns err as a problem.
func asProblem(t *testing.T, err error) *diag.Error {
	t.Helper()
	e, ok := errors.AsType[*diag.Error](err)
	if !ok {
		t.Fatalf("%v is no problem", err)
	}
	return e
}
