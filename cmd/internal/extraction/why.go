package extraction

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/prefetch/stored"
)

// NewWhy returns `awo why`.
func NewWhy(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "why DIR [NAME]",
		Short: "Explain a meta-tool, or a rule for reading ahead, by its evidence",
		Long: `Explain what awo extract --out found, from the folder alone: in which trajectories and
from which call on, how often other calls came next and why the chain ends there,
where every argument comes from and what else was looked at, and why what was left
out cannot be offered. Without NAME all that was found is listed. NAME may be a rule for
reading ahead: what it does, and how often what it reads was used. No value is shown.

--svg also writes a picture of the meta-tool: its calls, and what each takes from where.

awo why-not says the same of calls that nothing was made of.`,
		Example: `  awo why tools/
  awo why tools/ mail_login_then_mail_search
  awo why tools/ mail_login_then_mail_search --svg mail.svg
  awo why tools/ get_user_details-get_order_details
  awo why tools/ --format json`,
		GroupID: cli.GroupCompile,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return cli.Usagef("`%s` wants the folder of the meta-tools, and may be given the name of one", c.CommandPath())
			}
			return nil
		},
	}
	c.Flags().String("svg", "", "write a picture of the meta-tool into this `FILE`")
	return cli.Work(a, c, why)
}

// whyOptions are the flags of `awo why`.
type whyOptions struct {
	SVG string `mapstructure:"svg"`
}

// WhyJSON is the JSON of `awo why`; docs/artefacts.md describes it.
type WhyJSON struct {
	Schema     string               `json:"schema"`
	Folder     string               `json:"folder"`
	Threshold  int                  `json:"threshold"`
	Algorithm  string               `json:"algorithm"`
	Candidates []emit.CandidateJSON `json:"candidates"`
	Prefetch   []stored.Rule        `json:"prefetch"` // rules for reading ahead: all, or the one that was named
}

func why(j *cli.Job, o whyOptions, args []string) error {
	if o.SVG != "" {
		if len(args) == 1 {
			return cli.Usagef("--svg draws one meta-tool: give its name")
		}
		if err := drawTool(j, args[0], args[1], o.SVG); err != nil {
			return err
		}
	}
	found, err := readCandidates(args[0])
	if err != nil {
		return err
	}
	rules, err := storedRules(args[0])
	if err != nil {
		return err
	}
	out := WhyJSON{Schema: "awo.why/v1", Folder: folderName(args[0]), Threshold: found.Threshold, Algorithm: found.Algorithm, Candidates: found.Candidates, Prefetch: rules}
	if len(args) == 1 {
		return j.Print(whyList(out), out)
	}
	for _, c := range found.Candidates {
		if c.Name == args[1] {
			out.Candidates, out.Prefetch = []emit.CandidateJSON{c}, []stored.Rule{}
			return j.Print(whyDocument(out, &c), out)
		}
	}
	var names []string
	for i := range rules {
		names = append(names, rules[i].ID)
		if rules[i].ID == args[1] {
			out.Candidates, out.Prefetch = []emit.CandidateJSON{}, rules[i:i+1]
			return j.Print(ruleDocument(&rules[i]), out)
		}
	}
	for _, c := range found.Candidates {
		names = append(names, c.Name)
	}
	e := diag.New(diag.Pos{File: filepath.ToSlash(filepath.Join(args[0], emit.CandidatesName))}, "meta-tool-unknown", "nothing of the name %q was found", args[1])
	if near := diag.Nearest(args[1], names); near != "" {
		e.Notes = append(e.Notes, diag.Note{Msg: fmt.Sprintf("did you mean %q?", near)})
	}
	return e
}

// drawTool writes a picture of a meta-tool in a folder.
func drawTool(j *cli.Job, dir, name, file string) error {
	tools, err := ReadTools(j, dir)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range tools {
		if t.Name == name {
			folder, base := cli.SplitOut(file)
			return emit.Write(folder, []emit.File{{Name: base, Data: flowOf(t).SVG()}})
		}
		names = append(names, t.Name)
	}
	e := diag.New(diag.Pos{File: filepath.ToSlash(dir)}, "meta-tool-unknown", "no meta-tool of the name %q is offered, and only those are drawn", name)
	if near := diag.Nearest(name, names); near != "" {
		e.Notes = append(e.Notes, diag.Note{Msg: fmt.Sprintf("did you mean %q?", near)})
	}
	return e
}

// readCandidates reads what was found, from a folder that `awo extract --out` wrote.
func readCandidates(dir string) (found emit.CandidatesJSON, err error) {
	name := filepath.Join(dir, emit.CandidatesName)
	src, err := readArtefact(name)
	if err != nil {
		return found, err
	}
	if json.Unmarshal(src, &found) != nil || found.Schema != emit.CandidatesSchema {
		return found, diag.New(diag.Pos{File: filepath.ToSlash(name)}, "artefact-unreadable", "it is not JSON of the form %s, which awo extract writes", emit.CandidatesSchema)
	}
	if found.Candidates == nil {
		found.Candidates = []emit.CandidateJSON{}
	}
	for i := range found.Candidates {
		c := &found.Candidates[i]
		complete(c)
		for k := range c.Places {
			c.Places[k] = seenFrom(dir, c.Places[k])
		}
	}
	return found, nil
}

// seenFrom names the file of a place from where awo runs, as its reader would: the
// folder of artefacts names it from itself.
func seenFrom(dir string, p emit.PlaceJSON) emit.PlaceJSON {
	file := path.Join(filepath.ToSlash(dir), p.File)
	if path.IsAbs(p.File) || filepath.IsAbs(dir) || p.File == path.Base(p.File) {
		return p
	}
	p.Trajectory, p.File = strings.ReplaceAll(p.Trajectory, p.File, file), file
	return p
}

// complete makes empty lists of those that a file may lack.
func complete(c *emit.CandidateJSON) {
	c.Tools, c.Arguments = append([]string{}, c.Tools...), append([]emit.WhyArgument{}, c.Arguments...)
	c.Refusals, c.Places = append([]bind.Refusal{}, c.Refusals...), append([]emit.PlaceJSON{}, c.Places...)
	c.Ending.Next = append([]compile.Continuation{}, c.Ending.Next...)
	for i := range c.Arguments {
		c.Arguments[i].Others = append([]emit.OtherJSON{}, c.Arguments[i].Others...)
	}
}

// folderName names a folder without what is a matter of the machine.
func folderName(dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Base(dir)
	}
	return filepath.ToSlash(filepath.Clean(dir))
}

func whyList(out WhyJSON) *report.Document {
	d := &report.Document{Title: "What was found, and why each chain ends"}
	ahead := prefetchTable(out.Prefetch)
	if len(out.Candidates) == 0 {
		d.Answer = "No meta-tool was found."
		if ahead != nil {
			d.Add(ahead)
		}
		return d
	}
	emitted := 0
	for i := range out.Candidates {
		if out.Candidates[i].Status == statusEmitted {
			emitted++
		}
	}
	d.Answer = fmt.Sprintf("Offered as meta-tools: %d of %s of calls that recur.", emitted, cli.CountOf(len(out.Candidates), "chain"))
	d.Next = []string{"awo why " + out.Folder + " " + out.Candidates[0].Name + " # where it occurs, and where its arguments come from"}
	table := report.TableOf("found", "", out.Candidates, []report.Column{
		{Key: "name", Max: 42},
		{Key: "status", Cell: report.By(func(c *emit.CandidateJSON) report.Cell { return report.Text(report.Escape(c.Status)) })},
		{Key: "support", Title: "trajectories"},
		{Key: "occurrences", Title: "times"},
		{Key: "turns_saved", Title: "turns saved"},
		{Key: "reason", Title: "rejected because", Max: 40, Wrap: true},
		{Key: "ending", Title: "ends because", Max: 64, Wrap: true, Cell: report.By(func(c *emit.CandidateJSON) report.Cell { return report.Name(endingWords(c, out.Threshold)) })},
	})
	table.Note("Turns saved are upper bounds, in order of extraction. `awo why %s NAME` says where each occurs and where its arguments come from.", out.Folder)
	d.Add(table)
	if ahead != nil {
		d.Add(ahead)
	}
	return d
}

// endingWords says why a candidate is not longer.
func endingWords(c *emit.CandidateJSON, threshold int) string {
	e := &c.Ending
	if e.Majority != nil {
		return majorityWords(e.Majority, threshold)
	}
	var parts []string
	for _, n := range e.Next[:min(len(e.Next), 3)] {
		parts = append(parts, fmt.Sprintf("%s comes next %s", n.Tool, timesOf(n.Occurrences)))
	}
	for _, stop := range []struct {
		n    int
		what string
	}{{e.User, "a user message"}, {e.Barrier, "a barrier"}, {e.Cut, "a new execution"}, {e.Done, "no further call"}} {
		if stop.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", stop.what, timesOf(stop.n)))
		}
	}
	return fmt.Sprintf("of %s: %s", timesOf(c.Occurrences), strings.Join(parts, ", "))
}

func timesOf(n int) string {
	if n == 1 {
		return "once"
	}
	return report.Grouped(n) + " times"
}

// majorityWords says what Algorithm 1 decided in a state.
func majorityWords(m *compile.Majority, threshold int) string {
	leave := cli.CountOf(m.Leave, "trajectory")
	switch m.Code {
	case "no-child":
		return "no call is made next in one go"
	case "no-majority":
		return fmt.Sprintf("of %s that leave the state %s go on to %s, the most; more than half would be needed", leave, report.Grouped(m.Joined), m.Child)
	case "child-rare":
		return fmt.Sprintf("%s go on to %s, and %s are needed", cli.CountOf(m.Joined, "trajectory"), m.Child, report.Grouped(threshold))
	case "chain-rare":
		return fmt.Sprintf("the majority (%s of %s) goes on to %s, and of those that made the whole chain %s do; %s are needed", report.Grouped(m.Joined), leave, m.Child, report.Grouped(m.Whole), report.Grouped(threshold))
	case "loop":
		return fmt.Sprintf("%s, which comes next, leads back into the chain", m.Child)
	case "other-majority":
		return fmt.Sprintf("the majority (%s of %s that leave the state) goes on to %s", report.Grouped(m.Joined), leave, m.Child)
	}
	return fmt.Sprintf("%s comes next (%s of %s), in chains that were taken before it", m.Child, report.Grouped(m.Joined), leave)
}

// whyDocument says all about one candidate.
func whyDocument(out WhyJSON, c *emit.CandidateJSON) *report.Document {
	d := &report.Document{Title: c.Name}
	intro := fmt.Sprintf("%s: made in a row %s in %s; saves at most %s.", report.Escape(strings.Join(c.Tools, " → ")), timesOf(c.Occurrences), cli.CountOf(c.Support, "trajectory"), cli.CountOf(c.TurnsSaved, "calling turn"))
	if c.Reason != "" {
		intro += " It is rejected: " + report.Escape(reasonText(c.Reason)) + "."
	}
	d.Add(report.Paragraph(intro))
	d.Section("Why the chain ends here", report.Paragraph(sentence(endingWords(c, out.Threshold))), nextTable(c))
	d.Section("Where arguments come from", argumentsTable(c).IfAny())
	places := report.TableOf("places", "", c.Places, []report.Column{
		{Key: "trajectory", Max: 40}, {Key: "file", Max: 50, File: true}, {Key: "line"}, {Key: "call", Title: "from call"}, {Key: "times"},
	})
	places.NoteIf(c.Support > len(c.Places), "And in %s more.", cli.CountOf(c.Support-len(c.Places), "trajectory"))
	d.Section("Where it occurs", places.IfAny())
	return d
}

func sentence(s string) string {
	s = report.Escape(s)
	if s == "" {
		return s
	}
	_, first := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:first]) + s[first:] + "."
}

// nextTable lists what comes behind the occurrences.
func nextTable(c *emit.CandidateJSON) *report.Table {
	table := report.NewTable("next", "",
		report.Column{Key: "next", Title: "behind it comes", Max: 42},
		report.Column{Key: "occurrences", Title: "times", Align: report.Right},
		report.Column{Key: "trajectories", Align: report.Right},
	)
	rest := c.Occurrences
	for _, n := range c.Ending.Next {
		rest -= n.Occurrences
		table.Add(report.Name(n.Tool), report.Int(n.Occurrences), report.Int(n.Trajectories))
	}
	for _, stop := range []struct {
		n    int
		what string
	}{{c.Ending.User, "(a user message)"}, {c.Ending.Barrier, "(a barrier)"}, {c.Ending.Cut, "(a new execution)"}, {c.Ending.Done, "(no further call)"}} {
		if rest -= stop.n; stop.n > 0 {
			table.Add(report.Text(stop.what), report.Int(stop.n), report.Text(""))
		}
	}
	if rest > 0 {
		table.Add(report.Text("(other calls)"), report.Int(rest), report.Text(""))
	}
	return table
}

func argumentsTable(c *emit.CandidateJSON) *report.Table {
	table := report.TableOf("arguments", "", c.Arguments, []report.Column{
		{Key: "call", Align: report.Right, Cell: report.By(func(a *emit.WhyArgument) report.Cell { return report.Int(a.Step + 1) })},
		{Key: "tool", Max: 32, Cell: report.By(func(a *emit.WhyArgument) report.Cell {
			if a.Step >= 0 && a.Step < len(c.Tools) {
				return report.Name(c.Tools[a.Step])
			}
			return report.Name("")
		})},
		{Key: "argument", Max: 24},
		{Key: "from", Title: "comes from", Max: 32, Cell: report.By(func(a *emit.WhyArgument) report.Cell { return report.Name(giverWords(a.Kind, a.From)) })},
		{Key: "agrees", Align: report.Right, Cell: report.By(func(a *emit.WhyArgument) report.Cell {
			if a.Kind == "input" {
				return report.Text("")
			}
			return report.Int(a.Agree)
		})},
		{Key: "times", From: "occurrences"},
		{Key: "others", Title: "looked at too", Max: 64, Wrap: true, Cell: report.By(func(a *emit.WhyArgument) report.Cell { return report.Name(othersWords(a)) })},
		{Key: "refused", Max: 32, Cell: report.By(func(a *emit.WhyArgument) report.Cell {
			code := ""
			for _, r := range c.Refusals {
				if r.Step == a.Step && (r.Argument == a.Argument || r.Argument == "") {
					code = r.Code
				}
			}
			return report.Name(code)
		})},
	})
	table.Note("Agrees: in how many occurrences that gives what was recorded. In brackets: the same of what was looked at and not taken, by all its uses in the traces where a link was followed, and why not.")
	return table
}

func giverWords(kind string, from *int) string {
	switch {
	case kind == "input":
		return "an input"
	case kind == "const":
		return "a constant"
	case from != nil:
		return fmt.Sprintf("the result of call %d", *from+1)
	case kind == "element":
		return "the element of the list"
	case kind == "step":
		return "an earlier result"
	}
	return "a " + kind
}

func othersWords(a *emit.WhyArgument) string {
	var words []string
	for _, o := range a.Others[:min(len(a.Others), 3)] {
		agree, of := o.LinkAgree, o.LinkUses
		if of == 0 {
			agree, of = o.Agree, o.Occurrences
		}
		words = append(words, fmt.Sprintf("%s (%d of %d: %s)", giverWords(o.Kind, o.From), agree, of, o.Reason))
	}
	if n := len(a.Others) - 3; n > 0 {
		words = append(words, fmt.Sprintf("%d more", n))
	}
	return strings.Join(words, ", ")
}
