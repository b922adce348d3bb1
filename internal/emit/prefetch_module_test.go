package emit_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/trace"
)

// readers emits rules in each language that can be run here.
func readers(t *testing.T, set *prefetch.Set) []*program {
	t.Helper()
	var out []*program
	in := emit.Results{Prefetch: &stored.File{Set: *set}}
	for _, language := range []struct {
		emitter                emit.Emitter
		command, drive, loaded string
		translate              func(*testing.T, string) string
	}{
		{emit.PrefetchPython, "python3", "prefetch.py", "prefetch.py", func(_ *testing.T, s string) string { return s }},
		{emit.PrefetchTypeScript, "node", "prefetch.mjs", "prefetch.mjs", withoutTypes},
	} {
		command, err := exec.LookPath(language.command)
		if err != nil {
			t.Logf("%s is not installed: %s is not run", language.command, language.emitter.Name)
			continue
		}
		files, err := language.emitter.Emit(in)
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		out = append(out, start(t, command, filepath.Join("testdata", language.drive), language.loaded, language.translate(t, string(files[0].Data)), language.command))
	}
	if len(out) == 0 {
		t.Skip("neither python3 nor node is installed")
	}
	return out
}

// agentStep is a call of an agent, what it is answered, and what reads with it are answered.
type agentStep struct {
	Say    string   `json:"say,omitempty"` // a message of the user in place of a call
	Call   [2]any   `json:"call"`
	Own    reply    `json:"own"`
	Ahead  [][3]any `json:"ahead"`
	Cancel float64  `json:"cancel,omitempty"`
}

type reply map[string]any

// stepDone is what came of a step.
type stepDone struct {
	Asked   [][2]json.RawMessage       `json:"asked"`
	Got     map[string]json.RawMessage `json:"got"`
	Seconds float64                    `json:"seconds"`
}

// runSteps lets an agent make its calls over the wrapped call_tool.
func (p *program) runSteps(t *testing.T, options map[string]any, steps []agentStep) []stepDone {
	t.Helper()
	request, err := json.Marshal(map[string]any{"options": options, "steps": steps})
	if err != nil {
		t.Fatal(err)
	}
	p.say(t, string(request))
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s: %v", p.language, err)
	}
	var done []stepDone
	if err := json.Unmarshal(line, &done); err != nil || len(done) != len(steps) {
		t.Fatalf("%s: %v: %s", p.language, err, line)
	}
	return done
}

// keys returns what was asked, as keys in order.
func (d *stepDone) keys(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, a := range d.Asked {
		var tool string
		if err := json.Unmarshal(a[0], &tool); err != nil {
			t.Fatal(err)
		}
		args, err := trace.ParseValue(a[1])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, prefetch.Call{Tool: tool, Arguments: args}.Key())
	}
	slices.Sort(out)
	return out
}

func raw(v trace.Value) json.RawMessage { return v.AppendCanonical(nil) }

// TestPrefetchInTheOffice makes the calls of all agents of the office, but for those that
// the back-test says need not be made, over the wrapped call_tool: it makes the reads that
// the back-test predicts, and no other.
func TestPrefetchInTheOffice(t *testing.T) {
	list := recordings.Read(t, officeFolder+"trajectories.jsonl.gz")
	learnt := backtest.LearnReads(corpus.Filled(list, corpus.Options{}), nil, backtest.Options{Seed: 1}, 0)
	if len(learnt.Set.Rules) == 0 {
		t.Fatal("no rules are learnt")
	}
	all := readers(t, &learnt.Set)
	predicted, saved, attached := 0, 0, 0
	for _, one := range list {
		made, served := backtest.ReadsOf(&learnt.Set, one)
		steps := []agentStep{}
		var want []string
		later := func(from int, c prefetch.Call) (reply, bool) {
			for i := from + 1; i < len(one.Calls); i++ {
				if args, ok := one.Calls[i].ArgsValue(); ok && one.Calls[i].Tool.Value() == c.Tool && (prefetch.Call{Tool: c.Tool, Arguments: args}).Key() == c.Key() {
					if (from < 0 || one.Calls[i].Turn > one.Calls[from].Turn) && one.Calls[i].HasResult && one.Calls[i].Status != trace.StatusFailed {
						return reply{"ok": recordedResult(&one.Calls[i])}, true
					}
					return nil, false
				}
			}
			return nil, false
		}
		next := 0
		for i := range one.Calls {
			for ; next < len(one.Messages) && one.Messages[next].Call <= i; next++ {
				m := &one.Messages[next]
				if m.Role != trace.RoleUser {
					continue
				}
				s := agentStep{Say: m.Text.Text(), Ahead: [][3]any{}}
				for _, read := range made[m.Turn-1] {
					if found, ok := later(i-1, read); ok {
						s.Ahead = append(s.Ahead, [3]any{read.Tool, raw(read.Arguments), found})
					}
				}
				steps = append(steps, s)
			}
			c := &one.Calls[i]
			if slices.Contains(served, i) {
				saved++
				continue
			}
			args, ok := c.ArgsValue()
			if !ok {
				t.Fatalf("%s: arguments of call %d", one.ID, i)
			}
			s := agentStep{Call: [2]any{c.Tool.Value(), raw(args)}, Own: reply{"ok": recordedResult(c)}, Ahead: [][3]any{}}
			switch {
			case !c.HasResult:
				s.Own = reply{"error": "no answer"}
			case c.Status == trace.StatusFailed:
				s.Own = reply{"failed": recordedResult(c)}
			}
			for _, read := range made[c.Turn] {
				if found, ok := later(i, read); ok {
					s.Ahead = append(s.Ahead, [3]any{read.Tool, raw(read.Arguments), found})
				}
			}
			steps = append(steps, s)
		}
		for _, reads := range made {
			for _, read := range reads {
				want = append(want, read.Key())
			}
		}
		slices.Sort(want)
		predicted += len(want)
		for _, p := range all {
			var got []string
			for i, done := range p.runSteps(t, map[string]any{"seconds": 60}, steps) {
				got = append(got, done.keys(t)...)
				attached += strings.Count(string(done.Got["ok"]), "read_ahead")
				if _, answered := steps[i].Own["ok"]; answered && done.Got["ok"] == nil {
					t.Errorf("%s: %s: call %d got %s", p.language, one.ID, i, done.Got)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %s: it reads %q, the back-test predicts %q", p.language, one.ID, got, want)
			}
		}
	}
	t.Logf("%d rules, %d reads, %d calls that need not be made, %d answers with something attached", len(learnt.Set.Rules), predicted, saved, attached)
	if predicted < 500 || saved < 200 || attached < 100 {
		t.Errorf("only %d reads, %d calls saved, %d answers with something attached", predicted, saved, attached)
	}
}

func recordedResult(c *trace.Call) json.RawMessage {
	v, ok := c.ResultValue()
	if !ok {
		v = trace.NewString(c.Result.Text())
	}
	return raw(v)
}

func mustPath(t *testing.T, text string) jsonpath.Path {
	t.Helper()
	p, err := jsonpath.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPrefetchChangesNothing lets agents make random calls that are answered at random,
// fail, are slow or are cancelled: but for what is attached they get what they would have
// got, and nothing but reads is made for them.
func TestPrefetchChangesNothing(t *testing.T) {
	set := &prefetch.Set{Reads: []string{"a", "b", "c"}, Rules: []prefetch.Rule{
		{ID: "1", Source: prefetch.Source{Tool: "a", Path: mustPath(t, "$.x[*]")}, Target: prefetch.Target{Tool: "b", Argument: "id"}, Depth: 1},
		{ID: "2", Source: prefetch.Source{Tool: "b", Path: mustPath(t, "$.y")}, Target: prefetch.Target{Tool: "c", Argument: "id", Others: []prefetch.Other{{Argument: "n", Origin: prefetch.FromConstant, Constant: trace.Value{Kind: trace.Number, Text: "7"}}}}, Depth: 2},
		{ID: "3", Source: prefetch.Source{Tool: "a"}, Target: prefetch.Target{Tool: "c", Argument: "id"}, When: prefetch.When{Last: prefetch.LastFailed}, MaxElements: 1, Depth: 1},
	}}
	all := readers(t, set)
	r := rand.New(rand.NewPCG(1, 2))
	value := func() any { return fmt.Sprint("v", r.IntN(12)) }
	result := func() reply {
		switch r.IntN(9) {
		case 0:
			return reply{"failed": "no"}
		case 1:
			return reply{"error": "broken"}
		case 2:
			return reply{"ok": value()}
		case 3:
			return reply{"ok": []any{value(), 1.5, nil}}
		case 4:
			return reply{"ok": `{"x":["` + fmt.Sprint(value()) + `","q"], "y":"z"}`}
		case 5:
			return reply{"ok": map[string]any{"x": []any{value()}, "isError": true}}
		}
		return reply{"ok": map[string]any{"x": []any{value(), value(), 12345678901234567, map[string]any{}}, "y": value(), "\u00e9": "\u2028"}}
	}
	runs, attached := 300, 0
	for range runs {
		steps := []agentStep{}
		for range 1 + r.IntN(6) {
			tool := []string{"a", "a", "b", "c", "write", "constructor"}[r.IntN(6)]
			s := agentStep{Call: [2]any{tool, map[string]any{"id": value()}}, Own: result(), Ahead: [][3]any{}}
			for i := range 12 {
				for _, one := range []string{"b", "c"} {
					args := map[string]any{"id": fmt.Sprint("v", i)}
					if one == "c" {
						args["n"] = 7
					}
					found := result()
					if r.IntN(20) == 0 {
						found["slow"] = .04
					}
					s.Ahead = append(s.Ahead, [3]any{one, args, found})
				}
			}
			if r.IntN(20) == 0 {
				s.Cancel = .005
			}
			steps = append(steps, s)
		}
		options := map[string]any{"seconds": .02, "max_reads": r.IntN(6), "parallel": 1 + r.IntN(4), "max_bytes": 50 + r.IntN(400)}
		for _, p := range all {
			for i, done := range p.runSteps(t, options, steps) {
				s := &steps[i]
				if len(done.Asked) > options["max_reads"].(int) {
					t.Fatalf("%s: %d reads", p.language, len(done.Asked))
				}
				for _, key := range done.keys(t) {
					if tool, _, _ := strings.Cut(key, "\x00"); !slices.Contains(set.Reads, tool) {
						t.Fatalf("%s: %q is called", p.language, tool)
					}
				}
				if s.Cancel > 0 && done.Got["ok"] == nil && (done.Got["TimeoutError"] != nil || done.Got["CancelledError"] != nil) {
					continue // its own caller gave up
				}
				if own, is := s.Own["ok"]; is {
					got, extra := withoutAttached(t, done.Got["ok"])
					attached += extra
					want, err := json.Marshal(own)
					if err != nil {
						t.Fatal(err)
					}
					if plain, err := trace.ParseValue(want); err != nil || !plain.Equal(got) {
						t.Fatalf("%s: got %s, want %s", p.language, done.Got["ok"], want)
					}
				} else if done.Got["ok"] != nil {
					t.Fatalf("%s: a failure became %s", p.language, done.Got["ok"])
				}
				if done.Seconds > 5 {
					t.Errorf("%s: an answer took %.1f s", p.language, done.Seconds)
				}
			}
		}
	}
	if attached < 100 {
		t.Errorf("only %d results were attached", attached)
	}
}

// TestPrefetchOfContentBlocks: results of MCP are read as meta-tools read them, and what is
// attached is one block more.
func TestPrefetchOfContentBlocks(t *testing.T) {
	set := prefetch.Set{Reads: []string{"get_order", "get_user"}, Rules: []prefetch.Rule{
		{ID: "orders", Source: prefetch.Source{Tool: "get_user", Path: mustPath(t, "$.orders[*]")}, Target: prefetch.Target{Tool: "get_order", Argument: "id"}, Depth: 1},
	}}
	block := func(text string) any { return map[string]any{"type": "text", "text": text} }
	user := map[string]any{"orders": []any{"o-1"}}
	const ahead = `{"read_ahead":[{"tool":"get_order","arguments":{"id":"o-1"},"result":"sent"}]}`
	for name, tc := range map[string]struct{ own, want any }{
		"text":       {map[string]any{"content": []any{block(`{"orders":["o-1"]}`)}}, map[string]any{"content": []any{block(`{"orders":["o-1"]}`), block(ahead)}}},
		"structured": {map[string]any{"structuredContent": user, "content": []any{block("told")}}, map[string]any{"structuredContent": user, "content": []any{block("told"), block(ahead)}}},
		"no content": {map[string]any{"structuredContent": user}, map[string]any{"structuredContent": user, "content": []any{block(`{"orders":["o-1"]}`), block(ahead)}}},
		"blocks":     {[]any{block(`{"orders":["o-1"]}`)}, []any{block(`{"orders":["o-1"]}`), block(ahead)}},
		"an error":   {map[string]any{"isError": true, "content": []any{block(`{"orders":["o-1"]}`)}}, map[string]any{"isError": true, "content": []any{block(`{"orders":["o-1"]}`)}}},
		"no result":  {map[string]any{"content": "plain", "orders": []any{"o-1"}}, map[string]any{"content": "plain", "orders": []any{"o-1"}, "read_ahead": []any{map[string]any{"tool": "get_order", "arguments": map[string]any{"id": "o-1"}, "result": "sent"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			steps := []agentStep{{
				Call: [2]any{"get_user", map[string]any{"id": "u"}}, Own: reply{"ok": tc.own},
				Ahead: [][3]any{{"get_order", map[string]any{"id": "o-1"}, reply{"ok": map[string]any{"content": []any{block("sent")}}}}},
			}}
			want, err := json.Marshal(tc.want)
			if err != nil {
				t.Fatal(err)
			}
			expected, err := trace.ParseValue(want)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range readers(t, &set) {
				for range 2 { // the second run of Python is asynchronous
					done := p.runSteps(t, map[string]any{}, steps)
					if got, err := trace.ParseValue(done[0].Got["ok"]); err != nil || !got.Equal(expected) {
						t.Errorf("%s: got %s, want %s", p.language, done[0].Got["ok"], want)
					}
				}
			}
		})
	}
}

// TestPrefetchBesideAWrite: what was read while the agent made a call that may change
// something is not attached; what was read after such a call is.
func TestPrefetchBesideAWrite(t *testing.T) {
	set := prefetch.Set{Reads: []string{"get_order", "get_user"}, Rules: []prefetch.Rule{
		{ID: "orders", Source: prefetch.Source{Tool: "get_user", Path: mustPath(t, "$.orders[*]")}, Target: prefetch.Target{Tool: "get_order", Argument: "id"}, Depth: 1},
	}}
	user, sent := map[string]any{"orders": []any{"o-1"}}, map[string]any{"status": "sent"}
	for name, tc := range map[string]struct {
		own, ahead reply
		attached   int
	}{
		"none":                 {reply{"ok": user}, reply{"ok": sent}, 1},
		"while it was read":    {reply{"ok": user}, reply{"ok": sent, "meanwhile": true}, 0},
		"before it was known":  {reply{"ok": user, "meanwhile": true}, reply{"ok": sent}, 1},
		"and the read failed":  {reply{"ok": user}, reply{"failed": "gone", "meanwhile": true}, 0},
		"and the agent failed": {reply{"failed": "gone", "meanwhile": true}, reply{"ok": sent}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			steps := []agentStep{{
				Call: [2]any{"get_user", map[string]any{"id": "u"}}, Own: tc.own,
				Ahead: [][3]any{{"get_order", map[string]any{"id": "o-1"}, tc.ahead}},
			}}
			for _, p := range readers(t, &set) {
				for range 2 { // the second run of Python is asynchronous
					done := p.runSteps(t, map[string]any{"seconds": 30}, steps)
					if done[0].Got["ok"] == nil {
						if tc.own["ok"] != nil {
							t.Errorf("%s: got %s", p.language, done[0].Got)
						}
						continue
					}
					if _, n := withoutAttached(t, done[0].Got["ok"]); n != tc.attached {
						t.Errorf("%s: %d results are attached, want %d: %s", p.language, n, tc.attached, done[0].Got["ok"])
					}
				}
			}
		})
	}
}

// withoutAttached takes what was attached out of an answer.
func withoutAttached(t *testing.T, text json.RawMessage) (trace.Value, int) {
	t.Helper()
	v, err := trace.ParseValue(text)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case v.Kind == trace.Object:
		list, is := v.Lookup("read_ahead")
		if !is {
			return v, 0
		}
		if plain, wrapped := v.Lookup("result"); wrapped {
			return plain, len(list.Elems)
		}
		return trace.NewObject(slices.DeleteFunc(slices.Clone(v.Members), func(m trace.Member) bool { return m.Name == "read_ahead" })...), len(list.Elems)
	case v.Kind == trace.String && strings.Contains(v.Text, `"read_ahead":`):
		if before, after, found := strings.Cut(v.Text, "\n\n"+`{"read_ahead":`); found {
			return trace.NewString(before), strings.Count(after, `"tool"`)
		}
		before, after, _ := strings.Cut(v.Text, `,"read_ahead":`)
		return trace.NewString(before + "}"), strings.Count(after, `"tool"`)
	}
	return v, 0
}

// TestNamesAreDefinedOnce holds modules that are put together from two texts to one
// definition of each name: in Python the second would silently take the place of the first.
func TestNamesAreDefinedOnce(t *testing.T) {
	defined := regexp.MustCompile(`(?m)^(?:def|class|const|function) (\w+)|^(_\w+) = `)
	in := emit.Results{Prefetch: &stored.File{Set: prefetch.Set{Reads: []string{"a", "b"}, Rules: []prefetch.Rule{
		{ID: "1", Source: prefetch.Source{Tool: "a", Path: mustPath(t, "$.x")}, Target: prefetch.Target{Tool: "b", Argument: "id"}, Depth: 1},
	}}}}
	for _, e := range []emit.Emitter{emit.PrefetchPython, emit.PrefetchTypeScript} {
		files, err := e.Emit(in)
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		seen := map[string]bool{}
		for _, m := range defined.FindAllStringSubmatch(string(files[0].Data), -1) {
			name := m[1] + m[2]
			if seen[name] {
				t.Errorf("%s defines %s twice", e.Name, name)
			}
			seen[name] = true
		}
		if len(seen) < 20 {
			t.Errorf("%s: only %d definitions are found", e.Name, len(seen))
		}
	}
}
