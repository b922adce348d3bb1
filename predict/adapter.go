package predict

import (
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/trace"
)

// An Adapter is what an environment needs beyond its traces, as rules instead of
// code: which results and arguments are its key state (where the agent stands,
// what it holds), which parameters that state fills, how actions that are text become
// calls, and what results that are text hold (AutoTool, listing 1). See docs/inertia.md for the file.
type Adapter struct {
	keys    []stateKey
	actions []action
	outputs []action // what results that are text hold
}

// stateKey is one entry of `state`.
type stateKey struct {
	key    string
	tool   string
	path   jsonpath.Path  // of the result
	result *regexp.Regexp // on the result, with a group
	arg    string
	fills  []paramName
}

type paramName struct{ tool, arg string }

// action is one entry of `parse`.
type action struct {
	pattern *regexp.Regexp
	tool    string
}

// The codes of problems in adapter files.
const (
	CodeAdapterShape   = "adapter-shape"   // not the mapping, list or text that should stand there
	CodeAdapterKey     = "adapter-key"     // a member that does not exist
	CodeAdapterMissing = "adapter-missing" // a member that is lacking
	CodeAdapterPattern = "adapter-pattern" // a regular expression or path that cannot be read
)

// ParseAdapter reads adapter rules, and returns what is wrong with them as a
// diag.List: every problem, each with its position. The adapter is nil then.
func ParseAdapter(file string, src []byte) (*Adapter, error) {
	doc, problems := yamlsrc.Parse(file, src, yamlsrc.Options{})
	p := adapterParser{problems: problems}
	a := &Adapter{}
	if doc.Root != nil {
		p.document(a, doc.Root)
	} else if len(problems) == 0 {
		p.add(diag.Pos{File: file, Line: 1, Col: 1}, CodeAdapterMissing, "an adapter file has `version: 1` and `state`, `parse` or `outputs`")
	}
	p.problems.Sort()
	if err := p.problems.Err(); err != nil {
		return nil, err
	}
	return a, nil
}

type adapterParser struct{ problems diag.List }

func (p *adapterParser) add(pos diag.Pos, code, format string, args ...any) {
	p.problems = append(p.problems, diag.New(pos, code, format, args...))
}

func (p *adapterParser) document(a *Adapter, root *yamlsrc.Node) {
	members := p.members(root, "version", "state", "parse", "outputs")
	if v := members["version"]; v == nil {
		p.add(root.Pos, CodeAdapterMissing, "`version: 1` is missing")
	} else if n, ok := v.Int(); !ok || n != 1 {
		p.add(v.Pos, CodeAdapterShape, "this awo reads version 1")
	}
	for _, n := range p.list(members["state"]) {
		p.state(a, n)
	}
	a.actions, a.outputs = p.patterns(members["parse"]), p.patterns(members["outputs"])
}

// patterns reads a list of patterns with the tools that they are about.
func (p *adapterParser) patterns(list *yamlsrc.Node) (out []action) {
	for _, n := range p.list(list) {
		m := p.members(n, "pattern", "tool")
		if act := (action{pattern: p.pattern(p.need(n, m, "pattern")), tool: p.text(p.need(n, m, "tool"))}); act.pattern != nil {
			out = append(out, act)
		}
	}
	return out
}

func (p *adapterParser) state(a *Adapter, n *yamlsrc.Node) {
	m := p.members(n, "key", "from", "fills")
	k := stateKey{key: p.text(p.need(n, m, "key"))}
	if from := p.need(n, m, "from"); from != nil {
		f := p.members(from, "tool", "result", "arg")
		k.tool = p.text(p.need(from, f, "tool"))
		switch {
		case (f["result"] == nil) == (f["arg"] == nil):
			p.add(from.Pos, CodeAdapterMissing, "`from` wants either `result` or `arg`")
		case f["arg"] != nil:
			k.arg = p.text(f["arg"])
		default:
			p.result(&k, f["result"])
		}
	}
	for _, fill := range p.list(p.need(n, m, "fills")) {
		f := p.members(fill, "tool", "arg")
		k.fills = append(k.fills, paramName{p.text(p.need(fill, f, "tool")), p.text(p.need(fill, f, "arg"))})
	}
	a.keys = append(a.keys, k)
}

// result reads a path, which begins with $, or a regular expression with a group.
func (p *adapterParser) result(k *stateKey, n *yamlsrc.Node) {
	text := p.text(n)
	if !strings.HasPrefix(text, "$") {
		if k.result = p.pattern(n); k.result != nil && k.result.NumSubexp() == 0 {
			p.add(n.Pos, CodeAdapterPattern, "the regular expression has no group that holds the value")
		}
		return
	}
	path, err := jsonpath.Parse(text)
	if err != nil {
		p.add(n.Pos, CodeAdapterPattern, "not a path that awo reads: a member, [i], [*] or one filter a step")
	}
	k.path = path
	if len(path) == 0 {
		k.path = jsonpath.Path{}
	}
}

func (p *adapterParser) members(n *yamlsrc.Node, allowed ...string) map[string]*yamlsrc.Node {
	out := map[string]*yamlsrc.Node{}
	if n.Kind != yamlsrc.Mapping {
		if !n.Bad {
			p.add(n.Pos, CodeAdapterShape, "this is %s, and should be a mapping", n.Kind)
		}
		return out
	}
	for _, e := range n.Entries {
		known := false
		for _, name := range allowed {
			known = known || e.Key.Text == name
		}
		if !known {
			p.add(e.Pos(), CodeAdapterKey, "there is no `%s` here", e.Key.Text)
			continue
		}
		out[e.Key.Text] = e.Value
	}
	return out
}

func (p *adapterParser) need(in *yamlsrc.Node, members map[string]*yamlsrc.Node, name string) *yamlsrc.Node {
	if members[name] == nil {
		p.add(in.Pos, CodeAdapterMissing, "`%s` is missing", name)
	}
	return members[name]
}

func (p *adapterParser) list(n *yamlsrc.Node) []*yamlsrc.Node {
	if n == nil {
		return nil
	}
	if n.Kind != yamlsrc.Sequence {
		p.add(n.Pos, CodeAdapterShape, "this is %s, and should be a list", n.Kind)
		return nil
	}
	var out []*yamlsrc.Node
	for _, e := range n.Entries {
		out = append(out, e.Value)
	}
	return out
}

func (p *adapterParser) text(n *yamlsrc.Node) string {
	if n == nil {
		return ""
	}
	if n.Kind != yamlsrc.Scalar || n.Text == "" {
		p.add(n.Pos, CodeAdapterShape, "this should be a text")
		return ""
	}
	return n.Text
}

func (p *adapterParser) pattern(n *yamlsrc.Node) *regexp.Regexp {
	text := p.text(n)
	if text == "" {
		return nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		p.add(n.Pos, CodeAdapterPattern, "not a regular expression of RE2")
		return nil
	}
	return re
}

// value returns what the key state has for a parameter, as canonical JSON: of the
// entries that fill it, what the newest call gives that did not fail.
func (a *Adapter) value(v view, tool trace.Name, param string) (string, bool) {
	for i := v.before - 1; i >= 0; i-- {
		call := v.h.calls[i]
		c := &v.h.t.Calls[call]
		if c.Status == trace.StatusFailed {
			continue
		}
		for j := range a.keys {
			k := &a.keys[j]
			if k.tool != c.Tool.Value() || !k.fillsParam(tool, param) {
				continue
			}
			if value, ok := k.read(v.h, call); ok {
				return value, true
			}
		}
	}
	return "", false
}

func (k *stateKey) fillsParam(tool trace.Name, param string) bool {
	for _, f := range k.fills {
		if f.tool == nameText(tool) && f.arg == param {
			return true
		}
	}
	return false
}

// read returns what a call says about the key.
func (k *stateKey) read(h *History, call int) (string, bool) {
	if k.arg != "" {
		value := h.arg(call, k.arg)
		return value, value != ""
	}
	result, ok := h.result(call)
	if !ok {
		return "", false
	}
	if k.result != nil {
		text := h.t.Calls[call].Result.Text()
		found := k.result.FindStringSubmatch(text)
		if len(found) < 2 {
			return "", false
		}
		return string(trace.Value{Kind: trace.String, Text: found[1]}.AppendCanonical(nil)), true
	}
	nodes := k.path.Eval(result)
	if len(nodes) != 1 {
		return "", false
	}
	return string(nodes[0].AppendCanonical(nil)), true
}

// Action reads an action that is text as a call: the first rule whose pattern
// matches gives the tool, and its named groups the arguments.
func (a *Adapter) Action(text string) (tool string, args trace.Value, ok bool) {
	for i := range a.actions {
		act := &a.actions[i]
		found := act.pattern.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		args = trace.Value{Kind: trace.Object}
		for g, name := range act.pattern.SubexpNames() {
			if name != "" && found[g] != "" {
				args.Members = append(args.Members, trace.Member{Name: name, Value: trace.Value{Kind: trace.String, Text: found[g]}})
			}
		}
		slices.SortFunc(args.Members, func(x, y trace.Member) int { return strings.Compare(x.Name, y.Name) })
		return act.tool, args, true
	}
	return "", trace.Value{}, false
}

// mostFound is how many places of a result a pattern of outputs is looked for in.
const mostFound = 100

// output reads a result that is text as an object: each named group of the patterns for
// the tool is a member, a list where it was found at several places.
func (a *Adapter) output(c *trace.Call) (trace.Raw, bool) {
	if v, ok := c.ResultValue(); !c.HasResult || ok && (v.Kind == trace.Object || v.Kind == trace.Array) {
		return trace.Raw{}, false
	}
	out := trace.Value{Kind: trace.Object}
	for i := range a.outputs {
		rule := &a.outputs[i]
		if rule.tool != c.Tool.Value() {
			continue
		}
		found := rule.pattern.FindAllStringSubmatch(c.Result.Text(), mostFound)
		for g, name := range rule.pattern.SubexpNames() {
			var values []trace.Value
			for _, f := range found {
				if name != "" && f[g] != "" {
					values = append(values, trace.Value{Kind: trace.String, Text: f[g]})
				}
			}
			if len(values) == 1 {
				out.Members = append(out.Members, trace.Member{Name: name, Value: values[0]})
			} else if len(values) > 1 {
				out.Members = append(out.Members, trace.Member{Name: name, Value: trace.Value{Kind: trace.Array, Elems: values}})
			}
		}
	}
	return trace.JSONOf(out.AppendCanonical(nil)), len(out.Members) > 0
}

// Rewrite returns t with the text actions of turns that make no call as calls;
// the user message right after such a turn is the call's result. Results that are text
// become what patterns find in them. Where there is neither it returns t itself.
func (a *Adapter) Rewrite(t *trace.Trajectory) *trace.Trajectory {
	if len(a.actions)+len(a.outputs) == 0 {
		return t
	}
	out := *t
	out.Turns, out.Calls, out.Messages = nil, nil, nil
	message, found := 0, false
	hear := func(turn int) {
		for ; message < len(t.Messages) && t.Messages[message].Turn <= turn; message++ {
			m := t.Messages[message]
			m.Call = len(out.Calls)
			out.Messages = append(out.Messages, m)
		}
	}
	for i := range t.Turns {
		hear(i)
		turn := t.Turns[i]
		first := turn.FirstCall
		turn.FirstCall = len(out.Calls)
		out.Calls = append(out.Calls, t.Calls[min(first, len(t.Calls)):min(first+turn.NumCalls, len(t.Calls))]...)
		if turn.NumCalls == 0 {
			if tool, args, ok := a.Action(turn.Text.Text()); ok {
				call := trace.Call{Tool: trace.Intern(tool), Turn: i, Args: trace.JSONOf(args.AppendCanonical(nil))}
				if message < len(t.Messages) && t.Messages[message].Turn == i+1 && t.Messages[message].Role == trace.RoleUser {
					call.Result, call.HasResult = t.Messages[message].Text, true
					message++
				}
				out.Calls = append(out.Calls, call)
				turn.NumCalls, found = 1, true
			}
		}
		out.Turns = append(out.Turns, turn)
	}
	hear(len(t.Turns))
	if len(t.Turns) == 0 {
		out.Calls, out.Messages = slices.Clone(t.Calls), t.Messages
	}
	for i := range out.Calls {
		if result, ok := a.output(&out.Calls[i]); ok {
			out.Calls[i].Result, found = result, true
		}
	}
	if !found {
		return t
	}
	return &out
}
