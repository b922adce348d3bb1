package cli

import (
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	p := &Progress{out: &out}
	p.set(1, 100)
	if out.Len() > 0 {
		t.Errorf("a bar before %v have passed: %q", progressDelay, out.String())
	}
	p.start = time.Now().Add(-2 * progressDelay)
	p.set(50, 100)
	if !strings.Contains(out.String(), "reading") || !strings.Contains(out.String(), "50%") {
		t.Errorf("no bar: %q", out.String())
	}
	p.clear()
	if !strings.HasSuffix(out.String(), "\r") {
		t.Errorf("the bar is not taken away: %q", out.String())
	}
	p.set(10, 0) // the size is not known any more
	p.Done()
	n := out.Len()
	p.set(60, 100)
	if out.Len() != n {
		t.Errorf("a new bar at once: %q", out.String()[n:])
	}

	p.Doing, p.start = "compiling (2 of 9)", time.Now().Add(-2*progressDelay)
	p.set(70, 100)
	if !strings.Contains(out.String()[n:], "compiling (2 of 9)") {
		t.Errorf("the bar does not say what is done: %q", out.String()[n:])
	}

	silent := &Progress{}
	silent.start = time.Now().Add(-time.Hour)
	silent.set(50, 100)
	silent.clear()
	silent.Done()
}
