package yamlvalue_test

import (
	"testing"

	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/internal/yamlvalue"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		`a: 1`:                  `{"a":1}`,
		`a: 9007199254740993`:   `{"a":9007199254740993}`,
		`a: 1e400`:              `{"a":1e400}`,
		`a: "1"`:                `{"a":"1"}`,
		`a: '~'`:                `{"a":"~"}`,
		`a: ~`:                  `{"a":null}`,
		`a:`:                    `{"a":null}`,
		`a: True`:               `{"a":true}`,
		`a: yes`:                `{"a":"yes"}`,
		`a: 2026-01-02`:         `{"a":"2026-01-02"}`,
		`a: two words`:          `{"a":"two words"}`,
		`[1, [x, null], {b: }]`: `[1,["x",null],{"b":null}]`,
		`a: 0x10`:               "",
		`a: .inf`:               "",
		`a: [.nan]`:             "",
		`a: 007`:                "",
		`a: +5`:                 "",
	} {
		doc, problems := yamlsrc.Parse("a.yaml", []byte(text), yamlsrc.Options{})
		if problems.Err() != nil {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		v, bad := yamlvalue.Of(doc.Root)
		if (bad != nil) != (want == "") {
			t.Errorf("%s: no value is %v", text, bad)
		} else if got := string(v.AppendCanonical(nil)); bad == nil && got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
