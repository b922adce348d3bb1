package stored

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/internal/yamlvalue"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

// Codes of problems of a file of rules. They are stable.
const (
	CodeSchema   = "prefetch-schema"  // it is no such file, or one of another version
	CodeMissing  = "prefetch-missing" // a member that must be there is not
	CodeUnknown  = "prefetch-unknown" // a member that nobody knows
	CodeBad      = "prefetch-bad"     // a member holds what it cannot
	CodeRepeated = "prefetch-repeated"
	CodeWrites   = "prefetch-writes" // nothing says that a tool of a rule only reads
	CodeBound    = "prefetch-bound"  // there is more of something than is read
)

// The bounds of a file.
const (
	MaxBytes = 8 << 20
	maxRules = 4096
	maxReads = 1 << 16
	maxName  = 4096 // bytes of a name of a tool, an argument or a rule
	maxOther = 64   // further arguments of a target
	maxConst = 4096 // bytes of a constant
)

// Decode reads what Encode wrote. The error is a diag.List with every problem in the
// named file; the file is nil then.
func Decode(name string, data []byte) (*File, error) {
	if len(data) > MaxBytes {
		return nil, diag.List{diag.New(diag.Pos{File: name}, CodeBound, "the file is larger than %d MiB", MaxBytes>>20)}
	}
	// JSON is held to its own grammar first: what yamlsrc reads is more.
	if _, err := trace.ParseValue(data); err != nil {
		if e, ok := errors.AsType[*diag.Error](err); ok {
			e.Pos.File = name
			return nil, diag.List{e}
		}
		return nil, err
	}
	doc, problems := yamlsrc.Parse(name, data, yamlsrc.Options{MaxBytes: MaxBytes})
	d := &decoder{problems: problems}
	var f *File
	if doc.Root != nil {
		f = d.document(doc.Root)
	}
	d.problems.Sort()
	if err := d.problems.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

type decoder struct{ problems diag.List }

func (d *decoder) fail(n *yamlsrc.Node, code, format string, args ...any) {
	if !n.Bad {
		d.problems = append(d.problems, diag.New(n.Pos, code, format, args...))
	}
}

func (d *decoder) document(root *yamlsrc.Node) *File {
	schema := root.Lookup("schema")
	if root.Kind != yamlsrc.Mapping || schema == nil || schema.Text != Schema {
		at := root
		if schema != nil {
			at = schema
		}
		d.fail(at, CodeSchema, "this file has no prefetch rules, or those of another version")
		return nil
	}
	m := d.members(root, "the file", true, "schema", "threshold", "reads", "rules")
	f := &File{Threshold: d.number(m["threshold"], 0, 1)}
	for _, n := range d.list(m["reads"], maxReads) {
		f.Set.Reads = append(f.Set.Reads, d.name(n))
	}
	slices.Sort(f.Set.Reads)
	f.Set.Reads = slices.Compact(f.Set.Reads)
	ids := map[string]bool{}
	for _, n := range d.list(m["rules"], maxRules) {
		rule, evidence := d.rule(n)
		if rule.ID != "" && ids[rule.ID] {
			d.fail(n, CodeRepeated, "another rule has the same id")
		}
		ids[rule.ID] = true
		if rule.Source.Kind != prefetch.KindNone { // what comes before such a read may be anything
			d.only(&f.Set, n, "source", rule.Source.Tool)
		}
		d.only(&f.Set, n, "target", rule.Target.Tool)
		f.Set.Rules, f.Evidence = append(f.Set.Rules, rule), append(f.Evidence, evidence)
	}
	return f
}

// only complains about a tool that nothing says to read.
func (d *decoder) only(set *prefetch.Set, rule *yamlsrc.Node, side, tool string) {
	if _, is := slices.BinarySearch(set.Reads, tool); !is && tool != "" {
		d.fail(rule.Lookup(side).Lookup("tool"), CodeWrites, "`reads` does not name this tool: nothing says that it only reads")
	}
}

// members returns the members of an object by name. All that are named must be there,
// and with strict there may be no others.
func (d *decoder) members(n *yamlsrc.Node, what string, strict bool, names ...string) map[string]*yamlsrc.Node {
	out := map[string]*yamlsrc.Node{}
	if n == nil {
		return out
	}
	if n.Kind != yamlsrc.Mapping {
		d.fail(n, CodeBad, "%s must be an object, not %s", what, n.Kind)
		return out
	}
	for _, e := range n.Entries {
		if !slices.Contains(names, e.Key.Text) {
			if strict {
				near := ""
				if near = diag.Nearest(e.Key.Text, names); near != "" {
					near = "; did you mean `" + near + "`?"
				}
				d.fail(e.Key, CodeUnknown, "%s has no such member%s", what, near)
			}
			continue
		}
		out[e.Key.Text] = e.Value
	}
	for _, name := range names {
		if out[name] == nil {
			d.fail(n, CodeMissing, "%s has no `%s`", what, name)
		}
	}
	return out
}

func (d *decoder) list(n *yamlsrc.Node, most int) []*yamlsrc.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind != yamlsrc.Sequence:
		d.fail(n, CodeBad, "this must be a list, not %s", n.Kind)
		return nil
	case len(n.Entries) > most:
		d.fail(n, CodeBound, "there are more than %d of these", most)
		return nil
	}
	out := make([]*yamlsrc.Node, len(n.Entries))
	for i, e := range n.Entries {
		out[i] = e.Value
	}
	return out
}

func (d *decoder) text(n *yamlsrc.Node) string {
	if n == nil {
		return ""
	}
	if n.Kind != yamlsrc.Scalar || n.Type() != yamlsrc.String {
		d.fail(n, CodeBad, "this must be a text")
		return ""
	}
	return n.Text
}

// name reads the name of something.
func (d *decoder) name(n *yamlsrc.Node) string {
	text := d.text(n)
	switch {
	case n == nil:
	case text == "" && n.Type() == yamlsrc.String:
		d.fail(n, CodeBad, "a name is empty")
	case len(text) > maxName:
		d.fail(n, CodeBound, "a name is longer than %d bytes", maxName)
	}
	return text
}

func (d *decoder) number(n *yamlsrc.Node, least, most float64) float64 {
	if n == nil {
		return 0
	}
	v, ok := n.Float()
	if !ok || !(v >= least && v <= most) {
		d.fail(n, CodeBad, "this must be a number from %v to %v", least, most)
		return least
	}
	return v
}

func (d *decoder) count(n *yamlsrc.Node, least, most int64) int {
	if n == nil {
		return 0
	}
	v, ok := n.Int()
	if !ok || v < least || v > most {
		d.fail(n, CodeBad, "this must be a whole number from %d to %d", least, most)
		return int(least)
	}
	return int(v)
}

func (d *decoder) path(n *yamlsrc.Node) jsonpath.Path {
	if n == nil {
		return nil
	}
	p, err := jsonpath.Parse(d.text(n))
	switch {
	case err != nil:
		at := n.Pos
		if e, ok := errors.AsType[*diag.Error](err); ok && e.Pos.Col > 0 {
			at = n.PosAt(e.Pos.Col - 1)
		}
		d.problems = append(d.problems, diag.New(at, CodeBad, "this is no path that can be followed"))
	case slices.ContainsFunc(p, func(s jsonpath.Step) bool { return s.Kind == jsonpath.Filter }):
		d.fail(n, CodeBad, "a path of a rule has no filter")
	}
	return p
}

func oneOf[V any](d *decoder, n *yamlsrc.Node, words map[string]V) V {
	var none V
	if n == nil {
		return none
	}
	v, is := words[d.text(n)]
	if !is {
		d.fail(n, CodeBad, "this must be one of %s", strings.Join(slices.Sorted(maps.Keys(words)), ", "))
	}
	return v
}

func (d *decoder) rule(n *yamlsrc.Node) (prefetch.Rule, Evidence) {
	m := d.members(n, "a rule", true, "id", "source", "target", "when", "use", "max_elements", "depth", "evidence")
	r := prefetch.Rule{ID: d.name(m["id"]), MaxElements: d.count(m["max_elements"], 0, math.MaxInt32), Depth: d.count(m["depth"], 1, 2)}
	r.Source = d.source(m["source"])
	when := d.members(m["when"], "a condition", true, "turn", "last", "alone")
	r.When = prefetch.When{Turn: oneOf(d, when["turn"], turns), Last: oneOf(d, when["last"], lasts), Alone: d.is(when["alone"])}
	answers := r.Source.Kind == prefetch.KindResult || r.Source.Kind == prefetch.KindSame
	r.Target = d.target(m["target"], answers)
	if given := slices.IndexFunc(r.Target.Others, func(o prefetch.Other) bool {
		return slices.ContainsFunc(r.Source.Slots, func(s prefetch.Slot) bool { return s.Argument == o.Argument })
	}); given >= 0 {
		d.fail(m["target"], CodeRepeated, "an argument that a message gives is given twice")
	}
	return r, d.evidence(m["evidence"], m["use"])
}

// source reads where values come from.
func (d *decoder) source(n *yamlsrc.Node) prefetch.Source {
	m := d.members(n, "a source", true, "kind", "tool", "path", "slots", "trust")
	s := prefetch.Source{Kind: oneOf(d, m["kind"], kinds)}
	switch s.Kind {
	case prefetch.KindResult, prefetch.KindSame:
		s.Tool, s.Path = d.name(m["tool"]), d.path(m["path"])
	default:
		if s.Tool = d.text(m["tool"]); len(s.Tool) > maxName {
			d.fail(m["tool"], CodeBound, "a name is longer than %d bytes", maxName)
		}
		if d.text(m["path"]) != "" || s.Kind == prefetch.KindUser && s.Tool != "" {
			d.fail(n, CodeBad, "only a source of results has a tool and a path")
		}
	}
	for _, one := range d.list(m["slots"], maxOther) {
		of := d.members(one, "a slot", true, "argument", "shapes", "number", "near", "after", "not")
		slot := prefetch.Slot{Argument: d.name(of["argument"]), Number: d.is(of["number"]), Near: d.is(of["near"])}
		for _, shape := range d.list(of["shapes"], maxOther) {
			slot.Shapes = append(slot.Shapes, prefetch.Shape(d.text(shape)))
		}
		for _, word := range d.list(of["after"], maxOther) {
			slot.After = append(slot.After, d.text(word))
		}
		for _, word := range d.list(of["not"], prefetch.MaxNot) {
			slot.Not = append(slot.Not, d.text(word))
		}
		slices.Sort(slot.Not)
		if slices.ContainsFunc(s.Slots, func(have prefetch.Slot) bool { return have.Argument == slot.Argument }) {
			d.fail(one, CodeRepeated, "this argument is given twice")
		}
		s.Slots = append(s.Slots, slot)
	}
	for _, tool := range d.list(m["trust"], maxOther) {
		s.Trust = append(s.Trust, d.name(tool))
	}
	if s.Kind == prefetch.KindUser {
		if _, err := prefetch.Pattern(s.Slots); err != nil {
			d.fail(m["slots"], CodeBad, "these slots are no pattern that can be followed")
		}
	} else if len(s.Slots)+len(s.Trust) > 0 {
		d.fail(n, CodeBad, "only a source of messages has slots and trust")
	}
	return s
}

// is reads a boolean.
func (d *decoder) is(n *yamlsrc.Node) bool {
	if n == nil {
		return false
	}
	v, ok := n.Bool()
	if !ok {
		d.fail(n, CodeBad, "this must be true or false")
	}
	return v
}

func (d *decoder) target(n *yamlsrc.Node, answers bool) prefetch.Target {
	m := d.members(n, "a target", true, "tool", "argument", "constants", "bound")
	t := prefetch.Target{Tool: d.name(m["tool"])}
	given := map[string]bool{}
	if answers {
		t.Argument = d.name(m["argument"])
		given[t.Argument] = true
	} else if d.text(m["argument"]) != "" || len(d.list(m["bound"], maxOther)) > 0 {
		d.fail(n, CodeBad, "only a source of results gives an argument or binds others")
	}
	add := func(at *yamlsrc.Node, o prefetch.Other) {
		if given[o.Argument] {
			d.fail(at, CodeRepeated, "this argument is given twice")
		}
		given[o.Argument] = true
		t.Others = append(t.Others, o)
	}
	if c := m["constants"]; c != nil && c.Kind != yamlsrc.Mapping {
		d.fail(c, CodeBad, "constants must be an object, not %s", c.Kind)
	} else if c != nil {
		for _, e := range c.Entries {
			v := d.value(e.Value)
			if len(v.AppendCanonical(nil)) > maxConst {
				d.fail(e.Value, CodeBound, "a constant is longer than %d bytes", maxConst)
			}
			add(e.Key, prefetch.Other{Argument: e.Key.Text, Origin: prefetch.FromConstant, Constant: v})
		}
	}
	for _, b := range d.list(m["bound"], maxOther) {
		o := d.members(b, "an argument", true, "argument", "from", "path")
		other := prefetch.Other{Argument: d.text(o["argument"]), Origin: oneOf(d, o["from"], origins), Path: d.path(o["path"])}
		if len(other.Argument) > maxName {
			d.fail(o["argument"], CodeBound, "a name is longer than %d bytes", maxName)
		}
		if other.Origin == prefetch.FromArgument && o["path"] != nil && (len(other.Path) != 1 || other.Path[0].Kind != jsonpath.Member) {
			d.fail(o["path"], CodeBad, "the path of an argument is its name")
		}
		add(b, other)
	}
	if len(t.Others) > maxOther {
		d.fail(n, CodeBound, "a target has more than %d further arguments", maxOther)
	}
	slices.SortFunc(t.Others, func(a, b prefetch.Other) int { return cmp.Compare(a.Argument, b.Argument) })
	return t
}

// value reads a constant.
func (d *decoder) value(n *yamlsrc.Node) trace.Value {
	v, bad := yamlvalue.Of(n)
	if bad != nil {
		d.fail(bad, CodeBad, "a number must be written as JSON has it")
	}
	return v
}

// evidence reads what speaks for a rule. Members that nobody knows say nothing of what
// the rule does, and are passed over.
func (d *decoder) evidence(n, use *yamlsrc.Node) Evidence {
	const most = math.MaxInt32
	m := d.members(n, "evidence", false, "offered", "used", "stale", "trajectories", "tasks", "per_answer", "tokens_used", "tokens_in_vain")
	e := Evidence{
		Offered: d.count(m["offered"], 0, most), Used: d.count(m["used"], 0, most), Stale: d.count(m["stale"], 0, most),
		Runs: d.count(m["trajectories"], 0, most), Tasks: d.count(m["tasks"], 0, most), PerAnswer: d.number(m["per_answer"], 0, most),
		TokensUsed: d.orNull(m["tokens_used"]), TokensVain: d.orNull(m["tokens_in_vain"]),
	}
	if e.Used > e.Offered {
		d.fail(m["used"], CodeBad, "more is used than is offered")
	}
	u := d.members(use, "a figure", false, "value", "n", "interval", "reason")
	d.number(u["value"], 0, 1) // it follows from the evidence
	d.count(u["n"], 0, most)
	reason := d.text(u["reason"])
	if i := u["interval"]; i != nil && !i.IsNull() {
		b := d.members(i, "an interval", false, "lo", "hi", "level", "method")
		e.Interval = stat.Interval{Lo: d.number(b["lo"], 0, 1), Hi: d.number(b["hi"], 0, 1), Level: d.number(b["level"], 0, 1), Method: d.text(b["method"])}
		if size := i.Lookup("n"); size != nil {
			e.Interval.N = d.count(size, 0, most)
		}
	} else {
		e.Interval = stat.NoInterval(reason)
	}
	return e
}

func (d *decoder) orNull(n *yamlsrc.Node) float64 {
	if n == nil || n.IsNull() {
		return math.NaN()
	}
	return d.number(n, 0, math.MaxInt32)
}
