package extraction

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/trace"
)

// recalling lets the command c take what its command line leaves open from the
// manifest of a folder, which folder names ("" for none) given the arguments: options
// that neither a flag, the environment nor awo.yaml sets, and the rules, prices and
// traces if none are named. rest are the arguments without the folder.
//
// The manifest may be anybody's. Of options only those are taken that show nothing and
// name no file, and of files only regular ones below the current folder.
func recalling(c *cobra.Command, folder func(c *cobra.Command, args []string) (dir string, kept, files []string)) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		dir, kept, files := folder(c, args)
		if dir != "" {
			var err error
			if files, err = recall(c, dir, files); err != nil {
				return err
			}
			args = slices.Concat(kept, files)
		}
		return run(c, args)
	}
	return c
}

// recall sets the flags of c that nothing else sets as the manifest in dir has
// them, and returns files, or the traces that it names if there are none. A
// folder without a manifest sets nothing.
func recall(c *cobra.Command, dir string, files []string) ([]string, error) {
	m, ok := readManifest(dir)
	if !ok {
		return files, nil
	}
	if err := recallOptions(c, dir, m.Options); err != nil {
		return nil, err
	}
	mayNotNeed := c.Name() == "why" // it asks for what is missing when it needs it
	recalled := map[string]bool{}
	for _, in := range m.Inputs {
		// The first one of a role is what the flag named; the others are included by it.
		f := c.Flags().Lookup(in.Role)
		if in.Role == "traces" || f == nil || f.Changed || recalled[in.Role] || f.Value.String() != "" {
			continue
		}
		recalled[in.Role] = true
		name, err := m.locate(dir, in)
		switch {
		case err == nil:
			_ = f.Value.Set(name) // a text, which takes anything
		case !mayNotNeed:
			return nil, err
		}
	}
	if len(files) > 0 {
		return files, nil
	}
	files, err := m.traces(dir)
	if err != nil && mayNotNeed {
		return nil, nil
	}
	return files, err
}

// recalledOptions returns the options of the extraction that made a folder.
func recalledOptions(a *cli.App, dir string) (Options, error) {
	c := NewExtract(a)
	if m, ok := readManifest(dir); ok {
		if err := recallOptions(c, dir, m.Options); err != nil {
			return Options{}, err
		}
	}
	return cli.Flags[Options](c)
}

// missing is the error of inputs that the manifest in dir names, are not where it says,
// and were not named otherwise.
func (m recalledManifest) missing(j *cli.Job, dir string, files []string) error {
	for _, in := range m.Inputs {
		named := map[string]bool{"traces": len(files) > 0, "rules": j.RuleFile != "", "prices": j.Prices != "", "tool-graph": true}
		if named[in.Role] {
			continue
		}
		if _, err := m.locate(dir, in); err != nil {
			return err
		}
	}
	return nil
}

// traces returns the paths of the traces that the manifest in dir names.
func (m recalledManifest) traces(dir string) (files []string, err error) {
	for _, in := range m.Inputs {
		if in.Role != "traces" {
			continue
		}
		name, err := m.locate(dir, in)
		if err != nil {
			return nil, err
		}
		files = append(files, name)
	}
	return files, nil
}

// recallOptions sets the flags of c that are not set as a manifest has them.
func recallOptions(c *cobra.Command, dir string, options map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(options)) {
		f := c.Flags().Lookup(name)
		if f == nil || f.Changed || slices.Contains(cli.UnrelatedOptions, name) || slices.Contains([]string{"format", "config", "workers"}, name) {
			continue
		}
		if cli.Reveals(name) || cli.Reaches(name) || cli.NamesFile(f) || name == "max-record" {
			if cli.InEnvironment(f) {
				continue
			}
			if text, err := recalledText(options[name]); err == nil && text != f.Value.String() && !isDefaultSize(name, text) {
				return cli.Usagef("%s: it was made with --%s %s, which is only taken from the command line: say so there, too", manifestOf(dir), name, text)
			}
			continue
		}
		if err := setRecalled(f, options[name]); err != nil {
			return cli.Usagef("%s: option %q has a value that is not %s", manifestOf(dir), name, cli.Wanted(f.Value))
		}
	}
	return nil
}

// isDefaultSize reports whether text is the default size of records, which a manifest
// has as a number of bytes.
func isDefaultSize(name, text string) bool {
	return name == "max-record" && text == strconv.Itoa(trace.DefaultMaxRecord)
}

// locate returns the path of an input of the manifest in dir. It is an error of usage
// that the input is not below the current folder, or is not a regular file.
func (m recalledManifest) locate(dir string, in emit.Input) (string, error) {
	if in.File == "-" {
		return "", cli.Usagef("%s: the %s came from the standard input; name them", manifestOf(dir), in.Role)
	}
	path := filepath.Join(dir, filepath.FromSlash(in.File))
	if m.Schema == emit.ManifestBefore {
		path = filepath.FromSlash(in.File)
	}
	if name, ok := below(path); ok {
		return name, nil
	}
	how := "name the traces"
	if in.Role != "traces" {
		how = "name it with --" + in.Role
	}
	return "", cli.Usagef("%s: it was made from %q (SHA-256 %.12s…), which is no file below this folder; run this where it was made, or %s", manifestOf(dir), in.File, in.SHA256, how)
}

// below returns a path from the current folder to a regular file in it, also after
// symbolic links were followed, and false for every other path.
func below(path string) (string, bool) {
	here, err := os.Getwd()
	if err != nil {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(here, path)
	}
	name, err := filepath.Rel(here, path)
	if err != nil || !filepath.IsLocal(name) {
		return "", false
	}
	root, err := os.OpenRoot(here)
	if err != nil {
		return "", false
	}
	defer root.Close()
	info, err := root.Stat(name)
	return name, err == nil && info.Mode().IsRegular()
}

// readManifest reads the manifest in a folder, false if there is none that can be
// read.
func readManifest(dir string) (m recalledManifest, ok bool) {
	src, err := readArtefact(dir, emit.ManifestName)
	if err != nil || json.Unmarshal(src, &m) != nil || m.Schema != emit.ManifestSchema && m.Schema != emit.ManifestBefore {
		return recalledManifest{}, false
	}
	return m, true
}

// recalledManifest is a manifest as it is read.
type recalledManifest struct {
	Schema  string                     `json:"schema"`
	Options map[string]json.RawMessage `json:"options"`
	Inputs  []emit.Input               `json:"inputs"`
	Ways    []emit.Way                 `json:"ways"`
	Files   []emit.Artefact            `json:"files"`
}

// makes reports whether a file is one of those that the manifest lists.
func (m recalledManifest) makes(name string) bool {
	return slices.ContainsFunc(m.Files, func(f emit.Artefact) bool { return f.Name == name })
}

// ways returns what was recommended, by the key of the agent.
func (m recalledManifest) ways() map[string]backtest.Way {
	out := map[string]backtest.Way{}
	for _, w := range m.Ways {
		out[w.Agent] = backtest.Way{Kind: backtest.Kind(w.Kind), P: w.P, T: w.T}
	}
	return out
}

func manifestOf(dir string) string { return filepath.ToSlash(filepath.Join(dir, emit.ManifestName)) }

// setRecalled sets a flag to the value that values wrote. It does not count as
// set on the command line, so that the environment and awo.yaml come first.
func setRecalled(f *pflag.Flag, value json.RawMessage) error {
	var list []string
	if slice, ok := f.Value.(pflag.SliceValue); ok {
		if err := json.Unmarshal(value, &list); err != nil {
			return err
		}
		return slice.Replace(list)
	}
	text, err := recalledText(value)
	if err != nil || f.Value.String() == text {
		return err
	}
	return f.Value.Set(text)
}

// recalledText is the value of an option as a flag takes it.
func recalledText(value json.RawMessage) (string, error) {
	text := strings.TrimSpace(string(value))
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	err := json.Unmarshal(value, &text)
	return text, err
}
