//go:build unix

package cli

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
)

// TestPipesAreNotWaitedFor: a pipe where rules, prices or settings should be, or that a
// pattern matches, keeps no command waiting. Nothing ever writes into it.
func TestPipesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "awo.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := ReadSmall(pipe); err == nil {
		t.Error("a pipe is read")
	}
	if _, err := ReadSmall("/dev/zero"); err == nil {
		t.Error("a device is read")
	}
	r, err := trace.Open([]string{filepath.Join(dir, "*")}, trace.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, err := range r.All() {
		t.Errorf("a pipe that a pattern matches gives %v", err)
	}
}
