// Package cache keeps what `awo sessions` needs of session files, so that a file that did not
// change is not read twice.
//
// In come sessions as they were read, with the files that belong together; out come the same
// without arguments, results and texts: tools, turns, token counts, times, and what was found
// in them. They are kept in a folder by the path, size and time of the files and the version of
// the program, in as many files as Shards, each written whole or not at all and for the user
// alone. A cache that is missing, damaged or of another version is empty, so deleting it is
// harmless. It is O(turns and calls) in memory.
//
// The package does not read session files, and does not say when two of them belong together:
// a Reader of package trace does.
package cache

import (
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/awo-dev/awo/internal/sealed"
	"github.com/awo-dev/awo/internal/sessions"
)

// Shards is how many files a cache is divided into: of those only the changed ones are
// written.
const Shards = 16

var kind = sealed.Kind{Name: "sessions", Schema: "awo.sessions-cache/v1"}

// File is a session file as it was read.
type File struct {
	Path    string `json:"p"`
	Size    int64  `json:"s"`
	Changed int64  `json:"t"` // in nanoseconds since 1970
}

// Entry is files that belong together, and their sessions.
type Entry struct {
	Files    []File   `json:"f"`
	Keys     []uint64 `json:"k,omitempty"` // as trace.Joined has them
	Sessions []Record `json:"s,omitempty"`
}

// shard is the content of one file.
type shard struct {
	Version string  `json:"version"`
	Entries []Entry `json:"entries"`
}

// Cache is what is kept.
type Cache struct {
	folder, version string
	entries         [Shards][]Entry
	changed         [Shards]bool
}

// Open reads a cache of a version of the program; "" for the folder keeps nothing.
func Open(folder, version string) *Cache {
	c := &Cache{folder: folder, version: version}
	for i := range c.entries {
		data, err := os.ReadFile(c.name(i))
		if folder == "" || err != nil {
			continue
		}
		var s shard
		if err := kind.Decode("", data, &s); err != nil || s.Version != version {
			c.changed[i] = true // to be written over
			continue
		}
		c.entries[i] = s.Entries
	}
	return c
}

func (c *Cache) name(shard int) string {
	return filepath.Join(c.folder, "sessions-"+strconv.Itoa(shard)+".json.gz")
}

// FileOf returns a file as it is listed.
func FileOf(f *sessions.File) File { return File{f.Path, f.Size, f.Changed.UnixNano()} }

// Kept returns the entries whose files are all listed and did not change. Entries with a file
// that is listed and changed, or is gone, are forgotten.
func (c *Cache) Kept(listed []sessions.File) (kept []*Entry) {
	now := map[string]File{}
	for i := range listed {
		now[listed[i].Path] = FileOf(&listed[i])
	}
	for i := range c.entries {
		before := len(c.entries[i])
		c.entries[i] = slices.DeleteFunc(c.entries[i], func(e Entry) bool {
			return slices.ContainsFunc(e.Files, func(f File) bool { return f.isOutdated(now) })
		})
		c.changed[i] = c.changed[i] || len(c.entries[i]) < before
		for k := range c.entries[i] {
			e := &c.entries[i][k]
			if !slices.ContainsFunc(e.Files, func(f File) bool { return now[f.Path] != f }) {
				kept = append(kept, e)
			}
		}
	}
	return kept
}

// isOutdated reports whether a file is no longer what was read.
func (f *File) isOutdated(now map[string]File) bool {
	if listed, ok := now[f.Path]; ok {
		return listed != *f
	}
	info, err := os.Lstat(f.Path) // of another agent, or of another time, than is listed
	return err != nil || info.Size() != f.Size || info.ModTime().UnixNano() != f.Changed
}

// Put keeps entries in place of all that have a file in common with them.
func (c *Cache) Put(entries []Entry) {
	in := map[string]bool{}
	for i := range entries {
		for _, f := range entries[i].Files {
			in[f.Path] = true
		}
	}
	for i := range c.entries {
		before := len(c.entries[i])
		c.entries[i] = slices.DeleteFunc(c.entries[i], func(e Entry) bool { return slices.ContainsFunc(e.Files, func(f File) bool { return in[f.Path] }) })
		c.changed[i] = c.changed[i] || len(c.entries[i]) < before
	}
	for _, e := range entries {
		h := fnv.New32a()
		_, _ = h.Write([]byte(e.Files[0].Path)) // a hash takes everything
		i := binary.BigEndian.Uint32(h.Sum(nil)) % Shards
		c.entries[i] = append(c.entries[i], e)
		c.changed[i] = true
	}
}

// Save writes what changed. A cache that cannot be written is no error for who uses it.
func (c *Cache) Save() error {
	if c.folder == "" || c.changed == [Shards]bool{} {
		return nil
	}
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return err
	}
	for i := range c.entries {
		if !c.changed[i] {
			continue
		}
		if err := sealed.Replace(c.name(i), kind.Encode(shard{c.version, c.entries[i]})); err != nil {
			return err
		}
		c.changed[i] = false
	}
	return nil
}
