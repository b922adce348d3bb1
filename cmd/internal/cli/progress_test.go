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

	p.start = time.Now().Add(-2 * progressDelay)
	p.Step("compiling (2 of 8)", 1, 8)
	p.set(50, 100)
	p.Done() // the reading, not the step
	if text := out.String()[n:]; !strings.Contains(text, "compiling (2 of 8)") || !strings.Contains(text, "12%") {
		t.Errorf("the bar does not say what is done: %q", text)
	}
	p.Step("compiling (7 of 8)", 6, 8)
	if err := p.bar.RenderBlank(); err != nil {
		t.Fatal(err)
	}
	if text := out.String()[n:]; !strings.Contains(text, "s:") {
		t.Errorf("the bar does not say how long it will take: %q", text)
	}
	p.end()
	if p.isStepping() {
		t.Error("there are steps after the end")
	}

	silent := &Progress{}
	silent.start = time.Now().Add(-time.Hour)
	silent.set(50, 100)
	silent.clear()
	silent.Done()
}
