package extraction

import (
	"encoding/json"
	"fmt"
	"os"
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
		Use:   "why DIR [NAME | TOOL TOOL ... [FILES...]]",
		Short: "Explain a meta-tool or a prefetch rule, or why there is none",
		Long: `Explain what awo extract --out found: where it occurs, why the chain ends there, where
every argument comes from, and why what was left out cannot be offered. Without NAME all that
was found is listed. NAME may be a prefetch rule. No value is shown.

With two names of tools or more it explains why their calls in a row are no meta-tool. What
DIR does not say is found out from the traces: FILES, or those that its manifest names, with
the options that it names.

` + cli.FilesHelp,
		Example: `  awo why tools/
  awo why tools/ mail_login_then_mail_search
  awo why tools/ mail_login_then_mail_search --svg mail.svg
  awo why tools/ get_user_details-get_order_details
  awo why tools/ mail_search mail_read
  awo why tools/ mail_search mail_read traces/ --rules rules.yaml`,
		GroupID: cli.GroupCompile,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("`%s` wants the folder of the meta-tools, and may be given a name, or the names of tools", c.CommandPath())
			}
			if names, files := asked(args); len(files) > 0 && len(names) < 2 {
				return cli.Usagef("`%s`: want two tools or more before the traces", c.CommandPath())
			}
			return nil
		},
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices)
	c.Flags().String("svg", "", "write a picture of the meta-tool into this `FILE`")
	explain := func(j *cli.Job, o whyOptions, args []string) error { return why(a, j, o, args) }
	return recalling(cli.Work(a, c, explain), func(_ *cobra.Command, args []string) (dir string, kept, files []string) {
		names, files := asked(args)
		if len(names) < 2 {
			return "", nil, nil
		}
		return args[0], args[:1+len(names)], files
	})
}

// asked returns the names behind the folder, and the traces behind those: the first
// argument that is a file or a pattern, and all that follow.
func asked(args []string) (names, files []string) {
	for i, name := range args[1:] {
		if _, err := os.Stat(name); err == nil || name == "-" || strings.ContainsAny(name, "*?[") {
			return args[1 : 1+i], args[1+i:]
		}
	}
	return args[1:], nil
}

// whyOptions are the flags of `awo why`.
type whyOptions struct {
	SVG string `mapstructure:"svg"`
}

// whyFigures are those of `awo why`.
type whyFigures struct {
	Folder    string `json:"folder"`
	Threshold int    `json:"threshold"`
	Algorithm string `json:"algorithm"`
}

func why(a *cli.App, j *cli.Job, o whyOptions, args []string) error {
	names, files := asked(args)
	switch {
	case o.SVG != "" && len(names) != 1:
		return cli.Usagef("--svg draws one meta-tool: give its name")
	case o.SVG != "":
		if err := drawTool(j, args[0], names[0], o.SVG); err != nil {
			return err
		}
	}
	found, err := readCandidates(args[0])
	if err != nil {
		return err
	}
	figures := whyFigures{folderName(args[0]), found.Threshold, found.Algorithm}
	if len(names) > 1 {
		out := &absent{absenceFigures: absenceFigures{whyFigures: figures, Tools: names}}
		return out.why(a, j, found, args[0], files)
	}
	rules, err := storedRules(args[0])
	if err != nil {
		return err
	}
	d := &report.Document{Figures: figures}
	if len(names) == 0 {
		whyList(d, figures, found.Candidates, rules)
		return j.Result(d)
	}
	return whyOne(j, d, found, rules, args[0], names[0])
}

// whyOne explains what has a name.
func whyOne(j *cli.Job, d *report.Document, found emit.CandidatesJSON, rules []stored.Rule, dir, name string) error {
	var names []string
	for i := range found.Candidates {
		names = append(names, found.Candidates[i].Name)
		if names[i] == name {
			whyCandidate(d, found.Threshold, found.Candidates[i:i+1])
			return j.Result(d)
		}
	}
	for i := range rules {
		names = append(names, rules[i].ID)
		if rules[i].ID == name {
			whyRule(d, rules[i:i+1])
			return j.Result(d)
		}
	}
	e := diag.New(diag.Pos{File: filepath.ToSlash(filepath.Join(dir, emit.CandidatesName))}, "meta-tool-unknown", "nothing of the name %q was found", name)
	if near := diag.Nearest(name, names); near != "" {
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
			return j.WriteFile(file, flowOf(t).SVG())
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
	src, err := readArtefact(dir, emit.CandidatesName)
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

func whyList(d *report.Document, f whyFigures, candidates []emit.CandidateJSON, rules []stored.Rule) {
	d.Title, d.Answer = "What was found, and why each chain ends", "No meta-tool was found."
	emitted := 0
	for i := range candidates {
		if candidates[i].Status == statusEmitted {
			emitted++
		}
	}
	if len(candidates) > 0 {
		d.Answer = fmt.Sprintf("Offered as meta-tools: %d of %s of calls that recur.", emitted, cli.CountOf(len(candidates), "chain"))
		d.Next = []string{"awo why " + f.Folder + " " + candidates[0].Name + " # where it occurs, and where its arguments come from"}
	}
	table := report.TableOf("candidates", "", candidates, []report.Column{
		{Key: "name", Max: 42},
		{Key: "status", Cell: report.By(func(c *emit.CandidateJSON) report.Cell { return report.Text(report.Escape(c.Status)) })},
		{Key: "support", Title: "trajectories"},
		{Key: "occurrences", Title: "times"},
		{Key: "turns_saved", Title: "turns saved"},
		{Key: "reason", Title: "rejected because", Max: 40, Wrap: true},
		{Key: "ending", Title: "ends because", Max: 64, Wrap: true, Cell: report.By(func(c *emit.CandidateJSON) report.Cell { return report.Name(endingWords(c, f.Threshold)) })},
	})
	table.Note("Turns saved, at most: of what is offered those that it adds to the others, of what was rejected what it would save alone. `awo why %s NAME` says where each occurs and where its arguments come from.", f.Folder)
	d.Add(table.IfAny(), prefetchTable(rules))
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

// whyCandidate says all about one candidate.
func whyCandidate(d *report.Document, threshold int, one []emit.CandidateJSON) {
	c := &one[0]
	d.Title = c.Name
	d.Add(report.TableOf("candidates", "", one, nil).Hidden())
	intro := fmt.Sprintf("%s: made in a row %s in %s; saves at most %s.", report.Escape(strings.Join(c.Tools, " → ")), timesOf(c.Occurrences), cli.CountOf(c.Support, "trajectory"), cli.CountOf(c.TurnsSaved, "calling turn"))
	if c.Reason != "" {
		intro += " It is rejected: " + report.Escape(reasonText(c.Reason)) + "."
	}
	d.Add(report.Paragraph(intro))
	d.Section("Why the chain ends here", report.Paragraph(sentence(endingWords(c, threshold))))
	d.Section("Where arguments come from", argumentsTable(c).IfAny().View())
	places := report.TableOf("places", "", c.Places, []report.Column{
		{Key: "trajectory", Max: 40}, {Key: "file", Max: 50}, {Key: "line"}, {Key: "call", Title: "from call"}, {Key: "times"},
	})
	places.NoteIf(c.Support > len(c.Places), "And in %s more.", cli.CountOf(c.Support-len(c.Places), "trajectory"))
	d.Section("Where it occurs", places.IfAny().View())
}

func sentence(s string) string {
	s = report.Escape(s)
	if s == "" {
		return s
	}
	_, first := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:first]) + s[first:] + "."
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
