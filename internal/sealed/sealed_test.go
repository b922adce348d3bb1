package sealed_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/sealed"
)

var kind = sealed.Kind{Name: "thing", Schema: "awo.thing/v2"}

// What was written comes back, and what was not has a code.
func TestDecode(t *testing.T) {
	whole := kind.Encode([]int{1, 2, 3})
	if !bytes.Equal(whole, kind.Encode([]int{1, 2, 3})) {
		t.Error("equal content gives other bytes")
	}
	for name, x := range map[string]struct {
		data []byte
		want string
	}{
		"whole":         {whole, ""},
		"nothing":       {nil, "thing-foreign"},
		"text":          {[]byte("text"), "thing-foreign"},
		"magic":         {whole[:2], "thing-truncated"},
		"half":          {whole[:len(whole)/2], "thing-truncated"},
		"another":       {(sealed.Kind{Name: "x", Schema: "awo.x/v1"}).Encode(1), "thing-foreign"},
		"another major": {(sealed.Kind{Name: "thing", Schema: "awo.thing/v3"}).Encode(1), "thing-version"},
		"another shape": {kind.Encode("text"), "thing-corrupt"},
		"changed":       {append(bytes.Clone(whole[:len(whole)-8]), 0, 0, 0, 0, 0, 0, 0, 0), "thing-corrupt"},
	} {
		var got []int
		err := kind.Decode("file", x.data, &got)
		code := ""
		if e, ok := err.(*diag.Error); ok {
			code = e.Code
		}
		if code != x.want || err == nil && len(got) != 3 || err != nil && !strings.HasPrefix(err.Error(), "file") {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}
