package extraction

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
)

// recalling lets the command c take what its command line leaves open from the
// manifest of a folder, which folder names ("" for none) given the arguments:
// options that neither a flag, the environment nor awo.yaml sets, the rule file,
// and the traces if none are named. rest are the arguments without the folder.
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
	for name, value := range m.Options {
		f := c.Flags().Lookup(name)
		if f == nil || f.Changed || slices.Contains(cli.UnrelatedOptions, name) || slices.Contains([]string{"format", "config", "workers"}, name) {
			continue
		}
		if err := setRecalled(f, value); err != nil {
			return nil, cli.Usagef("%s: option %q has a value that is not %s", manifestOf(dir), name, cli.Wanted(f.Value))
		}
	}
	rules := c.Flags().Lookup("rules")
	fromStdin := false
	for _, in := range m.Inputs {
		switch {
		case in.Role == "rules" && rules != nil && !rules.Changed:
			if rules.Value.String() == "" { // the first one; the others are included
				_ = rules.Value.Set(filepath.FromSlash(in.File))
			}
		case in.Role == "traces":
			fromStdin = fromStdin || in.File == "-"
		}
	}
	if len(files) > 0 {
		return files, nil
	}
	if fromStdin {
		return nil, cli.Usagef("%s: the traces came from the standard input; name them", manifestOf(dir))
	}
	for _, in := range m.Inputs {
		if in.Role != "traces" {
			continue
		}
		name := filepath.FromSlash(in.File)
		if _, err := os.Stat(name); err != nil {
			return nil, cli.Usagef("%s: it was made from %q, which is not here; run this where it was made, or name the traces", manifestOf(dir), in.File)
		}
		files = append(files, name)
	}
	return files, nil
}

// readManifest reads the manifest in a folder, false if there is none that can be
// read.
func readManifest(dir string) (m recalledManifest, ok bool) {
	src, err := readArtefact(filepath.Join(dir, emit.ManifestName))
	if err != nil || json.Unmarshal(src, &m) != nil || m.Schema != emit.ManifestSchema {
		return recalledManifest{}, false
	}
	return m, true
}

// recalledManifest is a manifest as it is read.
type recalledManifest struct {
	Schema  string                     `json:"schema"`
	Options map[string]json.RawMessage `json:"options"`
	Inputs  []emit.Input               `json:"inputs"`
	Files   []emit.Artefact            `json:"files"`
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
	text := strings.TrimSpace(string(value))
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
	}
	if f.Value.String() == text {
		return nil
	}
	return f.Value.Set(text)
}
