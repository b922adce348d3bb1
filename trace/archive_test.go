package trace

import (
	"archive/zip"
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestArchiveDirectory holds how much of a list of entries is read.
func TestArchiveDirectory(t *testing.T) {
	var written bytes.Buffer
	z := zip.NewWriter(&written)
	if _, err := z.CreateHeader(&zip.FileHeader{Name: strings.Repeat("n", 60000), Method: zip.Store}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	one := written.Bytes()
	first, end := bytes.Index(one, []byte("PK\x01\x02")), bytes.LastIndex(one, []byte("PK\x05\x06"))
	listed := one[first:end]
	n := maxDirectory/len(listed) + 10
	out := slices.Clone(one[:first])
	for range n {
		out = append(out, listed...)
	}
	tail := slices.Clone(one[end:])
	size := len(out) - first
	tail[8], tail[9], tail[10], tail[11] = byte(n), byte(n>>8), byte(n), byte(n>>8)
	for i := range 4 {
		tail[12+i] = byte(size >> (8 * i))
	}
	out = append(out, tail...)
	_, err := openArchive(bytes.NewReader(out), int64(len(out)))
	if corrupt, ok := errors.AsType[*corruptError](err); !ok || corrupt.what != "the list of entries is too long" {
		t.Errorf("the error is %v", err)
	}
}
