package main_test

// `go mod tidy` does not look below testdata. A module that only the generator
// there imports would be dropped from go.mod, so it is imported here as well.
import (
	_ "github.com/tiktoken-go/tokenizer"
)
