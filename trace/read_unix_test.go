//go:build unix

package trace

import (
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNamedPipe holds that a named pipe is read like standard input, again only
// if it was spooled, and is no file when it lies in a folder.
func TestNamedPipe(t *testing.T) {
	lay(t, map[string]string{"d/a.jsonl": oneCall})
	if err := syscall.Mkfifo("d/pipe", 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	if d := cmp.Diff([]string{"d/a.jsonl:1 at d/a.jsonl:1:1 +0 calls [a]"}, readPaths(t, Options{}, "d")); d != "" {
		t.Error(d)
	}
	once := "d/pipe:1 at d/pipe:1:1 +0 calls [a]"
	for spool, want := range map[bool][]string{
		true:  {once, once},
		false: {once, "error d/pipe: stream-spent: it was read already and cannot be read again"},
	} {
		go func() { // opening a pipe waits for the other end
			if err := os.WriteFile("d/pipe", []byte(oneCall), 0); err != nil {
				t.Error(err)
			}
		}()
		r, err := Open([]string{"d/pipe"}, Options{Formats: testFormats(), Spool: spool})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, append(describe(r), describe(r)...)); d != "" {
			t.Errorf("spooled %v: %s", spool, d)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
