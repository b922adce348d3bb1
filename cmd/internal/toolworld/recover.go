package toolworld

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/toolgraph"
	"github.com/awo-dev/awo/trace"
)

func round4(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// substitute is a tool that can stand in for another.
type substitute struct {
	Tool   string  `json:"tool"`
	Need   float64 `json:"need"` // share of what it requires that the tool is given
	Give   float64 `json:"give"` // share of what is used of the tool's results that it gives
	Matter float64 `json:"matter"`
}

// substitutes is `awo tools path --substitutes`.
func substitutes(j *cli.Job, o pathOptions, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("--substitutes: name the tool that others are to stand in for")
	}
	w, g, err := o.graph(j, args[1:])
	if err != nil {
		return err
	}
	defer w.close()
	at, err := tool(g, args[0])
	if err != nil {
		return err
	}
	out := struct {
		Tool   string `json:"tool"`
		Effect string `json:"effect"`
		Reason string `json:"reason"` // why there are none
	}{Tool: g.Tools[at].Name, Effect: string(g.Tools[at].Effect)}
	list := g.Substitutes(at, nil)
	if len(list) == 0 {
		out.Reason = noSubstitute(g, at)
	}
	d := &report.Document{Title: "Substitutes of " + out.Tool, Figures: out}
	d.Add(report.Paragraph(out.Reason), substituteTable(g, list))
	return j.Result(d)
}

func substituteTable(g *toolgraph.Graph, list []toolgraph.Substitute) *report.Table {
	rows := cli.Map(list, func(s *toolgraph.Substitute) substitute {
		return substitute{g.Tools[s.Tool].Name, round4(s.Need), round4(s.Give), round4(s.Cosine)}
	})
	table := report.TableOf("substitutes", "", rows, []report.Column{
		{Key: "tool", Max: 60},
		{Key: "need", Title: "of what it requires is there", Share: true, Unit: "%"},
		{Key: "give", Title: "of what is used it gives", Share: true, Unit: "%"},
		{Key: "matter", Title: "same matter", Digits: 2},
	})
	table.Note("Same matter is the cosine of names and descriptions. These are hints: schemas and words say so, and nobody has tried.")
	return table.IfAny()
}

// noSubstitute says why a tool has no substitutes.
func noSubstitute(g *toolgraph.Graph, at int) string {
	t := &g.Tools[at]
	switch {
	case t.Effect == toolgraph.Writes:
		return "The tool writes. A write that failed may have been done, so nothing stands in for it."
	case t.Effect == toolgraph.Unknown:
		return "Nothing says that the tool only reads, neither its definition nor its name, so nothing stands in for it."
	case len(t.Outputs) == 0:
		return "Nothing says what the tool returns, neither a schema nor recorded results, so nothing is known to return the same."
	}
	return "No other tool that reads takes what it is given and gives what is used of its results."
}

// recoveryFigures are those of the ways around a failure.
type recoveryFigures struct {
	Failed string `json:"failed"`
	Writes bool   `json:"writes"`     // the failed tool may have changed something: do not repeat it
	Stop   int    `json:"stop_after"` // attempts
}

// otherStep is a step to another target.
type otherStep struct {
	Target string `json:"target"`
	step
}

const codePathShape = "path-shape"

// readPath reads a path of a graph.
func readPath(j *cli.Job, g *toolgraph.Graph, file string) (*toolgraph.Path, error) {
	data, err := readFile(j, "path", file)
	if err != nil {
		return nil, err
	}
	var in struct {
		Schema, Command string
		Figures         pathFigures
		Tables          struct{ Steps struct{ Rows []step } }
	}
	if _, err := trace.ParseValue(data); err != nil || json.Unmarshal(data, &in) != nil || in.Schema != report.Schema || in.Command != "tools path" || len(in.Tables.Steps.Rows) == 0 {
		return nil, diag.New(diag.Pos{File: file, Line: 1, Col: 1}, codePathShape, "this is no path: `awo tools path --format json` prints one")
	}
	p := &toolgraph.Path{}
	if p.Target, err = tool(g, in.Figures.Target); err != nil {
		return nil, err
	}
	for _, s := range in.Tables.Steps.Rows {
		one := toolgraph.PathStep{For: -1, Give: s.Give, Take: "$." + strings.TrimPrefix(s.Take, "$."), Weight: s.Weight}
		if one.Tool, err = tool(g, s.Tool); err != nil {
			return nil, err
		}
		if s.For != "" {
			if one.For, err = tool(g, s.For); err != nil {
				return nil, err
			}
		}
		p.Steps = append(p.Steps, one)
	}
	return p, nil
}

// recoverPath is `awo tools path --recover`.
func recoverPath(j *cli.Job, o pathOptions, files []string) error {
	if o.Failed == "" {
		return cli.Usagef("--failed: name the tool that failed")
	}
	w, g, err := o.graph(j, files)
	if err != nil {
		return err
	}
	defer w.close()
	failed, err := tool(g, o.Failed)
	if err != nil {
		return err
	}
	p, err := readPath(j, g, o.Recover)
	if err != nil {
		return err
	}
	r := toolgraph.NewNavigator(g).Recover(p, failed, o.Task)
	out := recoveryFigures{Failed: g.Tools[failed].Name, Writes: r.Writes, Stop: toolgraph.MostAttempts}
	d := &report.Document{Title: "Ways around " + out.Failed, Figures: out}
	if out.Writes {
		d.Add(report.Paragraph("The tool is not known to only read, so it may have been done although it failed: look before it is called again."))
	}
	none := func(is bool, text string) report.Paragraph {
		if is {
			return report.Paragraph(text)
		}
		return ""
	}
	d.Section("In its place", none(len(r.Substitutes) == 0, noSubstitute(g, failed)), substituteTable(g, r.Substitutes))
	d.Section("Another way", none(r.Reroute == nil, "No other tool gives what was needed of it."), stepTable("reroute", steps(g, r.Reroute)).IfAny())
	var others []otherStep
	for i := range r.Switch {
		for _, s := range steps(g, &r.Switch[i]) {
			others = append(others, otherStep{g.Tools[r.Switch[i].Target].Name, s})
		}
	}
	table := report.TableOf("switch", "", others, []report.Column{{Key: "target", Max: 50}, {Key: "tool", Max: 50}, {Key: "evidence", Words: true}, {Key: "for", Title: "before", Max: 50}, {Key: "effect", Words: true}})
	d.Section("Another target", table.IfAny())
	d.Add(report.Paragraph("Try at most three of these, in this order, then hand back."))
	return j.Result(d)
}
