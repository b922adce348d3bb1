package main

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// remembered gives what a program does in a case, from the cache if it has done it
// before on the same inputs.
func remembered(cache string, p *program, c *testCase, folder string, timeout time.Duration) (*outcome, error) {
	if cache == "" {
		return c.run(p, folder, timeout)
	}
	key, err := c.key(p)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(cache, key+".gob.gz")
	if old, err := load(path); err == nil {
		return old, nil
	}
	result, err := c.run(p, folder, timeout)
	if err != nil {
		return nil, err
	}
	for _, step := range result.Steps {
		if step.Code == -1 {
			return result, nil // A busier hour is no reason to remember this.
		}
	}
	return result, save(path, result)
}

// key hashes the program, the steps and the content of every input.
func (c *testCase) key(p *program) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n%q\n%q\n", p.hash, c.steps, c.corpus.chain)
	for _, path := range append([]string{c.corpus.rules}, c.corpus.inputs...) {
		fmt.Fprintf(hash, "%q\n", path)
		if path == "" {
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(hash, file)
		file.Close()
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func load(path string) (*outcome, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	var result outcome
	return &result, gob.NewDecoder(unpacked).Decode(&result)
}

func save(path string, result *outcome) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	packed := gzip.NewWriter(file)
	if err := gob.NewEncoder(packed).Encode(result); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
