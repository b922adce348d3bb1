package extraction

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/changes"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/prefetch/stored"
)

// checkedFolder is the folder that --check names, for recalling.
func checkedFolder(c *cobra.Command, args []string) (dir string, kept, files []string) {
	if f := c.Flags().Lookup("check"); f != nil {
		return f.Value.String(), nil, args
	}
	return "", nil, args
}

// checked is what --check found.
type checked struct {
	checkFigures
	files   []artefactFile
	changes []changes.Change // from the artefacts on disk to those that the inputs give
}

// checkFigures are those of `awo extract --check`.
type checkFigures struct {
	Input    cli.InputJSON `json:"input"`
	Folder   string        `json:"folder"`
	Changed  int           `json:"changed"`  // changes that callers see
	Breaking int           `json:"breaking"` // of these
	Passed   bool          `json:"passed"`
}

type artefactFile struct {
	Name     string `json:"name"`
	Status   string `json:"status"`   // same, differs, missing, extra or unlisted
	Evidence bool   `json:"evidence"` // it differs in counts at most, and fails only with --evidence
}

// What --check says of a file.
const (
	fileSame     = "same"
	fileDiffers  = "differs"
	fileMissing  = "missing"
	fileExtra    = "extra"    // the manifest lists it, and the inputs do not give it
	fileUnlisted = "unlisted" // it is in the folder, and no manifest lists it
)

// madeBy is the line of a manifest that names the version of awo.
var madeBy = regexp.MustCompile(`(?m)^  "awo": ".*",$`)

// checkArtefacts compares the files that were made with those in the folder dir: what callers
// see of them, with all also what that rests on. The version of awo in the manifest does not
// count.
func checkArtefacts(j *cli.Job, dir string, made []emit.File, in *cli.Intake, all bool) (checked, error) {
	out := checked{checkFigures: checkFigures{Input: in.JSON(), Folder: setOf(dir, &changes.Set{}).Folder, Passed: true}}
	m, _ := readManifest(dir)
	now := map[string][]byte{}
	for _, f := range made {
		data, err := f.Bytes()
		if err != nil {
			return out, err
		}
		now[f.Name] = data
	}
	if before, err := readSet(dir); err == nil {
		after, err := parseSet(dir, now[emit.MetaToolsName], now[emit.CandidatesName], now[stored.Name])
		if err != nil {
			return out, err
		}
		out.changes = slices.DeleteFunc(changes.Compare(before, after), func(c changes.Change) bool { return !all && !c.Seen() })
		out.Changed, out.Breaking = len(out.changes), breaking(out.changes)
	}
	for _, f := range made {
		one := artefactFile{Name: f.Name, Status: fileSame, Evidence: isEvidence(f.Name)}
		disk, err := readArtefact(dir, f.Name)
		data := now[f.Name]
		if f.Name == emit.ManifestName {
			disk, data = madeBy.ReplaceAll(disk, nil), madeBy.ReplaceAll(data, nil)
		}
		switch {
		case err != nil:
			one.Status = fileMissing
		case !bytes.Equal(disk, data):
			one.Status = fileDiffers
			one.Evidence = one.Evidence || m.wrote(f.Name, disk) && out.countsAlone(f.Name, disk, data)
		}
		out.add(one, all)
	}
	known := map[string]bool{}
	for name := range now {
		known[name] = true
	}
	for _, f := range m.Files {
		if !known[f.Name] {
			out.add(artefactFile{f.Name, fileExtra, isEvidence(f.Name)}, all)
			known[f.Name] = true
		}
	}
	for _, name := range unlisted(dir, known) {
		out.add(artefactFile{Name: name, Status: fileUnlisted}, all)
	}
	return out, nil
}

func (out *checked) add(one artefactFile, all bool) {
	out.files = append(out.files, one)
	out.Passed = out.Passed && (one.Status == fileSame || one.Evidence && !all)
}

// isEvidence reports whether nothing in a file is needed to run the artefacts.
func isEvidence(name string) bool {
	return name == emit.ManifestName || strings.HasPrefix(name, emit.EvidenceFolder)
}

// wrote reports whether a file is as awo wrote it.
func (m recalledManifest) wrote(name string, data []byte) bool {
	sum := sha256.Sum256(data)
	return slices.ContainsFunc(m.Files, func(f emit.Artefact) bool { return f.Name == name && f.SHA256 == hex.EncodeToString(sum[:]) })
}

// countsAlone reports whether a file that differs does so in counts alone, and in the order
// of prefetch rules, which follows from them.
func (out *checked) countsAlone(name string, disk, data []byte) bool {
	about := func(rule bool) bool {
		return slices.ContainsFunc(out.changes, func(c changes.Change) bool { return c.Seen() && (c.Rule != "") == rule })
	}
	switch name {
	case emit.MetaToolsName:
		return !about(false)
	case stored.Name:
		return !about(true)
	case emit.PrefetchPython.Name, emit.PrefetchTypeScript.Name:
		return slices.Equal(sortedLines(disk), sortedLines(data))
	}
	return false
}

func sortedLines(data []byte) []string {
	return slices.Sorted(strings.Lines(string(data)))
}

// maxUnlisted is how many files that nothing lists are named.
const maxUnlisted = 100

// unlisted returns what else is in a folder of artefacts, in order: a module beside
// others is imported by them, and a file that somebody put there is none of awo's. What
// git keeps in a folder (.gitignore and such) does not count.
func unlisted(dir string, known map[string]bool) (names []string) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case len(names) == maxUnlisted:
			return fs.SkipAll
		case name == "." || known[name]:
			return nil
		case strings.HasPrefix(entry.Name(), ".git"):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil: // a folder that cannot be read
			names = append(names, name)
			return fs.SkipDir
		case !entry.IsDir():
			names = append(names, name)
		}
		return nil
	})
	return names
}

// maxListed is how many changes a check lists.
const maxListed = 15

func checkDocument(in *cli.Intake, out checked, updated bool) *report.Document {
	d := &report.Document{Title: "Artefacts and what the inputs give", Figures: out.checkFigures}
	switch {
	case out.Passed:
		d.Answer = "Nothing that callers see has changed."
	case out.Changed == 0:
		d.Answer = "Files in " + report.Escape(out.Folder) + " are not what the inputs give."
	default:
		breaks := "none breaks a caller"
		if out.Breaking > 0 {
			breaks = report.Grouped(out.Breaking) + " may break callers"
		}
		d.Answer = fmt.Sprintf("%s in %s, of which %s.", cli.CountOf(out.Changed, "change"), report.Escape(out.Folder), breaks)
	}
	if updated {
		d.Answer += " The folder is up to date now."
	}
	d.Add(in.Summary())
	others := slices.DeleteFunc(slices.Clone(out.files), func(f artefactFile) bool {
		return f.Status == fileSame || f.Status == fileDiffers && out.Changed > 0 // the changes say it
	})
	would := changesTable(out.changes)
	would.Title, would.Brief = "What would change", maxListed
	table := report.TableOf("files", "Files that differ", others, []report.Column{
		{Key: "file", From: "name", Max: 60},
		{Key: "status", Words: true},
		{Key: "evidence", Title: "in", Cell: report.By(func(f *artefactFile) report.Cell {
			return report.Text(map[bool]string{true: "counts alone", false: "what callers see"}[f.Evidence])
		})},
	})
	table.Brief = maxListed
	table.Note("Missing: the inputs give it, and it is not in %s. Extra: the manifest there lists it, and the inputs do not give it. Unlisted: it is there, and no manifest lists it; awo did not make it.", report.Escape(out.Folder))
	d.Add(report.TableOf("files", "", out.files, nil).Hidden(), would.IfAny(), table.IfAny().View())
	return d
}
