package compiled

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/changes"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/prefetch/stored"
)

// The files of a folder that are read, beside arazzo.File.
const (
	definitionsFile = "metatools.json"
	prefetchFile    = stored.Name
	manifestFile    = "manifest.json"
)

// maxFile is how long a file may be.
const maxFile = 64 << 20

// Codes of problems with a folder. They are stable.
const (
	CodeNothing  = "tools-nothing" // neither meta-tools nor rules
	CodeUnread   = "tools-unread"  // a file that cannot be read
	CodeTooLarge = "tools-large"   // a file that is longer than any that awo writes
	CodeNotAwo   = "tools-not-awo" // a file that awo did not write
	CodeChanged  = "tools-changed" // a file that is not the one that awo wrote
)

// Artefacts are what awo extract wrote into a folder.
type Artefacts struct {
	Tools    []*metatool.Tool
	Recorded *changes.Set // the tools as they were recorded; nil if that is not known
	Ahead    *Ahead       // nil without rules
	Files    []File       // that were read
}

// File is a file with the hash of its bytes.
type File struct{ Name, SHA256 string }

// Read reads the artefacts in a folder.
func Read(dir string) (*Artefacts, error) {
	a := &Artefacts{}
	description, err := a.file(dir, arazzo.File)
	if err != nil {
		return nil, err
	}
	if description != nil {
		if a.Tools, err = arazzo.Parse(filepath.ToSlash(filepath.Join(dir, arazzo.File)), description); err != nil {
			return nil, err
		}
	}
	definitions, err := a.file(dir, definitionsFile)
	if err != nil {
		return nil, err
	}
	if definitions != nil {
		if a.Recorded, err = changes.Parse(definitions, nil); err != nil {
			return nil, problem(dir, definitionsFile, CodeNotAwo, "this is no file of awo's: %s", err)
		}
	}
	rules, err := a.file(dir, prefetchFile)
	if err != nil {
		return nil, err
	}
	if rules != nil {
		if a.Ahead, err = readAhead(filepath.ToSlash(filepath.Join(dir, prefetchFile)), rules); err != nil {
			return nil, err
		}
	}
	if err := a.unchanged(dir); err != nil {
		return nil, err
	}
	if len(a.Tools) == 0 && a.Ahead == nil {
		return nil, diag.New(diag.Pos{File: dir}, CodeNothing, "there is neither %s nor %s with anything in it; `awo extract --out` writes them", arazzo.File, prefetchFile)
	}
	return a, nil
}

// unchanged compares the files that were read with the hashes that the manifest of the
// folder has of them. A folder without a manifest is taken as it is.
func (a *Artefacts) unchanged(dir string) error {
	n := len(a.Files)
	data, err := a.file(dir, manifestFile)
	a.Files = a.Files[:n] // nothing is run from it
	if err != nil || data == nil {
		return err
	}
	var manifest struct {
		Files []struct{ Name, SHA256 string }
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return problem(dir, manifestFile, CodeNotAwo, "this is not a manifest that awo wrote")
	}
	for _, f := range a.Files {
		for _, m := range manifest.Files {
			if m.Name == f.Name && m.SHA256 != f.SHA256 {
				return problem(dir, f.Name, CodeChanged, "its hash is not the one in %s: it was changed after `awo extract --out` wrote it. Write the folder again, or remove the manifest to run it as it is", manifestFile)
			}
		}
	}
	return nil
}

func problem(dir, name, code, format string, args ...any) error {
	return diag.New(diag.Pos{File: filepath.ToSlash(filepath.Join(dir, name))}, code, format, args...)
}

// file reads a file of the folder, nil if there is none.
func (a *Artefacts) file(dir, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		if _, gone := os.Stat(dir); gone == nil {
			return nil, nil
		}
	}
	if err != nil {
		return nil, problem(dir, name, CodeUnread, "%s", reason(err))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, problem(dir, name, CodeUnread, "%s", reason(err))
	}
	if len(data) > maxFile {
		return nil, problem(dir, name, CodeTooLarge, "it has more than %d MiB", maxFile>>20)
	}
	sum := sha256.Sum256(data)
	a.Files = append(a.Files, File{name, hex.EncodeToString(sum[:])})
	return data, nil
}

func reason(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return fmt.Sprint(err)
}
