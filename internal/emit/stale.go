package emit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
)

// maxManifest is the size of the largest manifest that is read, in bytes.
const maxManifest = 16 << 20

// dropStale lets publishing remove the files of an earlier set that is replaced by
// those of a manifest, and returns those that it must leave alone because they changed.
//
// Note: the manifest in the folder may be anybody's. It can have no more removed than
// files that it names by their content, inside the folder, and only if a run of the
// same command wrote it.
func (s *set) dropStale(m Manifest) (kept []string) {
	var before struct {
		Command string     `json:"command"`
		Files   []Artefact `json:"files"`
	}
	old, ok := s.read(ManifestName, maxManifest)
	if !ok || json.Unmarshal(old, &before) != nil || before.Command != m.Command {
		return nil
	}
	seen := map[string]bool{ManifestName: true}
	for _, a := range m.Files {
		seen[a.Name] = true
	}
	for _, a := range before.Files {
		if seen[a.Name] || badName(a.Name) != "" {
			continue
		}
		seen[a.Name] = true
		data, ok := s.read(a.Name, int64(a.Bytes))
		sum := sha256.Sum256(data)
		switch {
		case ok && len(data) == a.Bytes && hex.EncodeToString(sum[:]) == a.SHA256:
			s.staged = append(s.staged, stagedFile{name: a.Name, remove: true})
		case s.there(a.Name):
			kept = append(kept, a.Name)
		}
	}
	return kept
}

// read returns a regular file of the folder that has at most so many bytes.
func (s *set) read(name string, most int64) ([]byte, bool) {
	info, err := s.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, false
	}
	f, err := s.root.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(f, most+1))
	return b.Bytes(), err == nil
}

func (s *set) there(name string) bool {
	info, err := s.root.Lstat(name)
	return err == nil && info.Mode()&fs.ModeDir == 0
}
