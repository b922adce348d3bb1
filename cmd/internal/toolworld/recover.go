package toolworld

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/toolgraph"
	"github.com/awo-dev/awo/trace"
)

func round4(x float64) float64 { return math.Round(x*1e4) / 1e4 }

func newSubstitutes(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "substitutes TOOL [FILES...]",
		Short: "Name the tools that can stand in for a tool",
		Long: `Name the tools that take what a tool is given and give what others use of its results,
with descriptions about the same matter. Only tools that read have substitutes, and
only such are named: a write that failed may have been done.

` + graphFromHelp + "\n" + cli.FilesHelp,
		Example: `  awo tools substitutes get_weather --graph world/graph.json
  awo tools substitutes 'GET /movie/{movie_id}/similar' --catalog tmdb.json`,
		Args: cobra.MinimumNArgs(1),
	}
	addGraphFrom(c.Flags())
	return cli.Work(a, c, substitutes)
}

// SubstitutesJSON is the JSON of `awo tools substitutes`.
type SubstitutesJSON struct {
	Schema      string           `json:"schema"`
	Tool        string           `json:"tool"`
	Effect      string           `json:"effect"`
	Substitutes []substituteJSON `json:"substitutes"`
	Reason      string           `json:"reason"` // why there are none
}

type substituteJSON struct {
	Tool   string  `json:"tool"`
	Need   float64 `json:"need"` // share of what it requires that the tool is given
	Give   float64 `json:"give"` // share of what is used of the tool's results that it gives
	Matter float64 `json:"matter"`
}

func substitutes(j *cli.Job, o graphFrom, args []string) error {
	w, g, err := o.graph(j, args[1:])
	if err != nil {
		return err
	}
	defer w.close()
	at, err := tool(g, args[0])
	if err != nil {
		return err
	}
	list := g.Substitutes(at, nil)
	out := SubstitutesJSON{Schema: "awo.tool-substitutes/v1", Tool: g.Tools[at].Name, Effect: string(g.Tools[at].Effect), Substitutes: substitutesJSON(g, list)}
	if len(list) == 0 {
		out.Reason = noSubstitute(g, at)
	}
	d := &report.Document{Title: "Substitutes of " + out.Tool}
	if out.Reason != "" {
		d.Add(report.Paragraph(out.Reason))
	} else {
		d.Add(substituteTable(out.Substitutes))
	}
	return j.Print(d, out)
}

func substitutesJSON(g *toolgraph.Graph, list []toolgraph.Substitute) []substituteJSON {
	out := []substituteJSON{}
	for _, s := range list {
		out = append(out, substituteJSON{g.Tools[s.Tool].Name, round4(s.Need), round4(s.Give), round4(s.Cosine)})
	}
	return out
}

func substituteTable(list []substituteJSON) *report.Table {
	table := report.TableOf("substitutes", "", list, []report.Column{
		{Key: "tool", Max: 60},
		{Key: "need", Title: "of what it requires is there", Share: true, Unit: "%"},
		{Key: "give", Title: "of what is used it gives", Share: true, Unit: "%"},
		{Key: "matter", Title: "same matter", Digits: 2},
	})
	table.Note("Same matter is the cosine of names and descriptions. These are hints: schemas and words say so, and nobody has tried.")
	return table
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

type recoverOptions struct {
	graphFrom `mapstructure:",squash"`
	Failed    string `mapstructure:"failed"`
	Task      string `mapstructure:"task"`
}

func newRecover(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "recover PATH [FILES...]",
		Short: "Name the ways around a tool that failed",
		Long: `Name the ways around a tool that failed as a step of a path, in the order in which they
are to be tried: a substitute; another way to the step that needed its result, with all
that earlier steps gave as known; with --task, other targets that the words name. After
three of them an agent should stop. These are hints: nothing is called, and no way goes
through a tool that writes.

PATH is the JSON that ` + "`awo tools path --format json`" + ` prints, as a file or - for the
standard input. --failed names the tool.

` + graphFromHelp + "\n" + cli.FilesHelp,
		Example: `  awo tools path send_invoice --graph world/graph.json --format json >path.json
  awo tools recover path.json --failed find_customer --graph world/graph.json`,
		Args: cobra.MinimumNArgs(1),
	}
	f := c.Flags()
	addGraphFrom(f)
	f.String("failed", "", "the `TOOL` that failed")
	f.String("task", "", "the `TEXT` of the task")
	return cli.Work(a, c, recoverPath)
}

// RecoveryJSON is the JSON of `awo tools recover`.
type RecoveryJSON struct {
	Schema      string           `json:"schema"`
	Failed      string           `json:"failed"`
	Writes      bool             `json:"writes"` // the failed tool may have changed something: do not repeat it
	Substitutes []substituteJSON `json:"substitutes"`
	Reroute     []stepJSON       `json:"reroute"` // another way to the step that needed the result
	Switch      []otherJSON      `json:"switch"`
	Stop        int              `json:"stop_after"` // attempts
}

type otherJSON struct {
	Target string     `json:"target"`
	Steps  []stepJSON `json:"steps"`
}

const codePathShape = "path-shape"

// readPath reads a path of a graph.
func readPath(j *cli.Job, g *toolgraph.Graph, file string) (*toolgraph.Path, error) {
	data, err := readFile(j, "path", file)
	if err != nil {
		return nil, err
	}
	var in PathJSON
	if _, err := trace.ParseValue(data); err != nil || json.Unmarshal(data, &in) != nil || in.Schema != "awo.tool-path/v1" || len(in.Steps) == 0 {
		return nil, diag.New(diag.Pos{File: file, Line: 1, Col: 1}, codePathShape, "this is no path: `awo tools path --format json` prints one")
	}
	p := &toolgraph.Path{}
	if p.Target, err = tool(g, in.Target); err != nil {
		return nil, err
	}
	for _, s := range in.Steps {
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

func recoverPath(j *cli.Job, o recoverOptions, args []string) error {
	if o.Failed == "" {
		return cli.Usagef("--failed: name the tool that failed")
	}
	w, g, err := o.graph(j, args[1:])
	if err != nil {
		return err
	}
	defer w.close()
	failed, err := tool(g, o.Failed)
	if err != nil {
		return err
	}
	p, err := readPath(j, g, args[0])
	if err != nil {
		return err
	}
	r := toolgraph.NewNavigator(g).Recover(p, failed, o.Task)
	out := RecoveryJSON{
		Schema: "awo.tool-recovery/v1", Failed: g.Tools[failed].Name, Writes: r.Writes, Substitutes: substitutesJSON(g, r.Substitutes),
		Reroute: []stepJSON{}, Switch: []otherJSON{}, Stop: toolgraph.MostAttempts,
	}
	if r.Reroute != nil {
		out.Reroute = steps(g, r.Reroute)
	}
	for i := range r.Switch {
		out.Switch = append(out.Switch, otherJSON{g.Tools[r.Switch[i].Target].Name, steps(g, &r.Switch[i])})
	}
	return j.Print(recoveryDocument(g, failed, out), out)
}

func recoveryDocument(g *toolgraph.Graph, failed int, out RecoveryJSON) *report.Document {
	d := &report.Document{Title: "Ways around " + out.Failed}
	if out.Writes {
		d.Add(report.Paragraph("The tool is not known to only read, so it may have been done although it failed: look before it is called again."))
	}
	if len(out.Substitutes) > 0 {
		d.Section("In its place", substituteTable(out.Substitutes))
	} else {
		d.Section("In its place", report.Paragraph(noSubstitute(g, failed)))
	}
	if len(out.Reroute) > 0 {
		d.Section("Another way", stepTable(out.Reroute))
	} else {
		d.Section("Another way", report.Paragraph("No other tool gives what was needed of it."))
	}
	for _, s := range out.Switch {
		d.Section("Another target: "+s.Target, stepTable(s.Steps))
	}
	d.Add(report.Paragraph("Try at most three of these, in this order, then hand back."))
	return d
}
