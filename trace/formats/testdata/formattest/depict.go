package formattest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/trace"
)

// Depict writes everything in a trajectory that does not depend on where it
// was read, one thing a line; what is zero is left out.
func Depict(t *trace.Trajectory) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	field := func(name string, value any) {
		if s := fmt.Sprint(value); s != "" && s != "0" && s != "unknown" {
			line("%s %s", name, s)
		}
	}
	field("id", t.ID)
	field("session", t.Session)
	if t.Parent != (trace.Parent{}) {
		line("parent %s call %s", t.Parent.Trajectory, t.Parent.Call)
	}
	field("continued", t.Continued)
	field("task", t.Task)
	field("trial", t.Trial)
	field("agent", t.Agent)
	field("model", t.Model)
	field("outcome", t.Outcome)
	if t.Score != nil {
		line("score %v", *t.Score)
	}
	field("start", Clock(t.Start))
	field("end", Clock(t.End))
	for _, tool := range t.Tools {
		line("tool %s%s%s%s%s%s", tool.Name.Value(), said(" description", tool.Description), said(" input", tool.Input),
			said(" output", tool.Output), said(" annotations", tool.Annotations), some(" deferred", tool.Deferred))
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		line("turn %d calls %d+%d%s%s%s%s%s%s%s", i, turn.FirstCall, turn.NumCalls, some(" continued", turn.Continued), some(" model", turn.Model), describeUsage(turn.Usage),
			some(" start", Clock(turn.Start)), some(" end", Clock(turn.End)), said(" text", turn.Text), said(" thought", turn.Thought))
	}
	for _, m := range t.Messages {
		line("message %d at %d/%d%s%s", m.Role, m.Turn, m.Call, some(" time", Clock(m.Time)), said(" text", m.Text))
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		line("call %s %s turn %d %s%s%s%s%s%s%s%s%s%s%s", c.ID, c.Tool.Value(), c.Turn, describeArgs(c), describeResult(c), some(" status", c.Status),
			some(" origin", c.Origin), some(" by", c.By), some(" answered by", c.AnsweredBy), some(" after user", c.AfterUser), said(" error", c.Error), some(" start", Clock(c.Start)), some(" end", Clock(c.End)), some(" context", c.Context))
	}
	for _, code := range slices.Sorted(maps.Keys(t.Anomalies.ByCode)) {
		line("anomaly %s %d", code, t.Anomalies.ByCode[code])
	}
	return b.String()
}

func describeArgs(c *trace.Call) string {
	v, ok := c.ArgsValue()
	s := string(v.AppendCanonical(nil))
	switch {
	case c.ArgsMissing():
		return "args missing"
	case !ok:
		return "no object " + s
	}
	return s
}

func describeResult(c *trace.Call) string {
	switch v, _ := c.ResultValue(); {
	case !c.HasResult:
		return ""
	case c.Result.IsZero():
		return " result absent"
	default:
		return said(" result", c.Result) + " = " + string(v.AppendCanonical(nil))
	}
}

func describeUsage(u trace.Usage) string {
	s := ""
	if u.Known {
		s = fmt.Sprintf(" tokens %d (cached %d, written %d) %d (thought %d)", u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning)
	}
	if u.CostUSD != nil {
		s += fmt.Sprintf(" cost %v", *u.CostUSD)
	}
	return s
}

// said describes a piece: JSON in canonical form, so that white space does not
// matter, other forms by their text.
func said(name string, r trace.Raw) string {
	switch r.Form {
	case trace.FormNone:
		return ""
	case trace.FormJSON:
		v, err := trace.ParseValue(r.Data)
		if err != nil {
			return name + " broken"
		}
		return name + " json:" + string(v.AppendCanonical(nil))
	case trace.FormParts:
		return fmt.Sprintf("%s parts:%q", name, r.Text())
	}
	return fmt.Sprintf("%s %q", name, r.Text())
}

func some(name string, value any) string {
	switch s := fmt.Sprint(value); s {
	case "", "0", "unknown", "model", "false", "[]":
		return ""
	default:
		return name + " " + s
	}
}

func Clock(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// WantDescription compares a trajectory with its description, written with any
// indentation.
func WantDescription(t *testing.T, tr *trace.Trajectory, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if got := Depict(tr); got != strings.TrimPrefix(strings.Join(lines, "\n")+"\n", "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(lines, "\n"))
	}
}

// Brief writes the calls of a trajectory, one a line.
func Brief(x *trace.Trajectory) (calls []string) {
	for i := range x.Calls {
		c := &x.Calls[i]
		result := "-"
		if c.HasResult {
			result = c.Result.Text()
		}
		calls = append(calls, fmt.Sprintf("%s@%d %s %s", c.Tool.Value(), c.Turn, c.Status, result))
	}
	return calls
}

// Sayings writes the messages of a trajectory.
func Sayings(x *trace.Trajectory) (said []string) {
	for _, m := range x.Messages {
		who := "user"
		if m.Role == trace.RoleSystem {
			who = "system"
		}
		said = append(said, fmt.Sprintf("%s@%d %s", who, m.Turn, m.Text.Text()))
	}
	return said
}

// WantLines compares two lists of texts.
func WantLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TurnsOnly(t *trace.Trajectory) []string {
	var out []string
	for _, turn := range t.Turns {
		out = append(out, fmt.Sprintf("%d+%d", turn.FirstCall, turn.NumCalls))
	}
	return out
}
