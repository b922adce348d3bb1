package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManifest writes artefacts of a file, of the standard input and of rules.
func TestManifest(t *testing.T) {
	const chat = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}` + "\n"
	folder := t.TempDir()
	traces := filepath.Join(folder, "traces.jsonl")
	if err := os.WriteFile(traces, []byte(chat+chat), 0o666); err != nil {
		t.Fatal(err)
	}
	j := &Job{stdin: newHashedReader(strings.NewReader(chat))}
	in, err := j.input("traces", traces)
	if err != nil || in.Bytes != int64(2*len(chat)) || len(in.SHA256) != 64 {
		t.Errorf("a file: %+v, %v", in, err)
	}
	if _, err := io.Copy(io.Discard, &j.stdin); err != nil {
		t.Fatal(err)
	}
	stdin, err := j.input("traces", "-")
	if err != nil || stdin.Bytes != int64(len(chat)) || len(stdin.SHA256) != 64 || stdin.SHA256 == in.SHA256 {
		t.Errorf("the standard input: %+v, %v", stdin, err)
	}
	for _, name := range []string{folder, filepath.Join(folder, "missing")} {
		if in, err := j.input("traces", name); err != nil || in.SHA256 != "" {
			t.Errorf("%s: %+v, %v", name, in, err)
		}
	}
}
