package extraction

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
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
	Breaking int           `json:"breaking"` // of the changes
	Passed   bool          `json:"passed"`
}

type artefactFile struct {
	Name   string `json:"name"`
	Status string `json:"status"` // same, differs, missing, extra or unlisted
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

// checkArtefacts compares the files that were made with those in the folder dir. The
// version of awo in the manifest does not count.
func checkArtefacts(j *cli.Job, dir string, made []emit.File, in *cli.Intake) error {
	out := checked{checkFigures: checkFigures{Input: in.JSON(), Folder: setOf(dir, &changes.Set{}).Folder, Passed: true}}
	var metatools, candidates, ahead []byte
	for _, f := range made {
		one := artefactFile{Name: f.Name, Status: fileSame}
		disk, err := readArtefact(filepath.Join(dir, filepath.FromSlash(f.Name)))
		data, wrong := f.Bytes()
		if wrong != nil {
			return wrong
		}
		if f.Name == emit.ManifestName {
			disk, data = madeBy.ReplaceAll(disk, nil), madeBy.ReplaceAll(data, nil)
		}
		switch {
		case err != nil:
			one.Status = fileMissing
		case !bytes.Equal(disk, data):
			one.Status = fileDiffers
		}
		switch f.Name {
		case "metatools.json":
			metatools = data
		case emit.CandidatesName:
			candidates = data
		case stored.Name:
			ahead = data
		}
		out.Passed = out.Passed && one.Status == fileSame
		out.files = append(out.files, one)
	}
	known := map[string]bool{}
	for _, f := range made {
		known[f.Name] = true
	}
	m, _ := readManifest(dir)
	for _, f := range m.Files {
		if !known[f.Name] {
			out.files = append(out.files, artefactFile{Name: f.Name, Status: fileExtra})
			out.Passed, known[f.Name] = false, true
		}
	}
	for _, name := range unlisted(dir, known) {
		out.files = append(out.files, artefactFile{Name: name, Status: fileUnlisted})
		out.Passed = false
	}
	if out.Passed {
		if j.Format == report.FormatJSON {
			return j.Result(checkDocument(in, out))
		}
		return nil
	}
	before, err := readSet(dir)
	after, wrong := changes.Parse(metatools, candidates)
	if wrong == nil && ahead != nil {
		wrong = after.ReadRules(ahead)
	}
	if err == nil && wrong == nil {
		out.changes = changes.Compare(before, after)
		out.Breaking = breaking(out.changes)
	}
	if err := j.Result(checkDocument(in, out)); err != nil {
		return err
	}
	return cli.ErrProblems
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

func checkDocument(in *cli.Intake, out checked) *report.Document {
	d := &report.Document{Title: "Artefacts that are not what the inputs give", Figures: out.checkFigures}
	if out.Passed {
		d.Answer = "The artefacts are what the inputs give."
	}
	d.Add(in.Summary())
	others := slices.DeleteFunc(slices.Clone(out.files), func(f artefactFile) bool { return f.Status == fileSame })
	d.Add(report.TableOf("files", "", out.files, nil).Hidden())
	table := report.TableOf("files", "", others, []report.Column{
		{Key: "file", From: "name", Max: 60},
		{Key: "status", Words: true},
	})
	table.Note("Missing: the inputs give it, and it is not in %s. Extra: the manifest there lists it, and the inputs do not give it. Unlisted: it is there, and no manifest lists it; awo did not make it.", report.Escape(out.Folder))
	would := changesTable(out.changes)
	would.Title = "What would change"
	d.Add(table.View(), would)
	d.Add(report.Paragraph("`awo extract` with the same arguments and --out in place of --check makes the folder what the inputs give."))
	return d
}
