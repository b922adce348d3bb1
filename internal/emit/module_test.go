package emit_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// program is an emitted module that a process has loaded.
type program struct {
	language string
	in       io.Writer
	out      *bufio.Reader
}

// programs emits the meta-tools in each language that can be run here.
func programs(t *testing.T, tools []*bind.Definition) []*program {
	t.Helper()
	var out []*program
	for _, language := range []struct {
		emitter        emit.Emitter
		command, drive string
		loaded         string // the name under which the module is loaded
		translate      func(*testing.T, string) string
	}{
		{emit.Python, "python3", "drive.py", "metatools.py", func(_ *testing.T, s string) string { return s }},
		{emit.TypeScript, "node", "drive.mjs", "metatools.mjs", withoutTypes},
	} {
		command, err := exec.LookPath(language.command)
		if err != nil {
			t.Logf("%s is not installed: %s is not run", language.command, language.emitter.Name)
			continue
		}
		files, err := language.emitter.Emit(emit.Results{Tools: tools})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, start(t, command, filepath.Join("testdata", language.drive), language.loaded, language.translate(t, string(files[0].Data)), language.command))
	}
	if len(out) == 0 {
		t.Skip("neither python3 nor node is installed")
	}
	return out
}

// start runs a driver on a module, which is written under the name that the driver loads.
func start(t *testing.T, command, drive, loaded, module, language string) *program {
	t.Helper()
	file := filepath.Join(t.TempDir(), loaded)
	if err := os.WriteFile(file, []byte(module), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), command, drive, file)
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8")
	c.Stderr = t.Output()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	return &program{language, in, bufio.NewReaderSize(out, 1<<20)}
}

// Types stand in the emitted module in three places only: declarations of their
// own, behind the name of a constant or variable up to " = ", and behind parameters
// of functions within expressions.
var (
	declarations = regexp.MustCompile(`(?m)^export (?:type .*;|interface \w+ \{\n(?:  .*\n)*\})\n`)
	annotations  = regexp.MustCompile(`(?m)^(\s*(?:export )?(?:const|let) \w+): .*? = `)
	parameters   = regexp.MustCompile(`\((\w+: [\w\[\]]+(?:, \w+: [\w\[\]]+)*)\) =>`)
	parameter    = regexp.MustCompile(`: [\w\[\]]+`)
)

// withoutTypes makes JavaScript of the emitted module. What it does not know stays,
// and then does not load.
func withoutTypes(t *testing.T, text string) string {
	t.Helper()
	text = declarations.ReplaceAllString(text, "")
	text = annotations.ReplaceAllString(text, "$1 = ")
	return parameters.ReplaceAllStringFunc(text, func(s string) string { return parameter.ReplaceAllString(s, "") })
}

// session is one run of a meta-tool.
type session struct {
	tool    *bind.Definition
	inputs  trace.Value
	options execute.Options
	answer  execute.AnswerOptions
	caller  func() execute.Caller // a fresh one, the same for everyone
}

// want runs the session in Go.
func (s *session) want(t *testing.T) (outcome string, calls []string) {
	t.Helper()
	caller := s.caller()
	out := execute.Run(t.Context(), &s.tool.Tool, s.inputs, execute.CallerFunc(func(ctx context.Context, tool string, args trace.Value) (execute.Result, error) {
		calls = append(calls, callText(tool, args))
		return caller.Call(ctx, tool, args)
	}), s.options)
	return canonical(outcomeValue(&s.tool.Tool, out, s.answer)), calls
}

// got runs the session in a program.
func (s *session) got(t *testing.T, p *program) (outcome string, calls []string) {
	t.Helper()
	retries := s.options.Retries
	switch {
	case retries == 0:
		retries = 1
	case retries < 0:
		retries = 0
	}
	maxCalls := s.options.MaxCalls
	if maxCalls == 0 {
		maxCalls = 100
	}
	p.say(t, fmt.Sprintf(`{"name":%q,"inputs":%s,"options":{"max_calls":%d,"retries":%d,"skip_failed_reads":%v},"steps":%v,"max_bytes":%d}`,
		s.tool.Name, s.inputs.AppendCanonical(nil), maxCalls, retries, s.options.SkipFailedReads, s.answer.Steps, s.answer.MaxBytes))
	caller := s.caller()
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("%s: %s ended: %v", p.language, s.tool.Name, err)
		}
		said, err := trace.ParseValue(line)
		if err != nil {
			t.Fatalf("%s says %s: %v", p.language, line, err)
		}
		if out, ok := said.Lookup("outcome"); ok {
			return canonical(out), calls
		}
		call, _ := said.Lookup("call")
		tool, args := call.Elems[0].Text, call.Elems[1]
		calls = append(calls, callText(tool, args))
		result, err := caller.Call(t.Context(), tool, args)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			p.say(t, `{"timeout":true}`)
		case err != nil:
			p.say(t, `{"error":"none"}`)
		case result.Status == trace.StatusFailed:
			p.say(t, `{"failed":`+string(result.Value.AppendCanonical(nil))+`}`)
		default:
			p.say(t, `{"ok":`+string(result.Value.AppendCanonical(nil))+`}`)
		}
	}
}

func (p *program) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatalf("%s: %v", p.language, err)
	}
}

// compare runs a session everywhere: calls, their order and what comes of them must
// be the same. It returns how the run in Go ended.
func (s *session) compare(t *testing.T, all []*program) (outcome string, same bool) {
	t.Helper()
	want, calls := s.want(t)
	same = true
	for _, p := range all {
		got, made := s.got(t, p)
		if strings.Join(made, "\n") != strings.Join(calls, "\n") {
			t.Errorf("%s: %s with %s calls\n%s\nand Go\n%s", p.language, s.tool.Name, s.inputs.AppendCanonical(nil), strings.Join(made, "\n"), strings.Join(calls, "\n"))
			same = false
		}
		if got != want {
			t.Errorf("%s: %s with %s returns\n%s\nand Go\n%s", p.language, s.tool.Name, s.inputs.AppendCanonical(nil), got, want)
			same = false
		}
	}
	return want, same
}

func callText(tool string, args trace.Value) string {
	return fmt.Sprintf("%q%s", tool, canonical(args))
}

// canonical returns the JSON of a value with every number spelled by its value, and
// without the words of errors.
func canonical(v trace.Value) string {
	var walk func(v trace.Value) trace.Value
	walk = func(v trace.Value) trace.Value {
		switch v.Kind {
		case trace.Number:
			v.Text, _ = jsonpath.Fill(jsonpath.Hole, v)
		case trace.Array:
			elems := make([]trace.Value, len(v.Elems))
			for i, e := range v.Elems {
				elems[i] = walk(e)
			}
			v.Elems = elems
		case trace.Object:
			var members []trace.Member
			for _, m := range v.Members {
				if m.Name == "answer" {
					m.Value.Text = withoutWords(m.Value.Text)
				}
				if m.Name != "message" && m.Name != "error" {
					members = append(members, trace.Member{Name: m.Name, Value: walk(m.Value)})
				}
			}
			v.Members = members
		}
		return v
	}
	return string(walk(v).AppendCanonical(nil))
}

// errorWords are the words of errors in an answer that is no success: those of the
// languages differ.
var errorWords = regexp.MustCompile(`"(?:message|error)":"(?:[^"\\]|\\.)*",?`)

func withoutWords(answer string) string {
	if strings.HasPrefix(answer, `{"results":`) && !strings.Contains(answer, `"status":"none"`) {
		return answer // byte for byte
	}
	return errorWords.ReplaceAllString(answer, "")
}

// outcomeValue returns an outcome as the modules do.
func outcomeValue(tool *metatool.Tool, out *execute.Outcome, o execute.AnswerOptions) trace.Value {
	raw := func(v trace.Value) json.RawMessage { return v.AppendCanonical(nil) }
	steps := []any{}
	for _, s := range out.Steps {
		calls := []any{}
		for _, c := range s.Calls {
			status := "ok"
			if c.Err != nil {
				status = "none"
			} else if c.Result.Status == trace.StatusFailed {
				status = "failed"
			}
			call := map[string]any{"arguments": raw(c.Args), "status": status, "tries": c.Tries, "result": raw(c.Result.Value)}
			if tool.Steps[s.Step].Each != nil {
				call["element"] = raw(c.Element)
			}
			calls = append(calls, call)
		}
		steps = append(steps, map[string]any{"tool": tool.Steps[s.Step].Tool, "calls": calls, "skipped": s.Skipped, "result": raw(s.Result)})
	}
	var failure any
	if f := out.Failure; f != nil {
		where := map[string]any{"step": f.Step + 1, "tool": "", "call": 0, "code": f.Code, "argument": f.Argument}
		if f.Step >= 0 {
			where["tool"], where["call"] = tool.Steps[f.Step].Tool, f.Call+1
		}
		if instead := f.Instead(tool); len(instead) > 0 {
			where["instead"] = instead
		}
		failure = where
	}
	text, err := json.Marshal(map[string]any{
		"name": tool.Name, "state": out.State, "safe_to_retry": out.Retry, "steps": steps, "failure": failure,
		"answer": string(out.AppendAnswer(nil, tool, o)),
	})
	if err != nil {
		panic(err)
	}
	v, err := trace.ParseValue(text)
	if err != nil {
		panic(err)
	}
	return v
}
