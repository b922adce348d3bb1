package comparing

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
)

// Recorded are recordings of a gateway that a report is to show, with what is needed to
// judge them.
type Recorded struct {
	Files []string
	Tools string // the artefacts that were served, "" if nobody says
	Rules string
	cli.InputOptions
	cli.PriceOptions

	// Predict returns what the back-test of the report says of a technique, nil if it says
	// nothing.
	Predict func(technique string) *Prediction
}

// Section returns what a report shows of an experiment, and its figures.
func Section(j *cli.Job, r Recorded) ([]report.Block, *Comparison, error) {
	o := options{InputOptions: r.InputOptions, PriceOptions: r.PriceOptions, Rules: r.Rules, Tools: r.Tools}
	in, out, err := compared(j, o, r.Files, func(technique string) (*Prediction, error) { return r.Predict(technique), nil })
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	blocks := []report.Block{report.Paragraph(out.conclusion)}
	for _, s := range sections(out) {
		for _, b := range s.blocks {
			if table, ok := b.(*report.Table); ok && table != nil {
				table.Title = s.heading
			}
			blocks = append(blocks, b)
		}
	}
	return append(blocks, in.Summary()), out, nil
}
