package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// ManifestName is the name of the manifest in the output folder.
const ManifestName = "manifest.json"

// ManifestSchema names the version of Manifest.
const ManifestSchema = "awo.manifest/v1"

// Manifest says what a set of artefacts was made from and by, so that it can be
// made again and checked. It holds no time and no absolute path: the same
// inputs and options give the same bytes.
type Manifest struct {
	Schema  string         `json:"schema"`
	Awo     string         `json:"awo"` // version of awo
	Command string         `json:"command"`
	Options map[string]any `json:"options"` // those that change the artefacts, with defaults
	Inputs  []Input        `json:"inputs"`  // in reading order
	Counts  any            `json:"counts"`  // what came in, as in the command's own JSON
	Files   []Artefact     `json:"files"`   // filled by Manifest.File, in the order given
}

// Input is a file that was read.
type Input struct {
	Role         string `json:"role"` // "traces" or "rules"
	File         string `json:"file"`
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

// File makes the manifest of the given files. It belongs behind them in what
// Write gets: a manifest that is there vouches for its files.
func (m Manifest) File(files []File) (File, error) {
	m.Schema = ManifestSchema
	inputs := make([]Input, len(m.Inputs))
	for i, in := range m.Inputs {
		in.File = portable(in.File)
		inputs[i] = in
	}
	m.Inputs = inputs
	m.Files = make([]Artefact, len(files))
	for i, f := range files {
		sum := sha256.Sum256(f.Data)
		m.Files[i] = Artefact{Name: f.Name, Bytes: len(f.Data), SHA256: hex.EncodeToString(sum[:])}
	}
	return jsonFile(ManifestName, m)
}

// portable leaves a relative path as it is, with slashes, and of an absolute
// one only the name: the rest is a matter of the machine.
func portable(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Base(name)
	}
	return filepath.ToSlash(filepath.Clean(name))
}
