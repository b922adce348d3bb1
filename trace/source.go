package trace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
)

// source is one file to read, or the problem that stands in its place.
type source struct {
	name    string      // for positions
	path    string      // to open; unused for a stream
	info    fs.FileInfo // when it was listed; nil for a stream
	found   bool        // in a folder: it need not be a trace
	stream  *stream     // set for what can be read once only
	problem *diag.Error // set if there is nothing to open
}

// size returns the bytes of the file, compressed if it is; false if unknown.
func (s *source) size() (int64, bool) {
	if s.info == nil {
		return 0, s.problem != nil
	}
	return s.info.Size(), true
}

// open opens the source, without looking at what is in it. The error is a *diag.Error, or ends reading.
func (s *source) open() (io.ReadCloser, error) {
	if s.stream != nil {
		return s.stream.reader(s.name)
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, openProblem(s.name, err)
	}
	return f, nil
}

// listing turns the paths that a user gave into sources.
type listing struct {
	options *Options
	sources []source
	seen    map[int64][]fs.FileInfo // by size, to compare few
	stdin   bool
}

// list returns the sources of the paths in reading order: a file is itself, "-"
// is the standard input, a folder is what it holds in the order of the names,
// and a pattern is the files and folders it matches, if no file is called like
// it. A file that is reached twice is listed once. What is missing or cannot be
// read is listed as a problem.
func list(paths []string, o *Options) []source {
	l := &listing{options: o, seen: map[int64][]fs.FileInfo{}}
	for _, path := range paths {
		l.add(path)
	}
	return l.sources
}

func (l *listing) fail(e *diag.Error) {
	l.sources = append(l.sources, source{name: e.Pos.File, problem: e})
}

func (l *listing) add(path string) {
	if l.options.Open != nil {
		l.sources = append(l.sources, source{name: path, stream: newStream(l.options, func() (io.ReadCloser, error) {
			return l.options.Open(path)
		})})
		return
	}
	if path == "-" {
		if !l.stdin {
			l.stdin = true
			l.sources = append(l.sources, source{name: path, stream: newStream(l.options, func() (io.ReadCloser, error) {
				return io.NopCloser(l.options.stdin()), nil
			})})
		}
		return
	}
	if !isPattern(path) {
		l.existing(path)
	} else if _, err := os.Lstat(path); err == nil {
		l.existing(path)
	} else {
		l.pattern(path)
	}
}

func (l *listing) existing(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		l.fail(openProblem(path, err))
	case info.IsDir():
		l.folder(path)
	default:
		l.file(path, info, l.options.Found)
	}
}

func (l *listing) pattern(pattern string) {
	matches, err := glob(pattern)
	switch {
	case err != nil:
		l.fail(diag.New(diag.Pos{File: pattern}, "path-pattern", "the pattern is malformed"))
	case len(matches) == 0:
		l.fail(diag.New(diag.Pos{File: pattern}, "file-missing", "no file matches the pattern"))
	}
	for _, path := range matches {
		// Nobody named the pipes and devices that a pattern matches.
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		l.existing(path)
	}
}

// file lists a file that exists. What is neither a regular file nor a folder,
// such as a named pipe, can be read once.
func (l *listing) file(path string, info fs.FileInfo, found bool) {
	if !info.Mode().IsRegular() {
		if !found {
			l.sources = append(l.sources, source{name: path, stream: newStream(l.options, func() (io.ReadCloser, error) {
				return os.Open(path)
			})})
		}
		return
	}
	for _, other := range l.seen[info.Size()] {
		if os.SameFile(info, other) {
			return
		}
	}
	l.seen[info.Size()] = append(l.seen[info.Size()], info)
	l.sources = append(l.sources, source{name: path, path: path, info: info, found: found})
}

// folder lists the files below a folder, but for hidden ones; links to folders
// are not followed, so there are no circles.
func (l *listing) folder(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		l.fail(openProblem(dir, err))
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir():
			l.folder(path)
		default:
			info, err := os.Stat(path)
			if err != nil {
				l.fail(openProblem(path, err))
			} else if !info.IsDir() {
				l.file(path, info, true)
			}
		}
	}
}

// openProblem returns the failure to open a file as a problem.
func openProblem(path string, err error) *diag.Error {
	pos := diag.Pos{File: path}
	var e *diag.Error
	if errors.Is(err, fs.ErrNotExist) {
		e = diag.New(pos, "file-missing", "there is no such file")
	} else {
		e = diag.New(pos, "file-unreadable", "the file cannot be read: %s", systemReason(err))
	}
	e.Err = err
	return e
}

// systemReason returns what the system says, without the path and operation
// that the position of the problem says already.
func systemReason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// isPattern reports whether a path holds a byte that is special in patterns.
func isPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// glob returns the files and folders that match a pattern, in the order of
// their names. A part of the pattern between slashes matches as in path.Match;
// the part ** matches any number of folders, and at the end everything below. A
// name that begins with a dot is matched only by a part that does. Folders that
// cannot be read match nothing. The only error is path.ErrBadPattern.
func glob(pattern string) ([]string, error) {
	volume := filepath.VolumeName(pattern)
	rest := filepath.ToSlash(pattern[len(volume):])
	root := volume
	if trimmed := strings.TrimLeft(rest, "/"); trimmed != rest {
		root, rest = volume+string(filepath.Separator), trimmed
	}
	var parts []string
	for part := range strings.SplitSeq(rest, "/") {
		if part == "" || part == "**" && len(parts) > 0 && parts[len(parts)-1] == "**" {
			continue
		}
		if _, err := path.Match(part, ""); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	var matches []string
	matchParts(root, parts, &matches)
	slices.Sort(matches)
	return slices.Compact(matches), nil
}

// matchParts appends what matches parts below dir ("" is the current folder).
func matchParts(dir string, parts []string, matches *[]string) {
	part, rest := parts[0], parts[1:]
	visit := func(name string, isDir func() bool) {
		p := filepath.Join(dir, name)
		switch {
		case len(rest) == 0:
			*matches = append(*matches, p)
		case isDir():
			matchParts(p, rest, matches)
		}
	}
	switch {
	case part == "**":
		matchBelow(dir, rest, matches)
	case !isPattern(part):
		if info, err := os.Stat(filepath.Join(dir, part)); err == nil {
			visit(part, info.IsDir)
		}
	default:
		for _, entry := range entriesOf(dir) {
			if ok, _ := path.Match(part, entry.Name()); ok && (part[0] == '.' || !hidden(entry)) {
				visit(entry.Name(), func() bool {
					info, err := os.Stat(filepath.Join(dir, entry.Name()))
					return err == nil && info.IsDir()
				})
			}
		}
	}
}

// matchBelow appends what matches rest in dir or in a folder below it, all
// files there if rest is empty. Links to folders are not followed.
func matchBelow(dir string, rest []string, matches *[]string) {
	if len(rest) > 0 {
		matchParts(dir, rest, matches)
	}
	for _, entry := range entriesOf(dir) {
		p := filepath.Join(dir, entry.Name())
		switch {
		case hidden(entry):
		case entry.IsDir():
			matchBelow(p, rest, matches)
		case len(rest) == 0:
			*matches = append(*matches, p)
		}
	}
}

func entriesOf(dir string) []fs.DirEntry {
	if dir == "" {
		dir = "."
	}
	entries, _ := os.ReadDir(dir)
	return entries
}

func hidden(entry fs.DirEntry) bool { return strings.HasPrefix(entry.Name(), ".") }
