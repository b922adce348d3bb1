// Package sealed writes results of awo to files that are read whole or not at all: JSON
// with the name of its schema and the SHA-256 of its content, compressed by gzip.
//
//	{"schema":"awo.snapshot-data/v1","sha256":"<hex>","content":{...}}
//
// Equal content gives equal bytes. A file that was damaged on the way, or was cut off, is
// an error with a code and never other content. Both content and file are kept in memory.
package sealed

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/awo-dev/awo/diag"
)

// A Kind is a kind of file.
type Kind struct {
	Name   string // what messages call it, and what its codes begin with, such as "snapshot"
	Schema string // with its version, such as "awo.snapshot-data/v1"
}

// The codes of problems, behind the name of the kind and a dash.
const (
	Missing   = "missing"   // there is no such file, or it cannot be read
	Foreign   = "foreign"   // something else
	Version   = "version"   // of a version that this program does not read
	Truncated = "truncated" // cut off
	Corrupt   = "corrupt"   // it contradicts itself or its checksum
)

// maxContent bounds what a file may become when it is decompressed.
const maxContent = 1 << 31

type document struct {
	Schema  string          `json:"schema"`
	SHA256  string          `json:"sha256"`
	Content json.RawMessage `json:"content"`
}

// Encode returns a file. Content that JSON cannot hold is a panic.
func (k Kind) Encode(content any) []byte {
	text := k.content(content)
	sum := sha256.Sum256(text)
	var out bytes.Buffer
	z := gzip.NewWriter(&out) // a buffer takes everything
	_, _ = io.WriteString(z, `{"schema":"`+k.Schema+`","sha256":"`+hex.EncodeToString(sum[:])+`","content":`)
	_, _ = z.Write(text)
	_, _ = io.WriteString(z, "}\n")
	_ = z.Close()
	return out.Bytes()
}

func (k Kind) content(content any) []byte {
	text, err := json.Marshal(content)
	if err != nil {
		panic("sealed: " + k.Name + ": " + err.Error())
	}
	return text
}

// Decode reads a file into content, a pointer; name is only for messages. Errors are of
// type *diag.Error.
func (k Kind) Decode(name string, data []byte, content any) error {
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return k.Problem(name, Foreign, "this is no %s of awo", k.Name)
	}
	text, err := decompressed(data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return k.Problem(name, Truncated, "the file ends before its end")
	}
	if err != nil {
		return k.Problem(name, Corrupt, "the file is not what was written: it cannot be decompressed")
	}
	family, _, _ := strings.Cut(k.Schema, "/")
	if !bytes.HasPrefix(text, []byte(`{"schema":"`+family+`/`)) {
		return k.Problem(name, Foreign, "this is no %s of awo", k.Name)
	}
	var d document
	if json.Unmarshal(text, &d) != nil {
		return k.Problem(name, Corrupt, "the file is not the JSON that was written")
	}
	if d.Schema != k.Schema {
		return k.Problem(name, Version, "the %s is of version %s, and this program reads %s: make it again", k.Name, d.Schema, k.Schema)
	}
	if sum := sha256.Sum256(d.Content); hex.EncodeToString(sum[:]) != d.SHA256 {
		return k.Problem(name, Corrupt, "the file is not what was written: its checksum differs")
	}
	if json.Unmarshal(d.Content, content) != nil {
		return k.Problem(name, Corrupt, "the file contradicts its schema")
	}
	return nil
}

// IsCanonical reports whether content is what a file of it holds: every list in order, and
// nothing that would be written in another way.
func (k Kind) IsCanonical(content, written any) bool {
	return bytes.Equal(k.content(content), k.content(written))
}

func decompressed(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxContent))
}

// Problem returns an error with a code of the kind.
func (k Kind) Problem(name, code, format string, args ...any) error {
	return diag.New(diag.Pos{File: name}, k.Name+"-"+code, format, args...)
}
