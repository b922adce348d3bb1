package formats_test

import (
	"regexp"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
)

// TestFormats holds that the table of formats is complete.
func TestFormats(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, f := range formats.All {
		if !name.MatchString(f.Name) || seen[f.Name] {
			t.Errorf("%q is no name, or is one already", f.Name)
		}
		seen[f.Name] = true
		if f.Doc == "" || f.Spec == "" || f.Detect == nil || f.Decode == nil {
			t.Errorf("%s lacks Doc, Spec, Detect or Decode", f.Name)
		}
		if match := f.Detect(trace.Head{}); match.OK {
			t.Errorf("%s claims an empty file", f.Name)
		}
	}
}
