package rules

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/golden"
	"github.com/awo-dev/awo/internal/yamlsrc"
	"pgregory.net/rapid"
)

func TestFormat(t *testing.T) {
	archive := golden.Open(t)
	for name, src := range sources(t, "format") {
		out, err := Format(name, src)
		if err != nil {
			t.Fatal(err)
		}
		archive.Check(t, name, out)
		set, problems := Options{}.Check("f", src)
		checkFormat(t, src, set, problems)
	}
}

// TestFormatCorpus formats every file of the corpus that is readable YAML: the
// meaning stays, a second time changes nothing, and no comment is lost.
func TestFormatCorpus(t *testing.T) {
	formatted := 0
	for _, folder := range []string{"problems", "valid", "format"} {
		for name, src := range sources(t, folder) {
			set, problems := Options{Load: fromFS(os.DirFS("testdata/" + folder))}.Check(name, src)
			unreadable := slices.ContainsFunc(problems, func(e *diag.Error) bool { return strings.HasPrefix(e.Code, "yaml-") && e.Pos.File == name })
			out, err := Format(name, src)
			if unreadable != (err != nil) {
				t.Errorf("%s: %v", name, err)
			}
			if err != nil {
				continue
			}
			formatted++
			if len(set.Rules) > 0 && !slices.ContainsFunc(set.Rules, func(r *Rule) bool { return r.Pos.File != name }) {
				set, problems := Options{}.Check("f", src)
				checkFormat(t, src, set, problems)
			}
			before, after := comments(t, src), comments(t, out)
			slices.Sort(before)
			slices.Sort(after)
			if !slices.Equal(before, after) {
				t.Errorf("%s: comments %q, before %q", name, after, before)
			}
			if strings.HasSuffix(name, ".json") {
				if doc, _ := yamlsrc.Parse(name, out, yamlsrc.Options{}); !doc.JSON {
					t.Errorf("%s is no JSON any more", name)
				}
			}
		}
	}
	if formatted < 20 {
		t.Errorf("only %d files were formatted", formatted)
	}
}

func TestFormatRefuses(t *testing.T) {
	for src, code := range map[string]string{
		"version: 1\nversion: 1\n": "yaml-duplicate-key",
		"rules: [\n":               "yaml-unclosed",
		"a: *b\n":                  "yaml-alias",
	} {
		out, err := Format("f", []byte(src))
		list, ok := errors.AsType[diag.List](err)
		if out != nil || !ok || list[0].Code != code {
			t.Errorf("%q: %q, %v", src, out, err)
		}
	}
}

// TestFormatProperty: whatever the order of fields and the layout, a rule file
// is formatted in one way.
func TestFormatProperty(t *testing.T) {
	src := sources(t, "valid")["every_kind.yaml"]
	want, err := Format("f", src)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		doc, problems := yamlsrc.Parse("f", src, yamlsrc.Options{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		shuffle(t, doc.Root)
		shuffled := doc.Append(nil)
		out, err := Format("f", shuffled)
		if err != nil || !bytes.Equal(out, want) {
			t.Fatalf("%s\nis formatted as\n%s\n%v", shuffled, out, err)
		}
	})
}

// ordered are the fields whose members mean something in their order.
var ordered = []string{"args", "context", "annotations"}

// shuffle puts fields into any order, and brackets around some of them.
func shuffle(t *rapid.T, n *yamlsrc.Node) {
	for _, e := range n.Entries {
		if e.Key == nil || !slices.Contains(ordered, e.Key.Text) {
			shuffle(t, e.Value)
		}
	}
	if n.Kind == yamlsrc.Mapping && len(n.Entries) > 1 {
		n.Entries = rapid.Permutation(n.Entries).Draw(t, "order")
	}
}

func ExampleFormat() {
	out, err := Format("rules.yaml", []byte("rules:\n- {kind: drop, match: {tool: think}, id: thoughts} # no call\nversion:   1"))
	fmt.Printf("%s%v", out, err)
	// Output:
	// version: 1
	//
	// rules:
	//   - {id: thoughts, kind: drop, match: {tool: think}} # no call
	// <nil>
}
