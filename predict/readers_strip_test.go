package predict

import (
	"os"
	"regexp"
	"testing"
)

// The forms in which inertia.ts writes types. It keeps to them: declarations at
// the left margin, and annotations right behind a name or a bracket, of types that
// no value is named after.
var (
	declared  = regexp.MustCompile(`(?m)^(?:/\*\*.*\*/\n)?(?:export )?(?:interface \w+ \{\n(?:[ \n].*\n|\n)*?\}|type .*)\n\n`)
	generic   = regexp.MustCompile(`(new (?:Map|Set))<` + typed + `(?:, ` + typed + `)?>`)
	predicate = regexp.MustCompile(`\): \w+ is \w+ \{`)
	annotated = regexp.MustCompile(`([\w)\]]): ` + typed + `( =|[,){]| \{|$|\n)`)
)

const (
	plainType = `(?:string|number|boolean|Outcome|Model|Tool|Uint8Array|\{ inertial: boolean; failed: boolean \}` +
		`|(?:Map|Set)<\w+(?:, \w+)?>)(?:\[\])*`
	typed = plainType + `(?: \| ` + plainType + `)*`
)

// stripped returns TypeScript of these forms without its types.
func stripped(ts string) string {
	js := declared.ReplaceAllString(ts, "")
	js = generic.ReplaceAllString(js, "$1")
	js = predicate.ReplaceAllString(js, ") {")
	for {
		next := annotated.ReplaceAllString(js, "$1$2")
		if next == js {
			return js
		}
		js = next
	}
}

// inertia.ts is the source, and inertia.mjs the same without types: AWO_UPDATE=1
// writes it.
func TestModuleIsStrippedSource(t *testing.T) {
	ts, err := os.ReadFile("readers/inertia.ts")
	if err != nil {
		t.Fatal(err)
	}
	want := stripped(string(ts))
	if os.Getenv("AWO_UPDATE") != "" {
		if err := os.WriteFile("readers/inertia.mjs", []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("readers/inertia.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("readers/inertia.mjs is not readers/inertia.ts without its types: run AWO_UPDATE=1 go test ./inertia")
	}
}
