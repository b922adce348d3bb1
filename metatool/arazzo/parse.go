package arazzo

import (
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/internal/yamlvalue"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// Codes of problems in descriptions. They are stable.
const (
	CodeNotArazzo    = "not-arazzo"    // the document is no Arazzo description, or of another version
	CodeMissing      = "missing-field" // a field that a meta-tool needs
	CodeBadField     = "bad-field"     // a field holds what it cannot
	CodeUnknownStep  = "unknown-step"  // a step refers to one that does not come before it
	CodeUnknownInput = "unknown-input"
	CodeNotRunnable  = "not-runnable" // Arazzo that awo does not write, and cannot run
	CodeRepeated     = "repeated-id"
)

// maxBytes bounds a description: some 100,000 meta-tools.
const maxBytes = 64 << 20

// maxNesting bounds bindings inside bindings.
const maxNesting = 16

// Parse reads a description that Append wrote. The error, a diag.List, holds
// every problem; the meta-tools are those without one.
func Parse(file string, src []byte) ([]*metatool.Tool, error) {
	doc, problems := yamlsrc.Parse(file, src, yamlsrc.Options{MaxBytes: maxBytes})
	p := &parser{file: file, problems: problems}
	var tools []*metatool.Tool
	if doc.Root != nil {
		tools = p.document(doc.Root)
	}
	p.problems.Sort()
	return tools, p.problems.Err()
}

type parser struct {
	file     string
	problems diag.List
}

func (p *parser) fail(n *yamlsrc.Node, code, format string, args ...any) {
	p.problems = append(p.problems, diag.New(n.Pos, code, format, args...))
}

func (p *parser) document(root *yamlsrc.Node) []*metatool.Tool {
	v := root.Lookup("arazzo")
	if root.Kind != yamlsrc.Mapping || v == nil || !strings.HasPrefix(v.Text, "1.") {
		p.fail(root, CodeNotArazzo, "this is no Arazzo description of version 1")
		return nil
	}
	var tools []*metatool.Tool
	seen := map[string]bool{}
	for _, n := range p.list(root, "workflows") {
		before := len(p.problems.Errors())
		w := workflowParser{parser: p, steps: map[string]int{}, inputs: map[string]bool{}}
		tool := w.workflow(n)
		if seen[tool.Name] {
			p.fail(n, CodeRepeated, "another workflow has the same workflowId")
		}
		seen[tool.Name] = true
		if len(p.problems.Errors()) == before {
			tools = append(tools, tool)
		}
	}
	return tools
}

// list returns the elements of a list that must be there.
func (p *parser) list(n *yamlsrc.Node, key string) []*yamlsrc.Node {
	v := n.Lookup(key)
	if v == nil {
		p.fail(n, CodeMissing, "`%s` is missing", key)
		return nil
	}
	return p.elements(v, key)
}

func (p *parser) elements(v *yamlsrc.Node, key string) []*yamlsrc.Node {
	if v.Kind != yamlsrc.Sequence {
		p.fail(v, CodeBadField, "`%s` must be a list, not %s", key, v.Kind)
		return nil
	}
	nodes := make([]*yamlsrc.Node, len(v.Entries))
	for i, e := range v.Entries {
		nodes[i] = e.Value
	}
	return nodes
}

// text returns the text under a key, "" if it is not there.
func (p *parser) text(n *yamlsrc.Node, key string, required bool) string {
	v := n.Lookup(key)
	switch {
	case v == nil && required:
		p.fail(n, CodeMissing, "`%s` is missing", key)
	case v != nil && (v.Kind != yamlsrc.Scalar || v.Type() != yamlsrc.String):
		p.fail(v, CodeBadField, "`%s` must be a text", key)
	case v != nil:
		return v.Text
	}
	return ""
}

func (p *parser) flag(n *yamlsrc.Node, key string) bool {
	v := n.Lookup(key)
	if v == nil {
		return false
	}
	b, ok := v.Bool()
	if !ok {
		p.fail(v, CodeBadField, "`%s` must be true or false", key)
	}
	return b
}

// path reads a path.
func (p *parser) path(n *yamlsrc.Node, key string) jsonpath.Path {
	path, err := jsonpath.Parse(p.text(n, key, true))
	if err != nil && n.Lookup(key) != nil {
		p.fail(n.Lookup(key), CodeBadField, "`%s` is no path that can be followed", key)
	}
	return path
}

// value reads a JSON value.
func (p *parser) value(n *yamlsrc.Node) trace.Value {
	v, bad := yamlvalue.Of(n)
	if bad != nil {
		p.fail(bad, CodeBadField, "a number must be written as JSON has it")
	}
	return v
}
