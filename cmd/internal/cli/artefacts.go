package cli

import (
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/emit"
)

// UnrelatedOptions are settings that are no part of the options of a manifest: where
// things go, how they are shown, and the rule file, which is among the inputs.
var UnrelatedOptions = []string{"out", "plots", "rules", "check"}

// WriteArtefacts puts files into the folder dir, with a manifest of what they
// were made from: the traces of in, and the rule files that the job has read,
// included ones too.
func (j *Job) WriteArtefacts(dir string, files []emit.File, in *Intake) error {
	all, err := j.WithManifest(files, in)
	if err != nil {
		return err
	}
	return emit.Write(dir, all)
}

// WithManifest returns files with their manifest behind them.
func (j *Job) WithManifest(files []emit.File, in *Intake) ([]emit.File, error) {
	options := maps.Clone(j.options)
	for _, name := range UnrelatedOptions {
		delete(options, name)
	}
	options["max-record"] = int64(j.MaxRecord)
	options["show-values"] = j.ShowValues
	options["input-format"] = j.InputFormat
	m := emit.Manifest{Awo: CurrentBuild().Version, Command: j.Command, Options: options, Counts: in.JSON()}
	for _, f := range in.Reader.Counts().Files {
		input, err := j.input("traces", f.Name)
		if err != nil {
			return nil, err
		}
		input.Format, input.Records, input.Trajectories = f.Format, f.Records, f.Trajectories
		m.Inputs = append(m.Inputs, input)
	}
	for _, name := range j.ruleFiles {
		input, err := j.input("rules", name)
		if err != nil {
			return nil, err
		}
		m.Inputs = append(m.Inputs, input)
	}
	manifest, err := m.File(files)
	if err != nil {
		return nil, err
	}
	return append(slices.Clip(files), manifest), nil
}

// input describes a file that was read. A pipe cannot be read again, so it has
// no hash unless it is the standard input, which was hashed on the way.
func (j *Job) input(role, name string) (emit.Input, error) {
	in := emit.Input{Role: role, File: name}
	if name == "-" {
		in.Bytes, in.SHA256 = j.stdin.bytes, j.stdin.sum()
		return in, nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return in, nil // what was wrong with it was said when it was read
	}
	f, err := os.Open(name)
	if err != nil {
		return in, nil
	}
	defer f.Close()
	h := newHashedReader(f)
	if _, err := io.Copy(io.Discard, &h); err != nil {
		return in, diag.New(diag.Pos{File: name}, "file-unreadable", "the file could not be read a second time, for its hash")
	}
	in.Bytes, in.SHA256 = h.bytes, h.sum()
	return in, nil
}

// SplitOut splits the name of an output file into its folder and the rest.
func SplitOut(file string) (dir, name string) {
	i := strings.LastIndexAny(file, `/`+string(os.PathSeparator))
	if i < 0 {
		return ".", file
	}
	return file[:i+1], file[i+1:]
}
