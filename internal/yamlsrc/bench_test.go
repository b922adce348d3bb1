package yamlsrc

import (
	"strings"
	"testing"
)

// benchSource is a source as people write it, about 100 KB.
var benchSource = []byte("version: 1\nrules:\n" + strings.Repeat(`  # what is read
  - id: reads
    kind: effect
    doc: Reading changes nothing, and may be done twice.
    match: {tool: ['get_*', 'search_*', list_*], args: {'a[].b': '^[A-Z]{3}$'}}
    effect: accessor # as in the manual

`, 420))

func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(benchSource)))
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := Parse("f", benchSource, Options{}); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	doc, problems := Parse("f", benchSource, Options{})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	b.SetBytes(int64(len(benchSource)))
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst = doc.Append(dst[:0])
	}
}
