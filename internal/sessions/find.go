package sessions

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds of what is listed in one place.
const (
	MaxFiles = 1_000_000
	MaxDepth = 12
)

// Machine is where sessions are looked for.
type Machine struct {
	System string                 // as runtime.GOOS
	Home   string                 // the user's home folder; "" finds nothing below it
	Env    func(string) string    // as os.Getenv
	Owner  func(fs.FileInfo) bool // whether the user owns a file; nil stands for Owned
}

// File is a session file.
type File struct {
	Agent   *Agent
	Path    string
	Size    int64
	Changed time.Time
}

// Found is what there is on a machine.
type Found struct {
	Files     []File   // in the order of Agents, those of an agent by path
	Databases []*Agent // agents with a database that is not read, each once
	Links     []string // places that are links to elsewhere, and were not followed
	Foreign   int      // files and folders that belong to somebody else
	Beyond    int      // places with more files, or deeper ones, than are listed
}

// Find lists the session files of the agents; only names one, by its name, "" for all.
func Find(m Machine, only string) *Found {
	if m.Owner == nil {
		m.Owner = Owned
	}
	out := &Found{}
	for i := range Agents {
		a := &Agents[i]
		if only != "" && a.Name != only {
			continue
		}
		l := &listing{out: out, machine: m, agent: a}
		for _, p := range m.places(a) {
			l.place(p)
		}
		slices.SortFunc(l.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
		out.Files = append(out.Files, slices.CompactFunc(l.files, func(a, b File) bool { return a.Path == b.Path })...)
	}
	return out
}

// place is a folder that holds sessions, and the folder that it must not leave.
type place struct{ folder, within string }

// places returns the folders of an agent, as the variables have them.
func (m *Machine) places(a *Agent) (out []place) {
	for _, moved := range a.Moved {
		for root := range strings.SplitSeq(m.Env(moved.Variable), ",") {
			if root = strings.TrimSpace(root); root == "" {
				continue
			}
			for _, below := range moved.Below {
				out = append(out, place{filepath.Join(root, filepath.FromSlash(below)), root})
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	folders := a.Folders
	if m.System == "windows" && a.Windows != nil {
		folders = a.Windows
	}
	for _, folder := range folders {
		base, below, _ := strings.Cut(folder, "/")
		if root := m.base(base); root != "" {
			out = append(out, place{filepath.Join(root, filepath.FromSlash(below)), root})
		}
	}
	return out
}

// base returns the folder that a base stands for, "" if it is not known.
func (m *Machine) base(name string) string {
	below := func(folder ...string) string {
		if m.Home == "" {
			return ""
		}
		return filepath.Join(append([]string{m.Home}, folder...)...)
	}
	appdata := cmp.Or(m.Env("APPDATA"), below("AppData", "Roaming"))
	switch name {
	case "~":
		return m.Home
	case "APPDATA":
		return appdata
	case "DATA":
		return cmp.Or(m.Env("XDG_DATA_HOME"), below(".local", "share"))
	}
	switch m.System { // CODE
	case "windows":
		if appdata == "" {
			return ""
		}
		return filepath.Join(appdata, "Code", "User")
	case "darwin":
		return below("Library", "Application Support", "Code", "User")
	}
	if config := m.Env("XDG_CONFIG_HOME"); config != "" {
		return filepath.Join(config, "Code", "User")
	}
	return below(".config", "Code", "User")
}

// listing lists the places of one agent.
type listing struct {
	out     *Found
	machine Machine
	agent   *Agent
	files   []File
	left    int // files that may still be listed in a place
}

// place lists one folder.
func (l *listing) place(p place) {
	info, err := os.Stat(p.folder)
	if err != nil || !info.IsDir() {
		return
	}
	real, err := filepath.EvalSymlinks(p.folder)
	if err != nil {
		return
	}
	within, err := filepath.EvalSymlinks(p.within)
	if err != nil {
		return
	}
	if below, err := filepath.Rel(within, real); err != nil || !filepath.IsLocal(below) {
		l.out.Links = append(l.out.Links, p.folder)
		return
	}
	if !l.machine.Owner(info) {
		l.out.Foreign++
		return
	}
	l.left = MaxFiles
	l.folder(p.folder, "", 0)
}

// folder lists what is in a folder of a place, whose path below the place is name.
func (l *listing) folder(root, name string, depth int) {
	if depth > MaxDepth {
		l.out.Beyond++
		return
	}
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return // of a folder that may not be listed, or went away
	}
	for _, e := range entries {
		below := path.Join(name, e.Name())
		switch {
		case e.IsDir():
			if !leads(l.agent, below) {
				continue
			}
			if info, err := e.Info(); err == nil && !l.machine.Owner(info) {
				l.out.Foreign++
				continue
			}
			l.folder(root, below, depth+1)
		case e.Type().IsRegular():
			l.file(filepath.Join(root, filepath.FromSlash(below)), below, e)
		}
	}
}

// file lists a file, if it is a session.
func (l *listing) file(full, below string, e fs.DirEntry) {
	if matches(l.agent.Databases, below) && !slices.Contains(l.out.Databases, l.agent) {
		l.out.Databases = append(l.out.Databases, l.agent)
	}
	if !matches(l.agent.Files, below) {
		return
	}
	info, err := e.Info()
	switch {
	case err != nil:
	case !l.machine.Owner(info):
		l.out.Foreign++
	case l.left == 0:
		l.out.Beyond++
	default:
		l.left--
		l.files = append(l.files, File{Agent: l.agent, Path: full, Size: info.Size(), Changed: info.ModTime()})
	}
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return match(strings.Split(p, "/"), strings.Split(name, "/"), false)
	})
}

// leads reports whether a session or a database may be below a folder.
func leads(a *Agent, folder string) bool {
	parts := strings.Split(folder, "/")
	leads := func(p string) bool { return match(strings.Split(p, "/"), parts, true) }
	return slices.ContainsFunc(a.Files, leads) || slices.ContainsFunc(a.Databases, leads)
}

// match reports whether the parts of a name match those of a pattern, or, for a folder,
// whether what is below it may.
func match(pattern, name []string, folder bool) bool {
	switch {
	case len(name) == 0:
		return folder && len(pattern) > 0 || len(pattern) == 0
	case len(pattern) == 0:
		return false
	case pattern[0] == "**":
		return match(pattern[1:], name, folder) || match(pattern, name[1:], folder)
	}
	ok, _ := path.Match(pattern[0], name[0])
	return ok && match(pattern[1:], name[1:], folder)
}
