package cli

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// defaultConfig is read if it is there; a file named by --config must be.
const defaultConfig = "awo.yaml"

// config is what awo.yaml says for one command: at the top the settings of all
// commands, in a section named like the command its own.
//
//	workers: 2
//	analyze:
//	  order: 4
type config struct {
	shared, own section
}

// section holds the values of flags, by name: one text, or several for flags
// that may be given more than once.
type section struct {
	values    map[string][]string
	positions map[string]diag.Pos
	// found says that the file happened to be in the current folder, which may be
	// somebody else's: nobody named it.
	found bool
	set   *[]string // what the file changed, as "name value"
}

// refusal returns why a value is not taken from a file that nobody named, nil if it is:
// such a file cannot have values shown, start a program or talk to one elsewhere, nor reach
// files outside its folder.
func (s *section) refusal(f *pflag.Flag, texts []string) *diag.Error {
	if !s.found {
		return nil
	}
	const how = "say --%[1]s on the command line, or --config %[2]s if you trust the file"
	pos := s.positions[f.Name]
	if (Reveals(f.Name) || Reaches(f.Name)) && f.DefValue != strings.Join(texts, ",") {
		return diag.New(pos, "config-untrusted", "`%s` is not taken from a file that happens to be in the folder", f.Name).
			Note(diag.Pos{}, how, f.Name, pos.File)
	}
	if !NamesFile(f) {
		return nil
	}
	for _, text := range texts {
		if !insideFolder(strings.TrimPrefix(text, "@")) {
			return diag.New(pos, "config-untrusted", "`%s` leads out of the folder of this file, which nobody named", f.Name).
				Note(diag.Pos{}, how, f.Name, pos.File)
		}
	}
	return nil
}

// insideFolder reports whether a path, or a pattern of paths, stays in the current
// folder, also where symbolic links are followed. What does not exist yet stays where
// the folder does in which it would be made.
func insideFolder(name string) bool {
	if before, _, isPattern := strings.Cut(name, "*"); isPattern && !strings.Contains(name, "..") {
		name = filepath.Dir(before + "x")
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	here, err := filepath.EvalSymlinks(".")
	if err != nil {
		return false
	}
	for folder := filepath.Clean(filepath.FromSlash(name)); ; folder = filepath.Dir(folder) {
		at, err := filepath.EvalSymlinks(folder)
		if errors.Is(err, fs.ErrNotExist) && folder != "." {
			if _, err := os.Lstat(folder); err == nil {
				return false // a link to what does not exist
			}
			continue
		}
		if err != nil {
			return false
		}
		from, err := filepath.Rel(here, at)
		return err == nil && filepath.IsLocal(from)
	}
}

// under returns the section with the values of another one in place of its own.
func (s section) under(o *section) section {
	s.values, s.positions = maps.Clone(s.values), maps.Clone(s.positions)
	maps.Copy(s.values, o.values)
	maps.Copy(s.positions, o.positions)
	return s
}

// loadConfig reads the configuration for c, and lists everything that is wrong
// with the file. The error is one of usage.
func (a *App) loadConfig(c *cobra.Command) (config, diag.List, error) {
	name, named := c.Flag("config").Value.String(), true
	if name == "" {
		name = os.Getenv(environmentName("config"))
	}
	if name == "" {
		name, named = defaultConfig, false
	}
	if _, err := os.Lstat(name); err == nil && !named && !insideFolder(name) {
		return config{}, nil, Usagef("%s is a link out of this folder: name it with --config if you trust it", name)
	}
	src, err := ReadSmall(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return config{}, nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return config{}, nil, Usagef("--config: there is no file %s", name)
	case err != nil:
		return config{}, nil, Usagef("--config: %s cannot be read", name)
	}
	doc, problems := yamlsrc.Parse(name, src, yamlsrc.Options{})
	r := configReader{problems: problems}
	a.showLines(name, src)
	out := config{shared: newSection(), own: newSection()}
	if !named {
		a.configured = nil
		out.shared.found, out.own.found = true, true
		out.shared.set, out.own.set = &a.configured, &a.configured
	}
	if doc.Root != nil && !isEmpty(doc.Root) {
		r.read(doc.Root, c, &out)
	}
	return out, r.problems, nil
}

func newSection() section {
	return section{values: map[string][]string{}, positions: map[string]diag.Pos{}}
}

// isEmpty reports whether n is a value that is left out.
func isEmpty(n *yamlsrc.Node) bool {
	return n.Kind == yamlsrc.Scalar && n.Style == yamlsrc.Plain && n.Text == ""
}

// configReader walks the tree of a configuration and collects what is wrong.
type configReader struct{ problems diag.List }

// read takes the whole file: sections of other commands are checked as well,
// so that a mistake shows on the first run.
func (r *configReader) read(root *yamlsrc.Node, c *cobra.Command, out *config) {
	if root.Kind != yamlsrc.Mapping {
		r.problem(root.Pos, "config-type", "settings are a mapping such as `workers: 2`, this is %s", root.Kind)
		return
	}
	shared := c.Root().PersistentFlags()
	for _, e := range root.Entries {
		key := e.Key.Text
		sub := child(c.Root(), key) // rules are a setting, too
		if f := configurable(shared, key); f != nil && (sub == nil || e.Value.Kind != yamlsrc.Mapping) {
			r.value(f, e.Value, out.shared)
			continue
		}
		if sub == nil {
			r.unknown(e.Key, append(configNames(shared), ChildNames(c.Root())...))
			continue
		}
		r.command(sub, e.Value, c, out)
	}
}

// command takes the section of a command, and of those below it.
func (r *configReader) command(of *cobra.Command, n *yamlsrc.Node, c *cobra.Command, out *config) {
	if isEmpty(n) {
		return
	}
	if n.Kind != yamlsrc.Mapping {
		r.problem(n.Pos, "config-type", "the settings of `%s` are a mapping, this is %s", of.CommandPath(), n.Kind)
		return
	}
	own := of.LocalNonPersistentFlags()
	into := newSection()
	if of == c {
		into = out.own
	}
	for _, e := range n.Entries {
		if f := configurable(own, e.Key.Text); f != nil {
			r.value(f, e.Value, into)
			continue
		}
		if sub := child(of, e.Key.Text); sub != nil {
			r.command(sub, e.Value, c, out)
			continue
		}
		if f := configurable(c.Root().PersistentFlags(), e.Key.Text); f != nil && len(f.Annotations) > 0 && takes(of, f) {
			r.value(f, e.Value, into)
			continue
		} else if f != nil {
			r.problem(e.Key.Pos, "config-key", "`%s` is a setting of all commands: it belongs at the top of the file", e.Key.Text)
			continue
		}
		r.unknown(e.Key, append(configNames(own), ChildNames(of)...))
	}
}

// value takes the value of a flag: a text, or a list of texts.
func (r *configReader) value(f *pflag.Flag, n *yamlsrc.Node, into section) {
	var texts []string
	_, several := f.Value.(pflag.SliceValue)
	switch {
	case n.Bad:
		return
	case n.Kind == yamlsrc.Scalar && !isEmpty(n):
		texts = []string{n.Text}
	case n.Kind == yamlsrc.Sequence && several:
		for _, e := range n.Entries {
			if e.Value.Kind != yamlsrc.Scalar || isEmpty(e.Value) {
				r.problem(e.Value.Pos, "config-value", "an element of `%s` is a text", f.Name)
				return
			}
			texts = append(texts, e.Value.Text)
		}
	default:
		r.problem(n.Pos, "config-value", "`%s` wants %s", f.Name, Wanted(f.Value))
		return
	}
	into.values[f.Name], into.positions[f.Name] = texts, n.Pos
}

func (r *configReader) unknown(key *yamlsrc.Node, candidates []string) {
	e := diag.New(key.Pos, "config-key", "there is no setting or command `%s` here", key.Text)
	if near := diag.Nearest(key.Text, candidates); near != "" {
		e.Note(diag.Pos{}, "did you mean `%s`?", near)
	}
	r.problems = append(r.problems, e)
}

func (r *configReader) problem(pos diag.Pos, code, format string, args ...any) {
	r.problems = append(r.problems, diag.New(pos, code, format, args...))
}

// configurable returns the flag of that name if a file may set it, else nil.
func configurable(flags *pflag.FlagSet, name string) *pflag.Flag {
	if name == "help" || name == "config" {
		return nil
	}
	return flags.Lookup(name)
}

func configNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if configurable(flags, f.Name) != nil && !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// child returns the command below c of that name, else nil.
func child(c *cobra.Command, name string) *cobra.Command {
	i := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
	if i < 0 || strings.HasPrefix(name, "_") {
		return nil
	}
	return c.Commands()[i]
}

// ChildNames returns the names of the commands below c that are shown.
func ChildNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return names
}
