package analysis

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/extraction"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/internal/report"
)

// The section with what is compiled of the traces: meta-tools and rules for reading ahead.

var sectionCompiled = reportSection{
	heading: "What would be compiled",
	about: "Each picture is a meta-tool: it is given what stands in the dashed box, makes the calls below, from the top down, and answers with their results, so that the model is asked once. " +
		"A call with a second box behind it is made once for each element of a list; an arrow leads from what gives a value to what takes it.",
	blocks: func(r *reportInput) []report.Block { return r.compiled },
}

// compile adds what `awo extract` would offer.
func (r *reportInput) compile(j *cli.Job, o reportOptions) error {
	if r.in.Tally.Calls == 0 || o.MetaTools == "never" || o.MetaTools == "auto" && r.in.Tally.Calls > autoCalls {
		return nil
	}
	set, err := j.Rules(j.RuleFile)
	if err != nil {
		return err
	}
	meter, err := j.Meter()
	if err != nil {
		return err
	}
	var v *recommend.Result
	if r.tested != nil {
		v = r.saving.Recommended
	}
	r.compiled, err = extraction.Section(j, r.in, r.mined, set, meter, v)
	return err
}
