// Package emit makes artefacts of results and puts them into a folder.
//
// In come the results of a compilation, out go files as values: an Emitter
// touches no disk. Write is the one place that does, and only commands call it.
// A set of files appears whole or not at all, inside the folder that was named
// and nowhere else. The same results give the same bytes: no time, no machine
// and no absolute path is in any artefact. The package keeps the files of one
// set in memory, O(artefacts), but for those that grow with the traces, which
// are made as they are written.
package emit

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/stategraph"
)

// File is an artefact: a name inside the output folder, parts separated by
// slashes, and its bytes.
type File struct {
	Name string
	Data []byte
	// Stream, unless nil, writes the bytes in the place of Data: the same each time that
	// it is called.
	Stream func(io.Writer) error
}

// writeTo writes the bytes of the file.
func (f *File) writeTo(w io.Writer) error {
	if f.Stream != nil {
		return f.Stream(w)
	}
	_, err := w.Write(f.Data)
	return err
}

// Bytes returns the bytes of the file, which nobody may change.
func (f *File) Bytes() ([]byte, error) {
	if f.Stream == nil {
		return f.Data, nil
	}
	var b bytes.Buffer
	err := f.Stream(&b)
	return b.Bytes(), err
}

// Emitter makes one kind of artefact. Emitters are values in the table
// Emitters; adding one is one file and one line there.
type Emitter struct {
	Name string // of the artefact, as users name it
	Doc  string // one sentence for the documentation

	// Needs says without what it is not made.
	Needs Need

	// Emit makes the files. It is pure; the error says what in the results no
	// such artefact can hold.
	Emit func(Results) ([]File, error)
}

// Need is what an artefact is about.
type Need uint8

// The needs.
const (
	Offer    Need = iota // a meta-tool or a prefetch rule
	MetaTool             // a meta-tool
	NoOffer              // nothing: it says why there may be none
)

// EvidenceFolder holds what artefacts rest on: nothing in it is needed to run them, and it
// changes with every trace.
const EvidenceFolder = "evidence/"

// Results is what a compilation made. An emitter takes what it needs.
type Results struct {
	View  *stategraph.View // the merged graph, or the part of it that was asked for
	Names stategraph.Names // the texts of its labels and tools
	// Tools are the meta-tools that are offered, in any order.
	Tools []*bind.Definition
	// Saved is how many calling turns each of them adds to those that were chosen before it.
	Saved map[*bind.Definition]int
	// Operations are the tools that may be called, as far as they are known.
	Operations []arazzo.Operation
	// Definitions are the tools that the traces call, as they were recorded.
	Definitions []ToolDefinition
	// Found is everything that was found, offered or not.
	Found Found
	// Snapshot is the file of the inertia graph, whose nodes the meta-tools are too.
	Snapshot []byte
	// Prefetch are the prefetch rules, nil for none.
	Prefetch *stored.File
}

// Emitters are the artefacts of `awo extract`, in the order in which they are made.
var Emitters = []Emitter{
	MetaTools,
	MCP,
	OpenAI,
	Anthropic,
	Gemini,
	Arazzo,
	OpenAPI,
	Python,
	TypeScript,
	Skill,
	Readme,
	Prefetch,
	PrefetchPython,
	PrefetchTypeScript,
	Graph,
	Candidates,
	Inertia,
}

// All makes the files of every emitter of the table of which there is what it needs, in its
// order. Meta-tools are in the order of their names in all of them: that of what they save
// changes with every trace, and with it the prefix of prompts that providers cache.
func All(table []Emitter, in Results) ([]File, error) {
	var files []File
	in.Tools = slices.SortedStableFunc(slices.Values(in.Tools), func(a, b *bind.Definition) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range table {
		if e.Needs == MetaTool && len(in.Tools) == 0 || e.Needs == Offer && len(in.Tools) == 0 && !in.readsAhead() {
			continue
		}
		made, err := e.Emit(in)
		if err != nil {
			return nil, err
		}
		files = append(files, made...)
	}
	return files, nil
}

// jsonFile is a File with v as indented JSON, members in the order of fields.
func jsonFile(name string, v any) (File, error) {
	data, err := report.MarshalJSON(v)
	return File{Name: name, Data: data}, err
}
