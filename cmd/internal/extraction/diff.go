package extraction

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/changes"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/prefetch/stored"
)

// diffOptions are the flags of `awo diff`.
type diffOptions struct {
	FailOn string `mapstructure:"fail-on"`
}

// NewDiff returns `awo diff`.
func NewDiff(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two sets of meta-tools, and find breaking changes",
		Long: `Compare the artefacts in two folders that awo extract --out wrote: meta-tools, their
inputs, calls, bindings and results, the tools that they call, and prefetch rules.

Breaking is what those notice who call the meta-tools: one is gone, wants an input that it
did not, allows less in one, makes other calls, returns something else, or calls a tool that
is gone or takes other arguments. No value is shown.`,
		Example: `  awo diff tools/ new-tools/
  awo diff tools/ new-tools/ --fail-on breaking
  awo diff tools/ new-tools/ --format markdown`,
		GroupID: cli.GroupCompile,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("`%s` wants two folders: the old artefacts and the new ones", c.CommandPath())
			}
			return nil
		},
	}
	c.Flags().Var(cli.NewChoice("none", "breaking", "any"), "fail-on", "which differences make the exit code 1")
	return cli.Work(a, c, compare)
}

// difference is what differs between two sets.
type difference struct {
	diffFigures
	changes []changes.Change
}

// diffFigures are those of `awo diff`.
type diffFigures struct {
	Old      setFigures `json:"old"`
	New      setFigures `json:"new"`
	Breaking int        `json:"breaking"` // of the changes
	Passed   bool       `json:"passed"`   // what the exit code says
}

type setFigures struct {
	Folder     string `json:"folder"`
	MetaTools  int    `json:"meta_tools"`
	TurnsSaved int    `json:"turns_saved"` // upper bound, of all together
	Tools      *int   `json:"tools"`       // that the traces call; null if the artefacts do not say
}

func compare(j *cli.Job, o diffOptions, args []string) error {
	var sets [2]*changes.Set
	var out difference
	for i, dir := range args {
		set, err := readSet(dir)
		if err != nil {
			return err
		}
		sets[i] = set
		*[]*setFigures{&out.Old, &out.New}[i] = setOf(dir, set)
	}
	out.changes = changes.Compare(sets[0], sets[1])
	out.Breaking = breaking(out.changes)
	out.Passed = o.FailOn == "none" || out.Breaking == 0 && (o.FailOn == "breaking" || len(out.changes) == 0)
	if err := j.Result(diffDocument(out)); err != nil {
		return err
	}
	if !out.Passed {
		return cli.ErrProblems
	}
	return nil
}

// readSet reads what is compared of the artefacts in a folder.
func readSet(dir string) (*changes.Set, error) {
	metatools, err := readArtefact(dir, emit.MetaToolsName)
	if err != nil {
		if m, made := readManifest(dir); !made || m.makes(emit.MetaToolsName) {
			return nil, err
		}
		metatools = nil // nothing is offered
	}
	candidates, err := readArtefact(dir, emit.CandidatesName)
	if err != nil {
		candidates = nil // evidence need not be there
	}
	var rules []byte
	if _, err := os.Lstat(filepath.Join(dir, stored.Name)); err == nil {
		if rules, err = readArtefact(dir, stored.Name); err != nil {
			return nil, err
		}
	}
	return parseSet(dir, metatools, candidates, rules)
}

// parseSet reads what is compared of artefacts, each of them nil where there is none.
func parseSet(dir string, metatools, candidates, rules []byte) (*changes.Set, error) {
	unreadable := func(name, what string, err error) error {
		return diag.New(diag.Pos{File: filepath.ToSlash(filepath.Join(dir, name))}, "artefact-unreadable", "these are not %s: %s", what, err)
	}
	set := &changes.Set{}
	if metatools != nil {
		var err error
		if set, err = changes.Parse(metatools, candidates); err != nil {
			return nil, unreadable(emit.MetaToolsName, "meta-tools", err)
		}
	}
	if rules != nil {
		if err := set.ReadRules(rules); err != nil {
			return nil, unreadable(stored.Name, "prefetch rules", err)
		}
	}
	return set, nil
}

// readArtefact reads a file that awo wrote, by its name in the manifest.
func readArtefact(dir, name string) ([]byte, error) {
	shown := filepath.ToSlash(filepath.Join(dir, name))
	// The folder may be anybody's: a symbolic link does not lead out of it.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, cli.FileProblem(shown, err)
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, cli.FileProblem(shown, err)
	case !info.Mode().IsRegular():
		return nil, diag.New(diag.Pos{File: shown}, "file-unreadable", "it is not a regular file")
	case info.Size() > maxToolsFile:
		return nil, diag.New(diag.Pos{File: shown}, "file-too-large", "the file has %d bytes, artefacts have at most %d", info.Size(), maxToolsFile)
	}
	src, err := root.ReadFile(name)
	if err != nil {
		return nil, cli.FileProblem(shown, err)
	}
	return src, nil
}

func setOf(dir string, s *changes.Set) setFigures {
	out := setFigures{Folder: filepath.ToSlash(filepath.Clean(dir)), MetaTools: len(s.MetaTools)}
	if filepath.IsAbs(dir) {
		out.Folder = filepath.Base(dir)
	}
	for i := range s.MetaTools {
		out.TurnsSaved += s.MetaTools[i].TurnsSaved
	}
	if s.Tools != nil {
		n := len(s.Tools)
		out.Tools = &n
	}
	return out
}

func breaking(list []changes.Change) int {
	return len(slices.DeleteFunc(slices.Clone(list), func(c changes.Change) bool { return !c.Breaking }))
}

func diffDocument(out difference) *report.Document {
	d := &report.Document{Title: "What differs", Answer: diffAnswer(out), Figures: out.diffFigures}
	d.Add(report.Paragraph(setWords(out.Old) + " became " + setWords(out.New) + ": at most " +
		cli.CountOf(out.Old.TurnsSaved, "turn") + " saved, now " + report.Grouped(out.New.TurnsSaved) + "."))
	if out.Old.Tools == nil || out.New.Tools == nil {
		const why = "Tools are not compared: one of the folders was written by an awo that recorded no hashes of them."
		d.Add(report.Paragraph(why))
		d.Note("figures", why)
	}
	d.Add(changesTable(out.changes))
	return d
}

// diffAnswer says whether anything breaks.
func diffAnswer(out difference) string {
	switch {
	case len(out.changes) == 0:
		return "Nothing differs."
	case out.Breaking > 0:
		return cli.CountOf(out.Breaking, "change") + " of " + report.Grouped(len(out.changes)) + " may break those who call the meta-tools."
	}
	text := "Nothing of it breaks."
	if slices.ContainsFunc(out.changes, func(c changes.Change) bool { return c.Rule != "" }) {
		text += " Nobody calls a prefetch rule, so that no change of one breaks a caller."
	}
	return cli.CountOf(len(out.changes), "change") + ". " + text
}

func setWords(s setFigures) string {
	return cli.CountOf(s.MetaTools, "meta-tool") + " (" + report.Escape(s.Folder) + ")"
}

// changesTable lists changes, those that break first.
func changesTable(list []changes.Change) *report.Table {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b changes.Change) int {
		return cmp.Compare(broken(&b), broken(&a))
	})
	table := report.TableOf("changes", "", sorted, []report.Column{
		{Key: "breaking", Cell: report.By(func(c *changes.Change) report.Cell { return report.Text(broken(c)) })},
		{Key: "of", Title: "of", Max: 42, Cell: report.By(func(c *changes.Change) report.Cell { return report.Name(cmp.Or(c.MetaTool, c.Tool, c.Rule)) })},
		{Key: "code", Title: "change", Words: true},
		{Key: "text", Title: "what", Max: 72, Wrap: true},
		{Key: "under", From: "meta_tools", Title: "meta-tools that call it", Max: 42, Wrap: true},
	})
	table.NoteIf(slices.ContainsFunc(list, func(c changes.Change) bool { return c.Code == "support-lost" }), "Support is lost to other habits, or to fewer traces: see how many there are in both manifests.")
	return table.IfAny()
}

// broken says that a change breaks, "" if it does not.
func broken(c *changes.Change) string {
	if c.Breaking {
		return "breaks"
	}
	return ""
}
