package emit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/awo-dev/awo/diag"
)

// The codes of problems with the output folder or a file in it.
const (
	CodeUnwritable = "output-unwritable"
	CodeForeign    = "output-foreign" // a file that awo did not write
)

// Replacing says which of the files that are there a write may replace.
type Replacing uint8

const (
	// ReplaceOwn allows files that awo wrote: a manifest beside them lists them, or they begin
	// with the same bytes as the new ones.
	ReplaceOwn   Replacing = iota
	ReplaceEmpty           // allows files without content only, where nothing tells who wrote one
	ReplaceAny
)

// Write puts files into the folder dir, which is made if it does not exist, and
// replaces those that are there under the same names. Everything is written
// under temporary names and synchronised before the first file gets its own, in
// the order given. If anything fails, what was there before is there again;
// only a machine that stops between two renames leaves some files new and some
// old, and the manifest, which belongs last, does not vouch for them.
//
// Files that awo did not write are replaced if r says so; else nothing is written.
// Nothing outside dir is touched, whatever the names of files or the symbolic
// links in dir. An error is a *diag.Error with a code of output-name, output-foreign or
// output-unwritable.
func Write(dir string, files []File, r Replacing) error {
	if err := checkNames(files); err != nil {
		return err
	}
	return publish(dir, r, func(s *set) error {
		for _, f := range files {
			if err := s.stage(f.Name, f.writeTo); err != nil {
				return unwritable(filepath.Join(dir, filepath.FromSlash(f.Name)), err)
			}
		}
		return nil
	})
}

// Replace puts a set of files into the folder dir as Write does, behind them the manifest
// that vouches for them, and removes what an earlier run of the same command left there:
// files that the manifest in dir lists, that are still what it says of them, and that are
// not in the new set. What was changed since is kept, and named in the order of the manifest.
func Replace(dir string, files []File, m Manifest, r Replacing) (kept []string, err error) {
	if err := checkNames(append(slices.Clip(files), File{Name: ManifestName})); err != nil {
		return nil, err
	}
	m.Files = make([]Artefact, 0, len(files))
	err = publish(dir, r, func(s *set) error {
		for i := range files {
			err := s.stage(files[i].Name, func(w io.Writer) error {
				a, err := files[i].writeNoting(w)
				m.Files = append(m.Files, a)
				return err
			})
			if err != nil {
				return unwritable(filepath.Join(dir, filepath.FromSlash(files[i].Name)), err)
			}
		}
		kept = s.dropStale(m)
		manifest, err := m.file()
		if err != nil {
			return err
		}
		if err := s.stage(manifest.Name, manifest.writeTo); err != nil {
			return unwritable(filepath.Join(dir, manifest.Name), err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return kept, nil
}

// WriteStream puts one file into the folder dir as Write does, with what write
// writes into it. An error of write is returned as it is, and then nothing
// changes in the folder. The name is the user's own choice, so any that is a
// single part of a path will do. Into a device or a pipe of that name it is written as it
// comes.
func WriteStream(dir, name string, r Replacing, write func(io.Writer) error) error {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, `/\`) {
		return diag.New(diag.Pos{}, CodeName, "a file cannot be called %q", name)
	}
	whole := filepath.Join(dir, filepath.FromSlash(name))
	if info, err := os.Stat(whole); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		out, err := os.OpenFile(whole, os.O_WRONLY, 0)
		if err != nil {
			return unwritable(whole, err)
		}
		guarded := &guardedWriter{w: out}
		failed := write(guarded)
		if err := errors.Join(guarded.err, out.Close()); err != nil {
			return unwritable(whole, err)
		}
		return failed
	}
	return publish(dir, r, func(s *set) error {
		var failed error
		err := s.stage(name, func(w io.Writer) error {
			guarded := &guardedWriter{w: w}
			if failed = write(guarded); guarded.err != nil {
				failed = nil // what write makes of a full disk is told in our words
			}
			return guarded.err
		})
		if err != nil {
			return unwritable(filepath.Join(dir, filepath.FromSlash(name)), err)
		}
		return failed
	})
}

// guardedWriter remembers the first error of its writer.
type guardedWriter struct {
	w   io.Writer
	err error
}

func (g *guardedWriter) Write(b []byte) (int, error) {
	n, err := g.w.Write(b)
	if g.err == nil {
		g.err = err
	}
	return n, err
}

// publish lets stage put files under temporary names into dir, and gives them
// their own if that succeeds.
func publish(dir string, r Replacing, stage func(*set) error) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return unwritable(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return unwritable(dir, err)
	}
	defer root.Close()
	s := &set{dir: dir, root: root, rename: root.Rename, replacing: r}
	defer s.clean()
	if err := stage(s); err != nil {
		return err
	}
	return s.publish()
}

// set is a set of files on its way into a folder.
type set struct {
	dir    string
	root   *os.Root
	rename func(from, to string) error // root.Rename, but for tests
	staged []stagedFile

	replacing Replacing
	listed    map[string]bool                // by the manifest that is there; nil until it is asked for
	left      map[string]map[string][]string // by folder: what killed commands left, by what the names begin with
	unnamed   int                            // files without a name so far
}

// stagedFile is a file under its temporary name, and what it replaces.
type stagedFile struct {
	name, temporary string
	open            *os.File // what has no name yet
	mode            fs.FileMode
	backup          string // a second name of the file that is replaced; "" if there is none
	published       bool
	remove          bool // nothing takes the place of the file, and it has no temporary name
}

// stage writes a file under a temporary name beside its own.
func (s *set) stage(name string, write func(io.Writer) error) error {
	folder := path.Dir(name)
	if err := s.root.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	info, err := s.root.Lstat(name)
	switch {
	case err == nil && info.IsDir():
		return syscall.EISDIR
	case err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return errSpecial
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	s.sweep(name)
	out, staged, err := s.create(name)
	if err != nil {
		return err
	}
	s.staged = append(s.staged, staged)
	written := &headWriter{w: out}
	if err := errors.Join(write(written), out.Sync()); err != nil {
		return err
	}
	if staged.open == nil {
		if err := out.Close(); err != nil {
			return err
		}
	}
	if info != nil && info.Mode().IsRegular() && info.Size() > 0 && !s.mayReplace(name, written.head) {
		return errForeign
	}
	return nil
}

// mayReplace reports whether a file that is not empty may be replaced by one that begins so.
func (s *set) mayReplace(name string, head []byte) bool {
	if s.replacing != ReplaceOwn {
		return s.replacing == ReplaceAny
	}
	if s.listed == nil {
		s.listed = map[string]bool{}
		var before Manifest
		if old, ok := s.read(ManifestName, maxManifest); ok && json.Unmarshal(old, &before) == nil && (before.Schema == ManifestSchema || before.Schema == ManifestBefore) {
			for _, a := range before.Files {
				s.listed[a.Name] = true
			}
		}
	}
	if s.listed[name] {
		return true
	}
	f, err := s.root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	old := make([]byte, len(head))
	n, err := io.ReadFull(f, old)
	return err == nil && bytes.Equal(old[:n], head)
}

// publish gives every staged file its name, and takes that back if one fails.
func (s *set) publish() error {
	for i := range s.staged {
		f := &s.staged[i]
		// A second name for the old file costs nothing, and with it there is no
		// moment without a file. Some file systems have none: then there is no
		// way back for this file.
		backup := temporaryName(f.name)
		if f.remove {
			if err := s.rename(f.name, backup); err != nil {
				s.restore()
				return unwritable(filepath.Join(s.dir, filepath.FromSlash(f.name)), err)
			}
			f.backup, f.published = backup, true
			continue
		}
		if err := s.named(f); err != nil {
			s.restore()
			return unwritable(filepath.Join(s.dir, filepath.FromSlash(f.name)), err)
		}
		if err := s.root.Link(f.name, backup); err == nil {
			f.backup = backup
		}
		if err := s.rename(f.temporary, f.name); err != nil {
			s.restore()
			return unwritable(filepath.Join(s.dir, filepath.FromSlash(f.name)), err)
		}
		f.published = true
	}
	s.sync()
	return nil
}

// restore puts back what the published files replaced.
func (s *set) restore() {
	for i := range s.staged {
		f := &s.staged[i]
		switch {
		case !f.published:
		case f.backup == "" && !f.remove:
			_ = s.root.Remove(f.name)
		case s.root.Rename(f.backup, f.name) == nil:
			f.backup = ""
		}
	}
}

// clean removes temporary names.
func (s *set) clean() {
	for _, f := range s.staged {
		if f.open != nil {
			_ = f.open.Close()
		}
		if !f.published && f.temporary != "" {
			_ = s.root.Remove(f.temporary)
		}
		if f.backup != "" {
			_ = s.root.Remove(f.backup)
		}
		if f.remove && f.published {
			// Folders that hold nothing more go too; one that is not empty stays.
			for folder := path.Dir(f.name); folder != "." && s.root.Remove(folder) == nil; folder = path.Dir(folder) {
			}
		}
	}
}

// sync makes the new names durable. Not every system can do that to a folder,
// and the files are there all the same, so an error is none of Write's.
func (s *set) sync() {
	var folders []string
	for _, f := range s.staged {
		folders = append(folders, path.Dir(f.name))
	}
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		if d, err := s.root.Open(folder); err == nil {
			_ = d.Sync()
			_ = d.Close()
		}
	}
}

// errSpecial is met where something that is neither file nor folder has the
// name of an artefact.
var errSpecial = errors.New("neither a file nor a folder")

// errForeign is met where a file that awo did not write has the name of an artefact.
var errForeign = errors.New("not written by awo")

// unwritable describes a failure in our words.
func unwritable(name string, err error) error {
	if errors.Is(err, errForeign) {
		return diag.New(diag.Pos{File: name}, CodeForeign, "a file that awo did not write has this name").
			Note(diag.Pos{}, "--force replaces it")
	}
	why := "it cannot be written"
	for _, known := range []struct {
		err  error
		text string
	}{
		{syscall.ENOSPC, "no space is left on the device"},
		{syscall.EDQUOT, "the disk quota is used up"},
		{syscall.EROFS, "the file system is read-only"},
		{syscall.EISDIR, "a folder has this name"},
		{errSpecial, "something that is neither a file nor a folder has this name"},
		{syscall.ENOTDIR, "a part of the path is a file, not a folder"},
		{syscall.ENAMETOOLONG, "the name is too long"},
		{fs.ErrPermission, "permission is denied"},
		{fs.ErrExist, "a file has the name of the folder"},
	} {
		if errors.Is(err, known.err) {
			why = known.text
			break
		}
	}
	e := diag.New(diag.Pos{File: name}, CodeUnwritable, "%s", why)
	e.Err = err
	return e
}
