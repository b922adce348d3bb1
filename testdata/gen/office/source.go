package office

import (
	"fmt"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// ref is a value together with the place that an agent has it from.
type ref struct {
	value  world.Value
	source Source
}

// text returns the value of a leaf.
func (x ref) text() string { return x.value.Text }

// ok reports whether there is a value.
func (x ref) ok() bool { return x.source.Origin != "" }

// at goes down a result: a string names a member, an int an element.
// What is not there gives the zero ref.
func (x ref) at(steps ...any) ref {
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			v, ok := x.value.Field(step)
			if !ok {
				return ref{}
			}
			x.value, x.source.Path = v, world.PathName(x.source.Path, step)
		case int:
			if step >= len(x.value.Items) {
				return ref{}
			}
			x.value, x.source.Path = x.value.Items[step], world.PathIndex(x.source.Path, step)
		default:
			panic(fmt.Sprintf("office: a path has no %T", step))
		}
	}
	return x
}

// items returns the elements of an array.
func (x ref) items() []ref {
	items := make([]ref, len(x.value.Items))
	for i := range items {
		items[i] = x.at(i)
	}
	return items
}

// where returns the first element of an array whose member has that text.
func (x ref) where(name, text string) ref {
	for _, item := range x.items() {
		if v, ok := item.value.Field(name); ok && v.Text == text {
			item.source.Key, item.source.KeyValue = name, text
			return item
		}
	}
	return ref{}
}

// constant is a value that agents always write in this place.
func constant(v world.Value) ref { return ref{v, Source{Origin: FromConstant}} }

// told is a value that stands in the task.
func told(v world.Value) ref { return ref{v, Source{Origin: FromTask}} }

// model is a value that only the model knows.
func model(v world.Value) ref { return ref{v, Source{Origin: FromModel}} }

// filled is text in which some pieces are values from elsewhere. Pieces are
// strings and refs.
func filled(pieces ...any) ref {
	text := ""
	s := Source{Origin: FromTemplate}
	for _, p := range pieces {
		switch p := p.(type) {
		case string:
			text += p
			s.Parts = append(s.Parts, Part{Text: p})
		case ref:
			text += p.text()
			s.Parts = append(s.Parts, Part{Text: p.text(), Source: &p.source})
		default:
			panic(fmt.Sprintf("office: a template has no %T", p))
		}
	}
	return ref{world.Str(text), s}
}

// argument is one argument of a request: a value, or a list of values.
type argument struct {
	name   string
	values []ref
	list   bool
}

func arg(name string, x ref) argument { return argument{name: name, values: []ref{x}} }

func argList(name string, xs ...ref) argument { return argument{name: name, values: xs, list: true} }

// request is a call that an agent is about to make, in the words of the first
// edition.
type request struct {
	op   string
	args []argument
}

func ask(op string, args ...argument) request { return request{op, args} }
