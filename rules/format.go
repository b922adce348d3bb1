package rules

import (
	"slices"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// Format returns the source of a rule file in the one layout that all rule files
// share: fields in a fixed order, two spaces of indentation, an empty line
// between rules of several lines, no needless brackets over lines. Comments
// stay, and the result means the same. Formatting twice changes nothing.
//
// The source need not be free of mistakes in its rules, but must be readable
// YAML without a key that is there twice; the error is a diag.List otherwise.
// JSON stays JSON.
func Format(file string, src []byte) ([]byte, error) {
	doc, problems := yamlsrc.Parse(file, src, yamlsrc.Options{})
	if err := problems.Errors().Err(); err != nil {
		return nil, err
	}
	if doc.Root == nil {
		return doc.Append(nil), nil
	}
	// An alias comes after its anchor: with anchors the order stays.
	arrange(doc.Root, !doc.HasAnchors())
	out := doc.Append(nil)
	again, problems := yamlsrc.Parse(file, out, yamlsrc.Options{})
	if len(problems) > 0 || !equal(doc.Root, again.Root) {
		// That would be a mistake of ours; it must not cost the user a file.
		return nil, diag.List{diag.New(doc.Root.Pos, "rule-format", "this file cannot be formatted without changing what it means")}
	}
	return out, nil
}

// arrange puts the fields of a rule file into order, if order says so, and asks
// for the empty lines between its parts.
func arrange(root *yamlsrc.Node, order bool) {
	if root.Kind != yamlsrc.Mapping {
		return
	}
	root.Style = yamlsrc.Block
	root.Spaced = true
	sortFields(root, fileFields, order)
	for _, list := range []string{"rules", "meta_tools", "examples"} {
		n := root.Lookup(list)
		if n == nil || n.Kind != yamlsrc.Sequence || n.Alias != "" {
			continue
		}
		n.Style = yamlsrc.Block
		n.Spaced = true
		for _, e := range n.Entries {
			switch list {
			case "rules":
				arrangeRule(e.Value, order)
			case "meta_tools":
				sortFields(e.Value, metaToolFields, order)
			default:
				arrangeExample(e.Value, order)
			}
		}
	}
}

func arrangeRule(n *yamlsrc.Node, order bool) {
	fields := ruleFields()
	if kind := n.Lookup("kind"); kind != nil {
		for _, k := range kinds {
			if string(k.Kind) == kind.Text {
				fields = slices.Concat(ruleHead, k.Fields, ruleTail)
			}
		}
	}
	sortFields(n, fields, order)
	sortFields(n.Lookup("match"), matchFields, order)
	sortFields(n.Lookup("with"), matchFields, order)
	sortFields(n.Lookup("before"), stepFields, order)
	sortFields(n.Lookup("after"), stepFields, order)
	if examples := n.Lookup("examples"); examples != nil {
		for _, e := range examples.Entries {
			arrangeExample(e.Value, order)
		}
	}
}

func arrangeExample(n *yamlsrc.Node, order bool) {
	sortFields(n, exampleFields, order)
	sortFields(n.Lookup("call"), callFields, order)
	for _, field := range []string{"calls", "same_state_as", "other_state_than"} {
		if list := n.Lookup(field); list != nil {
			for _, e := range list.Entries {
				sortFields(e.Value, callFields, order)
			}
		}
	}
	gives := n.Lookup("gives")
	sortFields(gives, expectationFields, order)
	if gives != nil && gives.Kind == yamlsrc.Sequence {
		for _, e := range gives.Entries {
			sortFields(e.Value, expectationFields, order)
		}
	}
}

// sortFields puts the members of a mapping into the order of fields. Others
// follow in the order in which they are.
func sortFields(n *yamlsrc.Node, fields []string, order bool) {
	if n == nil || n.Kind != yamlsrc.Mapping || n.Alias != "" || !order {
		return
	}
	rank := func(e *yamlsrc.Entry) int {
		if i := slices.Index(fields, e.Key.Text); i >= 0 {
			return i
		}
		return len(fields)
	}
	slices.SortStableFunc(n.Entries, func(a, b *yamlsrc.Entry) int { return rank(a) - rank(b) })
}

// equal reports whether two trees say the same.
func equal(a, b *yamlsrc.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Text != b.Text || a.Type() != b.Type() || a.Anchor != b.Anchor || a.Alias != b.Alias || len(a.Entries) != len(b.Entries) {
		return false
	}
	if a.Alias != "" {
		return true
	}
	for i, e := range a.Entries {
		f := b.Entries[i]
		if (e.Key == nil) != (f.Key == nil) || e.Key != nil && e.Key.Text != f.Key.Text || !equal(e.Value, f.Value) {
			return false
		}
	}
	return true
}
