package catalog

import (
	"errors"
	"testing"

	"github.com/awo-dev/awo/diag"
)

// TestDecode: every way in which a file is none of a kind has its code and its place.
func TestDecode(t *testing.T) {
	kind := Stored{What: "test", Schema: "test/v1", From: "nobody writes it", CodeSchema: "other", CodeShape: "shape"}
	type file struct{ N int }
	build := func(f *file) (int, string) {
		if f.N < 0 {
			return 0, "n is below 0"
		}
		return f.N, ""
	}
	if n, err := Decode(kind, "a.json", []byte(`{"N": 7, "schema": "test/v1"}`), build); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for src, code := range map[string]string{
		`{"schema": "test/v2"}`: "other", `[]`: "other", `7`: "other", `{"schema": "test/v1", "N": "x"}`: "shape",
		`{"schema": "test/v1", "N": -1}`: "shape", `{"schema": "test/v1"`: "json-truncated", `{"schema": "test/v1"} x`: "json-trailing", ``: "json-truncated",
	} {
		_, err := Decode(kind, "a.json", []byte(src), build)
		problem, ok := errors.AsType[*diag.Error](err)
		if !ok || problem.Code != code || problem.Pos.File != "a.json" {
			t.Errorf("%s: %v, want %s", src, err, code)
		}
	}
}
