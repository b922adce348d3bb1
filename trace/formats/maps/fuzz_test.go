package maps_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/trace/formats/maps"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// FuzzMaps reads any text by any map of awo.
func FuzzMaps(f *testing.F) {
	names := maps.Names()
	for i, name := range names {
		paths, err := filepath.Glob(filepath.Join("..", "*", "testdata", name, "*.json*"))
		if err != nil || len(paths) == 0 {
			f.Fatalf("%s has no fixtures: %v", name, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), text)
			for line := range bytes.Lines(text) {
				f.Add(uint8(i), bytes.TrimSpace(line))
			}
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, data []byte) {
		formattest.CheckFormat(t, formattest.Format(names[int(i)%len(names)]), data)
	})
}
