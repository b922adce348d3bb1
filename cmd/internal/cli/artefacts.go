package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/trace"
)

// UnrelatedOptions are settings that are no part of the options of a manifest: where
// things go, how they are shown, and files, which are among the inputs.
var UnrelatedOptions = []string{"out", "plots", "rules", "prices", "tool-graph", "check", "update", "evidence", "fresh"}

// Inputs are the files that a command has read, as artefacts in one folder name them.
type Inputs struct {
	list  []emit.Input
	names map[string]string // by the path that was read

	Ways []emit.Way // that were recommended by them
}

// Inputs returns the traces of in, when they have been read, and the rules and prices
// that the job has read, included ones too, as artefacts in the folder dir name them.
// An input with the content of a known one has the name of that.
func (j *Job) Inputs(dir string, in *Intake, known []emit.Input) (Inputs, error) {
	out := Inputs{names: map[string]string{}}
	add := func(role, path string, counts trace.FileCounts) error {
		input, err := j.input(role, path)
		if err != nil {
			return err
		}
		input.Format, input.Records, input.Trajectories = counts.Format, counts.Records, counts.Trajectories
		input.File = emit.InputName(dir, path)
		same := slices.IndexFunc(known, func(k emit.Input) bool {
			return k.Role == role && k.SHA256 == input.SHA256 && k.SHA256 != ""
		})
		if same >= 0 {
			input.File = known[same].File
			known = slices.Delete(slices.Clone(known), same, same+1)
		}
		out.list, out.names[path] = append(out.list, input), input.File
		return nil
	}
	for _, f := range in.Reader.Counts().Files {
		if f.Format == "" {
			continue // it was found in a folder and is no trace
		}
		if err := add("traces", f.Name, f); err != nil {
			return Inputs{}, err
		}
	}
	for _, read := range j.sources {
		if err := add(read.role, read.name, trace.FileCounts{}); err != nil {
			return Inputs{}, err
		}
	}
	return out, nil
}

// Traces returns the files that were read as traces.
func (i Inputs) Traces() []emit.Input {
	var out []emit.Input
	for _, in := range i.list {
		if in.Role == "traces" {
			out = append(out, in)
		}
	}
	return out
}

// Origin returns where a trajectory was read, with the name that artefacts have for
// its file.
func (i Inputs) Origin(t emit.Origin) emit.Origin {
	name, ok := i.names[t.File]
	if !ok {
		return t
	}
	return emit.Origin{ID: strings.ReplaceAll(t.ID, t.File, name), File: name, Line: t.Line}
}

// WriteArtefacts puts files into the folder dir, with a manifest of what they were made
// from, and removes those that an earlier run made and this one does not.
func (j *Job) WriteArtefacts(dir string, files []emit.File, in *Intake, from Inputs) error {
	kept, err := emit.Replace(dir, files, j.manifest(in, from), j.Replacing())
	for _, name := range kept {
		j.Problems.Add(diag.Warn(diag.Pos{File: filepath.ToSlash(filepath.Join(dir, name))}, "output-kept",
			"an earlier run made this file, and nothing makes it any more; it was changed since, so it is kept"))
	}
	return err
}

// WithManifest returns files with their manifest behind them.
func (j *Job) WithManifest(files []emit.File, in *Intake, from Inputs) ([]emit.File, error) {
	manifest, err := j.manifest(in, from).File(files)
	if err != nil {
		return nil, err
	}
	return append(slices.Clip(files), manifest), nil
}

// manifest returns the manifest of files that are not known yet.
func (j *Job) manifest(in *Intake, from Inputs) emit.Manifest {
	options := maps.Clone(j.options)
	for _, name := range UnrelatedOptions {
		delete(options, name)
	}
	options["max-record"] = int64(j.MaxRecord)
	options["show-values"] = j.ShowValues
	options["input-format"] = j.InputFormat
	if delete(options, "map"); j.Map != "" {
		options["map"] = filepath.Base(j.Map)
	}
	counts := in.JSON()
	const skipped = "file-skipped" // files of a folder that are no traces are no inputs
	counts.Problems.ByCode = maps.Clone(counts.Problems.ByCode)
	counts.Problems.Total -= counts.Problems.ByCode[skipped]
	delete(counts.Problems.ByCode, skipped)
	return emit.Manifest{Awo: CurrentBuild().Version, Command: j.Command, Options: options, Counts: counts, Inputs: from.list, Ways: from.Ways}
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

// Replacing says which files the user lets a command replace.
func (j *Job) Replacing() emit.Replacing {
	if j.Force {
		return emit.ReplaceAny
	}
	return emit.ReplaceOwn
}

// WriteFile writes a file whole or not at all.
func (j *Job) WriteFile(file string, data []byte) error {
	return WriteOver(file, data, j.Replacing())
}

// WriteOver writes a file whole or not at all, over the one of that name as far as r says.
func WriteOver(file string, data []byte, r emit.Replacing) error {
	dir, name := SplitOut(file)
	return emit.WriteStream(dir, name, r, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// hashedReader hashes what is read through it.
type hashedReader struct {
	in    io.Reader
	hash  hash.Hash
	bytes int64
}

func newHashedReader(in io.Reader) hashedReader {
	return hashedReader{in: in, hash: sha256.New()}
}

// Read reads from the underlying reader.
func (h *hashedReader) Read(p []byte) (int, error) {
	n, err := h.in.Read(p)
	h.hash.Write(p[:n])
	h.bytes += int64(n)
	return n, err
}

func (h *hashedReader) sum() string { return hex.EncodeToString(h.hash.Sum(nil)) }
