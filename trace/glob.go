package trace

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

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
