package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// describe gives a definition its description: that of a rule, else what its calls do.
func (d *Definition) describe(m *merge.Merged) {
	if given := d.given(m); given != nil {
		d.Description = given.Description
	}
	if d.Description == "" {
		d.Description = d.describeSteps(m)
	}
}

// describeSteps says what the meta-tool does, when to use it, and what it
// replaces. It says nothing that changes with the next trace.
func (d *Definition) describeSteps(m *merge.Merged) string {
	var b strings.Builder
	if len(d.Steps) > 1 {
		b.WriteString("Makes these calls in one go, in this order:")
	} else {
		b.WriteString("Makes these calls in one go:")
	}
	var tools []string
	for i := range d.Steps {
		s := &d.Steps[i]
		name := printable(s.Tool, maxName)
		if !slices.Contains(tools, name) {
			tools = append(tools, name)
		}
		fmt.Fprintf(&b, "\n%d. ", i+1)
		if s.Each != nil {
			fmt.Fprintf(&b, "for each %s: ", d.listWords(s))
		}
		b.WriteString(name)
		if text := toolSentence(m, s.Tool); text != "" {
			fmt.Fprintf(&b, ": %s", text)
		}
		if words := d.argumentWords(s); words != "" {
			fmt.Fprintf(&b, " Takes %s.", words)
		}
	}
	fmt.Fprintf(&b, "\nReturns %s.", d.outputWords())
	b.WriteString(" Use it when you would make these calls one after the other")
	if len(d.Inputs) > 0 {
		b.WriteString(" and already know its inputs")
	}
	fmt.Fprintf(&b, ". It replaces separate calls of %s.", strings.Join(tools, ", "))
	return b.String()
}

// toolSentence returns the first sentence of a tool's own description.
func toolSentence(m *merge.Merged, tool string) string {
	t := m.Catalog.Tool(trace.Intern(tool))
	if t == nil || t.Definition.Description == "" {
		return ""
	}
	return firstSentence(t.Definition.Description)
}

// listWords says what a fan-out step walks over.
func (d *Definition) listWords(s *metatool.Step) string {
	if s.Each.Kind == metatool.BindInput {
		return fmt.Sprintf("element of the input %s", s.Each.Input)
	}
	last := ""
	for _, step := range s.Each.Path {
		if step.Kind == jsonpath.Member {
			last = step.Name
		}
	}
	if last == "" {
		return fmt.Sprintf("element of the result of call %d", s.Each.Step+1)
	}
	return fmt.Sprintf("of the %s in the result of call %d", printable(last, maxName), s.Each.Step+1)
}

// argumentWords says which arguments of a step need not be given, and where they
// come from.
func (d *Definition) argumentWords(s *metatool.Step) string {
	var words []string
	for i := range s.Args {
		if text := Words(&s.Args[i].Binding); text != "" {
			words = append(words, fmt.Sprintf("%s %s", printable(s.Args[i].Name, maxName), text))
		}
	}
	return strings.Join(words, ", ")
}

// Words says where a binding takes its value from, "" for an input. The only
// values in it are constants, which are no bindings unless they may be shown.
func Words(x *metatool.Binding) string {
	switch x.Kind {
	case metatool.BindConst:
		return printable(string(x.Const.AppendCanonical(nil)), maxName)
	case metatool.BindElement:
		return "from the element"
	case metatool.BindTemplate:
		if len(x.Parts) > 0 && Words(&x.Parts[0]) != "" {
			return "made of a text and what is " + Words(&x.Parts[0])
		}
	case metatool.BindStep:
		text := fmt.Sprintf("from the result of call %d", x.Step+1)
		for _, step := range x.Path {
			switch {
			case step.Kind == jsonpath.Index && step.Index == 0:
				return text + ", of the first one"
			case step.Kind != jsonpath.Filter:
			case step.Open && x.Key != nil && x.Key.Kind == metatool.BindInput:
				return text + fmt.Sprintf(", of the one with the given %s", printable(step.Name, maxName))
			case step.Open:
				return text + fmt.Sprintf(", of the one with a certain %s", printable(step.Name, maxName))
			default: // a constant that may be shown, or it were no binding
				return text + fmt.Sprintf(", of the one whose %s is %s", printable(step.Name, maxName), printable(string(step.Value.AppendCanonical(nil)), maxName))
			}
		}
		return text
	}
	return ""
}

// outputWords says what is returned: the results of which calls, and what is left out.
func (d *Definition) outputWords() string {
	var returned, left []string
	for i := range d.Steps {
		s := &d.Steps[i]
		if !d.Output.Returns(i) {
			left = append(left, fmt.Sprint(i+1))
			continue
		}
		name := printable(s.Tool, maxName)
		if s.Each != nil {
			name = "each " + name
		}
		returned = append(returned, name)
	}
	text := "the result of " + listed(returned)
	if len(returned) > 1 {
		text = "the results of " + listed(returned) + ", in this order"
	}
	if len(left) == 1 {
		text += ", but not that of call " + left[0]
	} else if len(left) > 1 {
		text += ", but not those of calls " + listed(left)
	}
	return text
}

// listed joins words as a sentence does.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
