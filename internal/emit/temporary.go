package emit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// leftBehind is how old a temporary file is that no running command can be writing.
const leftBehind = time.Hour

// temporaryPrefix begins the temporary names of a file. No emitter makes such a name:
// checkNames refuses a dot in front.
func temporaryPrefix(name string) string {
	sum := sha256.Sum256([]byte(path.Base(name)))
	return ".awo-" + hex.EncodeToString(sum[:6]) + "-"
}

// temporaryName returns a temporary name for a file, beside its own.
func temporaryName(name string) string {
	return path.Join(path.Dir(name), temporaryPrefix(name)+rand.Text()+".tmp")
}

// sweep removes temporary files of the same name that a command left behind which was
// killed.
func (s *set) sweep(name string) {
	folder := path.Dir(name)
	left, known := s.left[folder]
	if !known {
		left = s.leftIn(folder)
		if s.left == nil {
			s.left = map[string]map[string][]string{}
		}
		s.left[folder] = left
	}
	for _, old := range left[temporaryPrefix(name)] {
		_ = s.root.Remove(path.Join(folder, old))
	}
}

// leftIn returns the temporary files of a folder that nobody can be writing, by what their
// names begin with. A folder is read once, however many files go there.
func (s *set) leftIn(name string) map[string][]string {
	folder, err := s.root.Open(name)
	if err != nil {
		return nil
	}
	defer folder.Close()
	left, begins := map[string][]string{}, len(temporaryPrefix(""))
	for {
		entries, err := folder.ReadDir(1000)
		for _, e := range entries {
			if !e.Type().IsRegular() || len(e.Name()) < begins || !strings.HasPrefix(e.Name(), ".awo-") || !strings.HasSuffix(e.Name(), ".tmp") {
				continue
			}
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftBehind {
				left[e.Name()[:begins]] = append(left[e.Name()[:begins]], e.Name())
			}
		}
		if err != nil {
			return left
		}
	}
}

// maxUnnamed is how many files without a name are open at once.
const maxUnnamed = 64

// create makes the file that will get a name, readable by its owner alone until then. It has
// no name at all where the system can do that: then nothing stays of it when the command is
// killed.
func (s *set) create(name string) (*os.File, stagedFile, error) {
	staged := stagedFile{name: name, mode: usualMode()}
	if info, err := s.root.Lstat(name); err == nil && info.Mode().IsRegular() {
		staged.mode = info.Mode().Perm()
	}
	if s.unnamed < maxUnnamed {
		if f := openUnnamed(s.root, path.Dir(name)); f != nil {
			s.unnamed++
			staged.open = f
			return f, staged, nil
		}
	}
	staged.temporary = temporaryName(name)
	f, err := s.root.OpenFile(staged.temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return f, staged, err
}

// named gives a file its temporary name, if it has none, and the mode that it is to have.
func (s *set) named(f *stagedFile) error {
	if f.open != nil {
		temporary := temporaryName(f.name)
		if err := linkUnnamed(f.open, s.root, temporary); err != nil {
			return err
		}
		f.temporary = temporary
		if err := f.open.Close(); err != nil {
			return err
		}
		f.open = nil
	}
	return s.root.Chmod(f.temporary, f.mode)
}

// usualMode is that of files that a program makes.
func usualMode() fs.FileMode { return 0o666 &^ umask() }

// beginning is how many bytes tell by which program a file was written.
const beginning = 16

// headWriter keeps the first bytes of what it passes on.
type headWriter struct {
	w    io.Writer
	head []byte
}

func (h *headWriter) Write(b []byte) (int, error) {
	h.head = append(h.head, b[:min(len(b), beginning-len(h.head))]...)
	return h.w.Write(b)
}
