package backtest

import (
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/trace"
)

// knownReads is which tools are known to only read: what a rule says, else what the
// annotations of the definition say, else the name.
type knownReads struct {
	options     *Options
	declared    Declarations // nil without rules
	annotations map[trace.Name]toolname.Effect
	names       toolname.Names
}

// knownReads collects what is known of the tools of the training part, once.
func (p *Part) knownReads() *knownReads {
	if p.reads != nil {
		return p.reads
	}
	k := &knownReads{options: &p.Options, annotations: map[trace.Name]toolname.Effect{}}
	if p.Options.Rules != nil && p.Options.Declared != nil {
		k.declared = p.Options.Declared()
	}
	for _, r := range p.Runs {
		k.add(r.Trajectory)
	}
	p.reads = k
	return k
}

func (k *knownReads) add(t *trace.Trajectory) {
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
		if name := t.Calls[i].Tool; name != (trace.Name{}) {
			k.names.Add(name.Value())
		}
	}
}

// of reports whether a tool is known to only read.
func (k *knownReads) of(tool trace.Name) bool {
	rule := toolname.Unknown
	if k.options.Compile.DeclaredReads && (k.declared == nil || !k.options.Rules.HasEffect(tool.Value())) {
		return false // nothing is assumed
	}
	if k.declared != nil && k.options.Rules.HasEffect(tool.Value()) {
		if rule = toolname.Writes; k.declared.Of(tool) == predict.EffectReads {
			rule = toolname.Reads
		}
	}
	effect, _ := k.names.Decide(rule, k.annotations[tool], tool.Value())
	return effect == toolname.Reads
}
