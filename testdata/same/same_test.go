package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fakeProgram writes a shell script that answers `version` as awo does.
func fakeProgram(t *testing.T, version, script string) *program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "awo")
	text := "#!/bin/sh\nif [ \"$1\" = version ]; then echo '{\"version\":\"" + version + "\",\"commit\":\"\"}'; exit; fi\n" + script + "\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := openProgram(path)
	if err != nil {
		t.Skipf("a shell script does not run here: %v", err)
	}
	return p
}

func TestDifferences(t *testing.T) {
	input := filepath.Join(t.TempDir(), "traces.jsonl")
	if err := os.WriteFile(input, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := &testCase{steps: []string{"first {in} 'a b'", "second <in.txt"}, corpus: corpus{inputs: []string{input, input}}}
	common := `echo "$#:$*"; if [ "$1" = first ]; then echo text >in.txt; else cat; fi; `
	old := fakeProgram(t, "v1.2.3", common+`echo 'made by v1.2.3' >>made; echo gone >gone`)
	cases := map[string]struct {
		script string
		want   []string // beginnings
	}{
		"same":     {common + `echo 'made by v1.2.4' >>made; echo gone >gone`, nil},
		"a file":   {common + `echo 'made by me' >>made; echo x >new`, []string{"file gone is no longer written", "file made differs\n  @@", "file new is new (2 bytes)"}},
		"output":   {common + `echo 'made by v1.2.4' >>made; echo gone >gone; [ "$1" = first ] || echo no >&2`, []string{"awo second <in.txt: stderr differs"}},
		"the code": {common + `echo 'made by v1.2.4' >>made; echo gone >gone; [ "$1" = second ]`, []string{"awo first {in} 'a b': exit code 1, was 0"}},
		"no end":   {common + `echo 'made by v1.2.4' >>made; echo gone >gone; [ "$1" = second ] || exec sleep 60`, []string{"awo first {in} 'a b': exit code none (it took too long), was 0", "awo first {in} 'a b': stdout differs"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			after := fakeProgram(t, "v1.2.4", test.script)
			cache := t.TempDir()
			for range 2 { // The second time OLD comes from the cache.
				before, err := remembered(cache, old, c, filepath.Join(t.TempDir(), "old"), time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				if got := string(before.Steps[0].Stdout); got != "4:first "+input+" "+input+" a b\n" {
					t.Fatalf("the arguments are %q", got)
				}
				timeout := time.Minute
				if name == "no end" {
					timeout = 500 * time.Millisecond
				}
				found, err := c.run(after, filepath.Join(t.TempDir(), "new"), timeout)
				if err != nil {
					t.Fatal(err)
				}
				got := differences(before, found, 20)
				if name == "a file" && len(got) > 3 {
					t.Fatalf("%q", got)
				}
				for i, want := range test.want {
					if i >= len(got) || !strings.HasPrefix(got[i], want) {
						t.Errorf("difference %d of %q does not begin with %q", i, got, want)
					}
				}
				if len(got) != len(test.want) {
					t.Errorf("there are %d differences, want %d: %q", len(got), len(test.want), got)
				}
			}
		})
	}
}

func TestExcerpt(t *testing.T) {
	if got := excerpt([]byte("a\xff"), []byte("abc"), 20); got != "  3 bytes, were 2" {
		t.Errorf("of binary content: %q", got)
	}
	long := strings.Repeat("x", 5000)
	got := excerpt([]byte(long+"1"+long+"\n"), []byte(long+"2"+long+"\n"), 20)
	if !strings.Contains(got, "x1x") || !strings.Contains(got, "x2x") || len(got) > 1200 {
		t.Errorf("a long line does not show where it differs: %d bytes", len(got))
	}
	many := strings.Repeat("line\n", 100)
	if got := strings.Count(excerpt(nil, []byte(many), 5), "\n"); got != 5 {
		t.Errorf("%d lines follow the first, want 5", got)
	}
}

func TestCorporaAreFound(t *testing.T) {
	corpora, err := corporaOf("../..", filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	if corpora[0].name != "office" || len(corpora) < 4 {
		t.Errorf("there are %d corpora, and the first is %s", len(corpora), corpora[0].name)
	}
	folder := t.TempDir()
	for name, size := range map[string]int{"tau/large.json": 40_000, "few/a.json": 10, "few/b.jsonl": 10, "few/LICENSE": 10} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := recordedBelow(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range recorded {
		names = append(names, c.name)
	}
	if !slices.Equal(names, []string{"tau/large.json", "few"}) || len(recorded[1].inputs) != 2 {
		t.Errorf("recorded traces are %v", names)
	}
}
