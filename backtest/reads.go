package backtest

import (
	"iter"
	"maps"
	"slices"

	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/trace"
)

// Reads collects which tools are known to only read: what a rule says, else what the
// annotations of the definition say, else the name.
type Reads struct {
	options     Options
	declared    Declarations // nil without rules
	annotations map[trace.Name]toolname.Effect
	names       toolname.Names
	called      map[trace.Name]bool
	isWhole     bool // a source was read to its end
}

// NewReads returns what is known before any trajectory is read. Of the options it takes
// Rules, Declared and Compile.DeclaredReads.
func NewReads(o Options) *Reads {
	k := &Reads{options: o, annotations: map[trace.Name]toolname.Effect{}, called: map[trace.Name]bool{}}
	if o.Rules != nil && o.Declared != nil {
		k.declared = o.Declared()
	}
	return k
}

// Watch returns the source, of which it collects what is known when that is first read to
// its end. Calls get the statuses then that rules read from their results.
func (k *Reads) Watch(source compile.Source) compile.Source {
	reading := k.reading(source)
	return func() iter.Seq2[*trace.Trajectory, error] {
		if k.isWhole {
			return source()
		}
		return reading()
	}
}

// reading is Watch of every reading.
func (k *Reads) reading(source compile.Source) compile.Source {
	return func() iter.Seq2[*trace.Trajectory, error] {
		return func(yield func(*trace.Trajectory, error) bool) {
			for t, err := range source() {
				if err == nil {
					k.add(t)
				}
				if !yield(t, err) || err != nil {
					return
				}
			}
			k.isWhole = true
		}
	}
}

func (k *Reads) add(t *trace.Trajectory) {
	if k.isWhole {
		return
	}
	if k.declared != nil {
		k.declared.Add(t)
	}
	for i := range t.Tools {
		d := &t.Tools[i]
		if _, known := k.annotations[d.Name]; known {
			continue
		}
		k.names.Add(d.Name.Value())
		v, _ := trace.ParseValue([]byte(d.Annotations.Text()))
		k.annotations[d.Name] = toolname.Annotated(v)
	}
	for i := range t.Calls {
		name := t.Calls[i].Tool
		k.called[name] = true
		if name != (trace.Name{}) {
			k.names.Add(name.Value())
		}
	}
}

// tools returns the tools that a source calls, nil if none was read.
func (k *Reads) tools() []trace.Name {
	if !k.isWhole {
		return nil
	}
	return slices.AppendSeq([]trace.Name{}, maps.Keys(k.called)) // not nil
}

// of reports whether a tool is known to only read.
func (k *Reads) of(tool trace.Name) bool {
	rule := toolname.Unknown
	if k.options.Compile.DeclaredReads && (k.declared == nil || !k.options.Rules.HasEffect(tool.Value())) {
		return false // nothing is assumed
	}
	if k.declared != nil && k.options.Rules.HasEffect(tool.Value()) {
		if rule = toolname.Writes; k.declared.Of(tool) == inertia.EffectReads {
			rule = toolname.Reads
		}
	}
	effect, _ := k.names.Decide(rule, k.annotations[tool], tool.Value())
	return effect == toolname.Reads
}
