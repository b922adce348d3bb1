package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
)

// ManifestName is the name of the manifest in the output folder.
const ManifestName = "manifest.json"

// ManifestSchema names the version of Manifest. In version 1 the paths of inputs were
// relative to the folder in which awo ran.
const (
	ManifestSchema = "awo.manifest/v2"
	ManifestBefore = "awo.manifest/v1"
)

// Manifest says what a set of artefacts was made from and by, so that it can be
// made again and checked. It holds no time and no absolute path: the same
// inputs and options give the same bytes.
type Manifest struct {
	Schema  string         `json:"schema"`
	Awo     string         `json:"awo"` // version of awo
	Command string         `json:"command"`
	Options map[string]any `json:"options"`        // those that change the artefacts, with defaults
	Inputs  []Input        `json:"inputs"`         // in reading order
	Counts  any            `json:"counts"`         // what came in, as in the command's own JSON
	Ways    []Way          `json:"ways,omitempty"` // what was recommended, for each of several agents
	Files   []Artefact     `json:"files"`          // filled by Manifest.File and Replace, in the order given
}

// Way is what was recommended for an agent: a later run keeps it while nothing is clearly
// better.
type Way struct {
	Agent string  `json:"agent"` // its key, "" for the only one
	Kind  string  `json:"kind"`  // with p and T as in package backtest
	P     float64 `json:"p"`
	T     int     `json:"T"`
}

// Input is a file that was read.
type Input struct {
	Role         string `json:"role"`             // "traces", "rules", "prices" or "tool-graph"
	File         string `json:"file"`             // from the folder of the manifest where that is possible, see InputName
	Format       string `json:"format,omitempty"` // of traces
	Bytes        int64  `json:"bytes"`            // as stored
	SHA256       string `json:"sha256,omitempty"` // missing for a pipe, which cannot be read twice
	Records      int    `json:"records,omitzero"`
	Trajectories int    `json:"trajectories,omitzero"`
}

// Artefact is a file that was made.
type Artefact struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// File makes the manifest of the given files, each of which it makes for its hash.
func (m Manifest) File(files []File) (File, error) {
	m.Files = make([]Artefact, 0, len(files))
	for i := range files {
		a, err := files[i].writeNoting(io.Discard)
		if err != nil {
			return File{}, err
		}
		m.Files = append(m.Files, a)
	}
	return m.file()
}

// file makes the manifest of the files that it lists.
func (m Manifest) file() (File, error) {
	m.Schema = ManifestSchema
	return jsonFile(ManifestName, m)
}

// writeNoting writes the bytes of the file, and returns what the manifest says of them.
func (f *File) writeNoting(w io.Writer) (Artefact, error) {
	hash := sha256.New()
	size := &sizeWriter{w: io.MultiWriter(w, hash)}
	if err := f.writeTo(size); err != nil {
		return Artefact{}, err
	}
	return Artefact{Name: f.Name, Bytes: size.bytes, SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}

// sizeWriter counts what it passes on.
type sizeWriter struct {
	w     io.Writer
	bytes int
}

func (s *sizeWriter) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.bytes += n
	return n, err
}

// InputName is the name of an input in the manifest of the folder dir: its path from
// there, with slashes. Where that would say where on a machine the folder lies, it is
// the name of the file alone: a path that is not relative, unless it and the folder
// both lie below the folder in which awo runs.
func InputName(dir, file string) string {
	if file == "-" {
		return file
	}
	if filepath.IsAbs(dir) || filepath.IsAbs(file) {
		here, err := os.Getwd()
		if err != nil {
			return filepath.Base(file)
		}
		for _, name := range []*string{&dir, &file} {
			if !filepath.IsAbs(*name) {
				*name = filepath.Join(here, *name)
			}
			below, err := filepath.Rel(here, *name)
			if err != nil || !filepath.IsLocal(below) {
				return filepath.Base(file)
			}
			*name = below
		}
	}
	name, err := filepath.Rel(dir, file)
	if err != nil { // the folder is named by a way upwards
		return filepath.Base(file)
	}
	return filepath.ToSlash(name)
}
