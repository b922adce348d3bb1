package catalog

import (
	"encoding/json"
	"errors"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// Stored is a kind of JSON files with what was found out about tools, which awo writes
// and reads again.
type Stored struct {
	What   string // such as "graph of tools"
	Schema string // the member "schema" of such a file
	From   string // who writes them, such as "`awo tools graph --out DIR` writes graph.json"

	CodeSchema string // of a file that is of another kind or version
	CodeShape  string // of one whose members are not what they must be
}

// Decode reads a file of the kind as F, and then as what it stands for; build says what is
// wrong with the members, "" for nothing. Every problem is a *diag.Error in the file.
func Decode[F, T any](kind Stored, file string, data []byte, build func(*F) (T, string)) (T, error) {
	var none T
	schema := ""
	c := jsonscan.New(data)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "schema" {
			text, _ := c.Text()
			schema = string(text)
		}
	}
	if c.End() != nil {
		// Note: parsed only for the place of the mistake; of a graph of 100,000 tools that
		// takes as long as reading it.
		if _, err := trace.ParseValue(data); err != nil {
			if e, ok := errors.AsType[*diag.Error](err); ok {
				e.Pos.File = file
			}
			return none, err
		}
	}
	at := diag.Pos{File: file, Line: 1, Col: 1}
	if schema != kind.Schema {
		return none, diag.New(at, kind.CodeSchema, "this is no %s, or one of another version", kind.What).
			Note(diag.Pos{}, "%s with \"schema\": %q", kind.From, kind.Schema)
	}
	var f F
	if err := json.Unmarshal(data, &f); err != nil {
		return none, diag.New(at, kind.CodeShape, "a member of the %s is not what it must be", kind.What)
	}
	out, problem := build(&f)
	if problem != "" {
		return none, diag.New(at, kind.CodeShape, "%s", problem)
	}
	return out, nil
}
