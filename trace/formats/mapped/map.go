// Package mapped reads traces of any JSON layout by a map that says where things are:
// Parse reads a map, Map.Format is the trace format that it describes, and Draft
// proposes a map for records of a layout that is not known.
//
// A YAML file and records come in, fragments of trajectories and problems go out. It is
// O(record), and O(session) where records are joined.
package mapped

import (
	"errors"
	"slices"
	"strings"

	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// Codes of problems with a map. They are stable.
const (
	CodeShape   = "map-shape"   // something is not what a map has there
	CodeField   = "map-field"   // a field that maps do not have
	CodePath    = "map-path"    // no path
	CodeMissing = "map-missing" // a map that finds no tool
)

// Map says where in a record what a trajectory needs stands. Paths are RFC 9535
// JSONPath, as far as jsonpath.Parse reads it; one that is empty finds nothing.
type Map struct {
	records jsonpath.Path // what in a record is a session, or an event of one

	// From the record.
	trajectory, session, task, outcome, user, system, answer jsonpath.Path

	events jsonpath.Path // what happened, in order; the record itself if it is empty

	// From an event.
	role, turn, text, thought, calls, answers jsonpath.Path
	model, started, ended                     jsonpath.Path
	tokens                                    [tokenFields]jsonpath.Path

	// From a call, which is the event itself if calls is empty.
	tool, arguments, id, result, failure, good jsonpath.Path

	roles map[string]speaker
	has   map[string]bool // the fields that were given
}

// speaker is whose an event is.
type speaker uint8

const (
	speakerUnknown speaker = iota
	speakerUser
	speakerSystem
	speakerModel
	speakerTool
	speakerNobody // of no interest
)

// speakerNames are what roles are mapped to.
var speakerNames = map[string]speaker{
	"user": speakerUser, "system": speakerSystem, "assistant": speakerModel, "tool": speakerTool, "ignore": speakerNobody,
}

// The token counts of a response.
const (
	tokensIn = iota
	tokensOut
	tokensCached
	tokenFields
)

// tokenNames are the fields of "tokens".
var tokenNames = [tokenFields]string{"input", "output", "cached"}

// fields returns the paths of a map by the names of their fields.
func (m *Map) fields() map[string]*jsonpath.Path {
	return map[string]*jsonpath.Path{
		"records": &m.records, "trajectory": &m.trajectory, "session": &m.session, "task": &m.task, "outcome": &m.outcome,
		"user": &m.user, "system": &m.system, "answer": &m.answer,
		"events": &m.events, "role": &m.role, "turn": &m.turn, "text": &m.text, "thought": &m.thought, "calls": &m.calls, "answers": &m.answers,
		"model": &m.model, "time": &m.started, "end": &m.ended,
		"tool": &m.tool, "arguments": &m.arguments, "id": &m.id, "result": &m.result, "error": &m.failure, "ok": &m.good,
	}
}

// FieldNames returns the fields that a map may have, for messages and help.
func FieldNames() []string {
	var m Map
	names := []string{"roles", "tokens"}
	for name := range m.fields() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Parse reads a map. All problems are returned, each with its place.
func Parse(file string, src []byte) (*Map, diag.List) {
	doc, problems := yamlsrc.Parse(file, src, yamlsrc.Options{})
	p := parser{m: &Map{roles: map[string]speaker{}, has: map[string]bool{}}, problems: problems}
	switch {
	case doc.Root != nil:
		p.read(doc.Root)
	case len(problems) == 0:
		p.report(diag.Pos{File: file, Line: 1, Col: 1}, CodeMissing, "the map is empty: it needs a path \"tool\"")
	}
	p.problems.Sort()
	if p.problems.Err() != nil {
		return nil, p.problems
	}
	return p.m, p.problems
}

type parser struct {
	m        *Map
	problems diag.List
}

func (p *parser) report(pos diag.Pos, code, format string, args ...any) *diag.Error {
	e := diag.New(pos, code, format, args...)
	p.problems = append(p.problems, e)
	return e
}

func (p *parser) read(root *yamlsrc.Node) {
	if root.Kind != yamlsrc.Mapping {
		p.report(root.Pos, CodeShape, "a map is a mapping from fields to paths, this is %s", root.Kind)
		return
	}
	fields := p.m.fields()
	for _, e := range root.Entries {
		name := e.Key.Text
		p.m.has[name] = true
		switch field := fields[name]; {
		case name == "roles":
			p.roles(e.Value)
		case name == "tokens":
			p.tokens(e.Value)
		case field == nil:
			problem := p.report(e.Key.Pos, CodeField, "a map has no field %q", name)
			problem.Note(diag.Pos{}, "its fields are %s", strings.Join(FieldNames(), ", "))
		default:
			*field = p.path(e.Value)
		}
	}
	if !p.m.has["tool"] {
		p.report(root.Pos, CodeMissing, "the map has no path \"tool\": where the name of the tool of a call stands")
	}
	if p.m.has["answers"] && !p.m.has["role"] {
		p.report(root.Pos, CodeMissing, "the map has \"answers\" and no \"role\": which events are results is not known")
	}
}

// path reads a path, whose problems are told at their character.
func (p *parser) path(n *yamlsrc.Node) jsonpath.Path {
	if n.Kind != yamlsrc.Scalar || n.Bad || n.Text == "" {
		if !n.Bad {
			p.report(n.Pos, CodeShape, "a path such as $.name belongs here")
		}
		return nil
	}
	path, err := jsonpath.Parse(n.Text)
	if problem, ok := errors.AsType[*diag.Error](err); ok {
		pos := n.Pos
		if n.Style == yamlsrc.Plain {
			pos.Col += max(problem.Pos.Col-1, 0)
		}
		p.report(pos, CodePath, "%s", problem.Msg)
	}
	return path
}

func (p *parser) roles(n *yamlsrc.Node) {
	if n.Kind != yamlsrc.Mapping {
		p.report(n.Pos, CodeShape, "roles is a mapping from what the traces say to user, assistant, system, tool or ignore")
		return
	}
	for _, e := range n.Entries {
		who, ok := speakerNames[e.Value.Text]
		if !ok {
			p.report(e.Value.Pos, CodeShape, "a role is user, assistant, system, tool or ignore")
			continue
		}
		p.m.roles[e.Key.Text] = who
	}
}

func (p *parser) tokens(n *yamlsrc.Node) {
	if n.Kind != yamlsrc.Mapping {
		p.report(n.Pos, CodeShape, "tokens is a mapping with paths input, output and cached")
		return
	}
	for _, e := range n.Entries {
		i := slices.Index(tokenNames[:], e.Key.Text)
		if i < 0 {
			p.report(e.Key.Pos, CodeField, "tokens has no field %q: it has input, output and cached", e.Key.Text)
			continue
		}
		p.m.tokens[i] = p.path(e.Value)
	}
}
