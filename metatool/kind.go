package metatool

// Kind says what a meta-tool saves an agent from.
type Kind string

// The kinds.
const (
	Chain Kind = "chain" // values of results flow into later calls
	Walk  Kind = "walk"  // a list in a result is walked
	// Batch makes calls that do not need each other's results: an agent that makes
	// parallel calls does the same.
	Batch Kind = "batch"
)

// Kind returns the kind of the meta-tool.
func (t *Tool) Kind() Kind {
	kind := Batch
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Each != nil && s.Each.takesResult() {
			return Walk
		}
		for k := range s.Args {
			if s.Args[k].Binding.takesResult() {
				kind = Chain
			}
		}
	}
	return kind
}

// takesResult reports whether a value comes from the result of a step.
func (b *Binding) takesResult() bool {
	if b.Kind == BindStep || b.Key != nil && b.Key.takesResult() {
		return true
	}
	for i := range b.Parts {
		if b.Parts[i].takesResult() {
			return true
		}
	}
	return false
}
