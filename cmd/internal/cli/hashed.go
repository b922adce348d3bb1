package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// hashedReader hashes what is read through it.
type hashedReader struct {
	in    io.Reader
	hash  hash.Hash
	bytes int64
}

func newHashedReader(in io.Reader) hashedReader {
	return hashedReader{in: in, hash: sha256.New()}
}

// Read reads from the underlying reader.
func (h *hashedReader) Read(p []byte) (int, error) {
	n, err := h.in.Read(p)
	h.hash.Write(p[:n])
	h.bytes += int64(n)
	return n, err
}

func (h *hashedReader) sum() string { return hex.EncodeToString(h.hash.Sum(nil)) }
