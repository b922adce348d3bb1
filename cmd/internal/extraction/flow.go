package extraction

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/plot"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/prefetch/stored"
)

// inputsShown is how many inputs a picture names.
const inputsShown = 5

// flowOf draws a meta-tool: what is given to it, its calls below what they take values
// from, and what it answers. No value is in it, not even a constant.
func flowOf(t *metatool.Tool) *plot.Flow {
	f := &plot.Flow{Alt: fmt.Sprintf("how %s makes its calls: what each takes from where", t.Name)}
	given := plot.FlowBox{Kind: plot.FlowGiven, Title: "given"}
	for _, in := range t.Inputs[:min(len(t.Inputs), inputsShown)] {
		name := in.Name
		if !in.Required {
			name += " (may be left out)"
		}
		given.Lines = append(given.Lines, name)
	}
	if more := len(t.Inputs) - inputsShown; more > 0 {
		given.Lines = append(given.Lines, fmt.Sprintf("and %d more", more))
	}
	if len(t.Inputs) == 0 {
		given.Title = "nothing is given"
	}
	f.Boxes = append(f.Boxes, given)
	for i := range t.Steps {
		step := &t.Steps[i]
		box := plot.FlowBox{Kind: plot.FlowCall, Title: fmt.Sprintf("%d %s", i+1, step.Tool), Row: 1}
		sources := map[int]bool{}
		if step.Each != nil {
			box.Kind = plot.FlowEach
			reads(step.Each, sources)
			if step.Each.Kind == metatool.BindStep {
				box.Lines = append(box.Lines, fmt.Sprintf("for each %s of %d", opened(step.Each.Path), step.Each.Step+1))
			} else {
				box.Lines = append(box.Lines, "for each element of what is given")
			}
		}
		for k := range step.Args {
			a := &step.Args[k]
			reads(&a.Binding, sources)
			if text := flowWords(&a.Binding); text == a.Name {
				box.Lines = append(box.Lines, a.Name+", as given")
			} else {
				box.Lines = append(box.Lines, a.Name+" = "+text)
			}
		}
		for source := range sources {
			if source >= 0 {
				box.Row = max(box.Row, f.Boxes[source+1].Row+1)
			}
		}
		f.Boxes = append(f.Boxes, box)
		for source := range len(f.Boxes) - 1 {
			if sources[source-1] {
				f.Arrows = append(f.Arrows, [2]int{source, i + 1})
			}
		}
	}
	return f
}

// reads adds the steps that a binding reads, and givenStep if it reads an input.
func reads(b *metatool.Binding, to map[int]bool) {
	switch b.Kind {
	case metatool.BindInput:
		to[givenStep] = true
	case metatool.BindStep:
		to[b.Step] = true
	}
	if b.Key != nil {
		reads(b.Key, to)
	}
	for i := range b.Parts {
		reads(&b.Parts[i], to)
	}
}

// givenStep stands for the inputs, the box before that of the first step.
const givenStep = -1

// flowWords says where a value comes from.
func flowWords(b *metatool.Binding) string {
	switch b.Kind {
	case metatool.BindConst:
		return "always the same"
	case metatool.BindStep:
		return fmt.Sprintf("%s of %d", opened(b.Path), b.Step+1)
	case metatool.BindElement:
		if len(b.Path) == 0 {
			return "the element itself"
		}
		return strings.TrimPrefix(opened(b.Path).String(), "$.") + " of each"
	case metatool.BindTemplate:
		return "a text made of parts"
	case metatool.BindInput:
		return b.Input
	}
	return ""
}

// opened returns a path whose filters say what they compare and not with which value.
func opened(p jsonpath.Path) jsonpath.Path {
	out := slices.Clone(p)
	for i := range out {
		if out[i].Kind == jsonpath.Filter {
			out[i].Open = true
		}
	}
	return out
}

// flowCards draws the meta-tools that are offered, each with its evidence.
func flowCards(c *extractCompilation, out *extraction) report.Gallery {
	var cards report.Gallery
	for _, t := range c.offered() {
		i := slices.IndexFunc(out.metaTools, func(m metaTool) bool { return m.Name == t.Name })
		m, f := &out.metaTools[i], flowOf(&t.Tool)
		lines := []string{fmt.Sprintf("%s in %s one by one; at most %s fewer", cli.CountOf(m.Occurrences, "time"), cli.CountOf(m.Support, "trajectory"), cli.CountOf(m.TurnsSaved, "turn"))}
		if words := replayWords(m.Replay); words != "" {
			lines = append(lines, "exact in replay at "+words+" places")
		}
		if share, known := m.Precision.Value(); known {
			text := fmt.Sprintf("after the first call the rest followed in %.0f %% of %s", 100*share, cli.CountOf(m.Moments, "case"))
			if m.PrecisionInterval.Missing() == "" {
				text += fmt.Sprintf(" (95 %%: %.0f to %.0f %%)", 100*m.PrecisionInterval.Lo, 100*m.PrecisionInterval.Hi)
			}
			lines = append(lines, text)
		}
		if m.Failures != nil && m.Anti {
			lines = append(lines, "it fails more often than its calls do, or costs more than it saves")
		}
		cards = append(cards, report.Card{Title: t.Name, Alt: f.Alt, SVG: f.SVG(), Lines: lines})
	}
	return cards
}

// readCards draws prefetch rules.
func readCards(rules []stored.Rule) report.Gallery {
	var cards report.Gallery
	for i := range rules {
		r := &rules[i]
		f := &plot.Flow{
			Alt: fmt.Sprintf("when %s has answered, %s is asked with values of the answer", r.Source.Tool, r.Target.Tool),
			Boxes: []plot.FlowBox{
				{Kind: plot.FlowGiven, Title: r.Source.Tool, Lines: []string{"has answered"}},
				{Kind: plot.FlowEach, Title: r.Target.Tool, Lines: []string{r.Target.Argument + " = " + sourceWords(r)}, Row: 1},
			},
			Arrows: [][2]int{{0, 1}},
		}
		if r.MaxElements == 1 {
			f.Boxes[1].Kind = plot.FlowCall
		}
		text := fmt.Sprintf("of %s %s used", cli.CountOf(r.Evidence.Offered, "value"), wasWere(r.Evidence.Used))
		if r.Use.Interval.Missing() == "" {
			text += fmt.Sprintf(" (%.0f %%; 95 %%: %.0f to %.0f %%)", 100*r.Use.Value, 100*r.Use.Interval.Lo, 100*r.Use.Interval.Hi)
		}
		cards = append(cards, report.Card{Title: r.ID, Alt: f.Alt, SVG: f.SVG(), Lines: []string{text, "followed " + conditionWords(r)}})
	}
	return cards
}

// sourceWords is the path of a rule's values, without a value in it.
func sourceWords(r *stored.Rule) string {
	p, err := jsonpath.Parse(r.Source.Path)
	if err != nil {
		return "a value of the answer"
	}
	return opened(p).String()
}

func wasWere(n int) string {
	if n == 1 {
		return "1 was"
	}
	return report.Grouped(n) + " were"
}
