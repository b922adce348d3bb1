package otel_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// otlpLine writes a line with one span; attributes are name, value, and so on.
func otlpLine(trace, id, parent, name string, second int, attributes ...string) string {
	var list []string
	for i := 0; i < len(attributes); i += 2 {
		list = append(list, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, attributes[i], attributes[i+1]))
	}
	start := int64(1767348000+second) * 1e9
	return fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%032s","spanId":"%016s","parentSpanId":%q,"name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]}]}]}]}`,
		trace, id, padded(parent), name, start, start+5e8, strings.Join(list, ","))
}

func padded(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("%016s", id)
}

func otlpChat(trace, id, parent string, second int, more ...string) string {
	return otlpLine(trace, id, parent, "chat m", second, append([]string{"gen_ai.operation.name", "chat", "gen_ai.request.model", "m"}, more...)...)
}

func otlpTool(trace, id, parent string, second int, tool string, more ...string) string {
	return otlpLine(trace, id, parent, "execute_tool", second, append([]string{"gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", tool}, more...)...)
}

func otlpAgent(trace, id, parent string, second int, agent string, more ...string) string {
	return otlpLine(trace, id, parent, "invoke_agent", second, append([]string{"gen_ai.operation.name", "invoke_agent", "gen_ai.agent.name", agent}, more...)...)
}

// TestConversationNamedLater: a conversation of two traces, which are named as part
// of it only behind their other spans, in another file, or by a span of which
// nothing else is read, is one trajectory.
func TestConversationNamedLater(t *testing.T) {
	conversation := []string{"gen_ai.conversation.id", "talk"}
	lines := []string{
		otlpChat("a", "1", "9", 1), otlpTool("a", "2", "9", 2, "find"),
		otlpChat("b", "3", "8", 11), otlpTool("b", "4", "8", 12, "open"),
		otlpAgent("a", "9", "", 0, "helper", conversation...), otlpAgent("b", "8", "", 10, "helper", conversation...),
		otlpChat("c", "5", "7", 21),
		otlpLine("c", "7", "6", "POST /", 20, "session.id", "talk"), // no agent's
		otlpChat("d", "1", "", 31),                                  // names nothing
	}
	want := []string{"talk talk find@0 ok  open@1 ok ", fmt.Sprintf("%032s  ", "d")}
	for name, parts := range map[string][][]string{
		"one file": {lines}, "names in another file": {lines[:4], lines[4:]}, "names first": {{lines[4], lines[5], lines[7], lines[0], lines[1], lines[2], lines[3], lines[6], lines[8]}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for i, part := range parts {
				formattest.WriteFile(t, filepath.Join(folder, fmt.Sprintf("%d.jsonl", i)), strings.Join(part, "\n"))
			}
			for _, o := range []trace.Options{{Workers: 1}, {Workers: 4, SpillBudget: 1, TempDir: t.TempDir()}, {SpillBudget: 3000}} {
				got, problems := formattest.ReadProblems(t, o, folder)
				var found []string
				for _, x := range got {
					found = append(found, x.ID+" "+x.Session+" "+strings.Join(formattest.Brief(x), " "))
				}
				formattest.WantLines(t, "trajectories", found, want)
				formattest.WantLines(t, "problems", problems, nil)
				if len(got) > 0 && len(got[0].Turns) != 3 {
					t.Errorf("got\n%s", formattest.Depict(got[0]))
				}
			}
		})
	}
}

// TestSubAgentOfOwnConversation: an agent inside a tool call that has a conversation
// of its own knows its parent; one beside it, in the same trace, is apart.
func TestSubAgentOfOwnConversation(t *testing.T) {
	main, inner, other := []string{"gen_ai.conversation.id", "main"}, []string{"gen_ai.conversation.id", "inner"}, []string{"gen_ai.conversation.id", "other"}
	lines := []string{
		otlpChat("a", "5", "4", 5, inner...), otlpTool("a", "6", "4", 6, "read", inner...),
		otlpAgent("a", "4", "3", 4, "sub", inner...),
		otlpAgent("a", "1", "", 0, "boss", main...), otlpChat("a", "2", "1", 1, main...),
		otlpTool("a", "3", "1", 3, "ask", append(main, "gen_ai.tool.call.id", "call_3")...),
		otlpAgent("a", "10", "", 20, "lone", other...), otlpChat("a", "11", "10", 21, other...), otlpTool("a", "12", "10", 22, "list", other...),
	}
	got := formattest.ReadText(t, "x.jsonl", lines...)
	var found []string
	for _, x := range got {
		found = append(found, fmt.Sprintf("%s parent %s/%s: %s", x.Session, x.Parent.Trajectory, x.Parent.Call, strings.Join(formattest.Brief(x), " ")))
	}
	formattest.WantLines(t, "trajectories", found, []string{"main parent /: ask@0 ok ", "inner parent main/call_3: read@0 ok ", "other parent /: list@0 ok "})
}

// TestDeepBelowAConversation: a span is of the conversation of the next one above it that
// names one however far that is, also where the trace named another first, and whether its
// spans begin after those above them or, by a wrong clock, before.
func TestDeepBelowAConversation(t *testing.T) {
	const levels = 700
	want := []string{"main: ask@-1 ok ", "other: find@-1 ok "}
	for _, step := range []int{1, -1} {
		lines := []string{
			otlpAgent("a", "1", "", 0, "boss", "gen_ai.conversation.id", "main"), otlpTool("a", "2", "1", 1, "ask"),
			otlpAgent("a", "1000", "", 1000, "lone", "gen_ai.conversation.id", "other"),
		}
		for i := range levels {
			lines = append(lines, otlpLine("a", fmt.Sprint(1001+i), fmt.Sprint(1000+i), "step", 1000+step*(1+i)))
		}
		lines = append(lines, otlpTool("a", "9000", fmt.Sprint(1000+levels), 1000+step*(1+levels), "find"))
		var found []string
		for _, x := range formattest.ReadText(t, "x.jsonl", lines...) {
			found = append(found, x.Session+": "+strings.Join(formattest.Brief(x), " "))
		}
		formattest.WantLines(t, "trajectories", found, want)
	}
}

// TestConversationsDivided: conversations of one trace that are too large together
// are read alone and said to be, and any choice of them is read again as it was.
func TestConversationsDivided(t *testing.T) {
	var lines []string
	for i := range 12 {
		talk := []string{"gen_ai.conversation.id", fmt.Sprintf("talk-%d", i%3)}
		lines = append(lines, otlpTool("a", fmt.Sprint(i+1), "99", i, "find", append(talk, "gen_ai.tool.call.result", strings.Repeat("x", 300))...))
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	formattest.WriteFile(t, path, strings.Join(lines, "\n"))
	for _, o := range []trace.Options{{MaxRecord: 7000}, {MaxRecord: 7000, SpillBudget: 1, TempDir: t.TempDir()}} {
		o.Formats = formats.All
		r, err := trace.Open([]string{path}, o)
		if err != nil {
			t.Fatal(err)
		}
		var found, problems []string
		var refs []trace.Ref
		for x, err := range r.All() {
			if err != nil {
				problems = append(problems, err.Error())
				continue
			}
			found = append(found, formattest.Depict(x))
			refs = append(refs, x.Ref)
		}
		if len(found) != 3 || len(problems) != 1 || !strings.HasSuffix(problems[0], "3 sets of parts belong together and have 9660 bytes; the limit is 7000, so each was read alone") ||
			!strings.HasPrefix(problems[0], path+":1:") || r.Counts().Files[0].Problems != 1 {
			t.Errorf("found %d, problems %q", len(found), problems)
		}
		for _, chosen := range [][]int{{0, 1}, {1, 2}, {2}, {0, 1, 2}} {
			var wanted []trace.Ref
			var want, got []string
			for _, i := range chosen {
				wanted, want = append(wanted, refs[i]), append(want, found[i])
			}
			for x, err := range r.At(wanted) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, formattest.Depict(x))
			}
			formattest.WantLines(t, fmt.Sprint(chosen), got, want)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
