package compiled

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/awo-dev/awo/arazzo"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/changes"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/prefetch/stored"
)

// The files of a folder that are read, beside arazzo.File.
const (
	definitionsFile = "metatools.json"
	prefetchFile    = stored.Name
)

// maxFile is how long a file may be.
const maxFile = 64 << 20

// Codes of problems with a folder. They are stable.
const (
	CodeNothing  = "tools-nothing" // neither meta-tools nor rules
	CodeUnread   = "tools-unread"  // a file that cannot be read
	CodeTooLarge = "tools-large"   // a file that is longer than any that awo writes
	CodeNotAwo   = "tools-not-awo" // a file that awo did not write
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
	if len(a.Tools) == 0 && a.Ahead == nil {
		return nil, diag.New(diag.Pos{File: dir}, CodeNothing, "there is neither %s nor %s with anything in it; `awo extract --out` writes them", arazzo.File, prefetchFile)
	}
	return a, nil
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
