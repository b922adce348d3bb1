package trace

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// zipEntry is an entry of an archive that a test writes.
type zipEntry struct {
	name, text string
	method     uint16
}

// zipWithZstd is the method by which archives hold entries compressed with zstd.
const zipWithZstd = 93

// zipOf writes an archive.
func zipOf(t testing.TB, entries ...zipEntry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zipWithZstd, zstd.ZipCompressor())
	for _, e := range entries {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
