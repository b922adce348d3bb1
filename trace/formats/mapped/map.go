// Package mapped reads traces of any JSON layout by a map that says where things are:
// Parse reads a map, Map.Format is the trace format that it describes, and Draft
// proposes a map for records of a layout that is not known. Formats of awo that a map
// can describe are maps in package maps, in the language of --map.
//
// A YAML file and records come in, fragments of trajectories and problems go out. It is
// O(record), and O(session) where records are joined.
package mapped

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Codes of problems with a map. They are stable.
const (
	CodeShape   = "map-shape"   // something is not what a map has there
	CodeField   = "map-field"   // a field that maps do not have
	CodePath    = "map-path"    // no path
	CodeMissing = "map-missing" // a map that finds no tool
)

// Map says where in a record is what a trajectory needs. Paths are RFC 9535
// JSONPath, as far as jsonpath.Parse reads it; of several, divided by " | ", the first
// that finds anything counts. One that is empty finds nothing.
type Map struct {
	name, doc, spec string
	detect          []condition
	hook            Hook
	unnamed         string   // what a trajectory without an id is called
	join            string   // "file" where all records of a file are one session
	outer           []string // members of the document around the records that paths lead to
	split           string   // the member of a document that is the list of its records
	kind            where
	kinds           []kindRule // rules by kind
	rule
}

// Hook is what a map cannot say. Only maps of awo have one, which they name.
type Hook struct {
	// Divide returns the sessions in a record; nil if the map finds them.
	Divide func(record []byte) [][]byte
	// Read returns the records of a session as the map reads them, and counts what it
	// leaves out; nil if the map reads them as they are.
	Read func(b *build.Builder, records [][]byte) [][]byte
	// Archive is that of the format.
	Archive func(a *trace.Archive, limit int) (trace.ArchiveRecords, bool)
}

// rule is where things are in a record and its events, or in events of one kind.
type rule struct {
	at       [fields]where
	tokens   [tokenFields]where
	counts   *build.Usage // how the object of token counts is written
	roles    map[string]speaker
	ends     statusRules
	outcomes statusRules
	has      map[string]bool // the fields that were given
}

// statusRule is how a call ended by a word or a number.
type statusRule struct {
	values    []string
	status    trace.Status
	cancelled bool
}

type statusRules []statusRule

// kindRule is the rule of events whose kind is one of some.
type kindRule struct {
	kinds []string // with * at the end for all that begin so
	rule  *rule
}

// condition is what members of a record of a format have: the dotted name of each, and
// its values. A record that fulfils one with lacks is near, and lacks that.
type condition struct {
	members []memberIs
	lacks   string
}

type memberIs struct {
	member []string
	values []string // "*" for any; "" for a member that must not be
}

// field is a field of a rule.
type field int

const (
	fRecords    field = iota // what in a record is a session, or an event of one
	fTrajectory              // from the record
	fOrder                   // of a record in its session
	fWhole                   // the same of a record that has all of it
	fAgent
	fSession
	fFolder
	fParent
	fParentCall
	fTask
	fTrial
	fOutcome
	fScore
	fStarted
	fEnded
	fTotalUsage // what the session states about itself
	fTotalCost
	fTotalTurns
	fTotalCalls
	fUnasked
	fUser
	fSystem
	fAnswer
	fTools
	fAttachments // texts that others name, attachment://NAME, by their names
	fEvents      // what happened, in order; the record itself if it is empty
	fWithin      // events inside of an event
	fAgain       // the id of an event, of which the last counts
	fRestated    // events of a history that is told again: what the system adds is new, all else a copy
	fRewind      // the id of an event that is taken back, with all behind it
	fFollows     // the id of the event that an event follows: those on the way to the current one count
	fCurrent     // the id of that, from the record
	fOnce        // the id of an event, of which the first counts
	fAnomaly
	fRole // from an event
	fTurn
	fResponse // the id of a response, whatever stands between its events
	fText
	fThought
	fThoughts // objects with a thought each
	fMessages
	fOrigin
	fAfter // messages behind the calls
	fCalls
	fResults
	fAnswers
	fModel
	fTime
	fEnd
	fCalled // when a call began
	fUsage
	fLess // token counts of others in those of usage
	fTool // from a call, which is the event itself if calls is empty
	fArguments
	fCommand // a line for a shell, in place of arguments: its first word is the tool if there is no other
	fDrop    // arguments that are the program's own, where the call has them as members, too
	fPiece
	fID
	fResult
	fError
	fOK
	fStatus
	fExit
	fSpan // the id of a span; from here on of maps of spans
	fAbove
	fTitle
	fInput
	fOutput
	fAttributes
	fElsewhere // where what went in or came out is kept, if not in the span
	fields
)

// fieldNames are what the fields of a rule are called.
var fieldNames = [fields]string{
	"records", "trajectory", "order", "whole", "agent", "session", "folder", "parent", "parent-call", "task", "trial", "outcome", "score", "started", "ended", "total-usage", "total-cost", "total-turns", "total-calls", "unasked", "user", "system", "answer", "tools", "attachments", "events", "within", "again", "restated", "rewind", "follows", "current", "once", "anomaly",
	"role", "turn", "response", "text", "thought", "thoughts", "messages", "origin", "after", "calls", "results", "answers", "model", "time", "end", "called", "usage", "less",
	"tool", "arguments", "command", "drop", "piece", "id", "result", "error", "ok", "status", "exit",
	"span", "above", "title", "input", "output", "attributes", "elsewhere",
}

// speaker is whose an event is, or what it is.
type speaker uint8

const (
	speakerUnknown speaker = iota
	speakerUser
	speakerSystem
	speakerModel
	speakerTool
	speakerNobody // of no interest
	speakerHeader // about the session
	speakerStep   // where a response begins
	speakerCall   // the start of a call, which a message of the model may tell again
	speakerCounts // the token counts of the last response
	speakerAsk    // what is asked next: of which model
	speakerDone   // where a response ends
	speakerTotal  // the token counts of the session so far
	speakerBreak  // between two responses
	speakerAgent  // a span that is a run of an agent
	speakerFirst  // the user, and the model once somebody has spoken
	speakerAround // what a command printed, where one waits, else the user, and later the program
	speakerNote   // what is told later of a response, or of a call
	speakerMaybe  // a span that is a call if the model called a tool of its name
	speakerGuess  // a predictor, in place of the model
)

// speakerNames are what roles are mapped to.
var speakerNames = map[string]speaker{
	"user": speakerUser, "system": speakerSystem, "assistant": speakerModel, "tool": speakerTool, "ignore": speakerNobody,
	"header": speakerHeader, "step": speakerStep, "call": speakerCall, "counts": speakerCounts, "ask": speakerAsk,
	"done": speakerDone, "total": speakerTotal, "break": speakerBreak, "agent": speakerAgent, "maybe": speakerMaybe, "first": speakerFirst, "note": speakerNote, "environment": speakerAround,
	"predicted": speakerGuess,
}

// The token counts of a response.
const (
	tokensIn = iota
	tokensOut
	tokensCached
	tokensWritten
	tokensReasoning
	tokensTotal
	tokensCost
	tokenFields
)

// tokenNames are the fields of "tokens".
var tokenNames = [tokenFields]string{"input", "output", "cached", "written", "reasoning", "total", "cost"}

// anyForm is that token counts are in whatever form they are.
var anyForm = &build.Usage{}

// countNames are the forms of token counts that "counts" may name.
var countNames = map[string]*build.Usage{
	"anthropic": &build.UsageAnthropic, "chat": &build.UsageChat, "responses": &build.UsageResponses, "langchain": &build.UsageLangChain,
	"gemini": &build.UsageGemini, "openhands": &build.UsageOpenHands, "session": &build.UsageSession, "inspect": &build.UsageInspect,
	"langfuse": &build.UsageLangfuse, "any": anyForm,
}

// wordFields are fields that may be a word.
var wordFields = map[field]bool{fRole: true, fTurn: true, fAgent: true, fUnasked: true, fAnomaly: true, fDrop: true}

// FieldNames returns the fields that a map may have, for messages and help.
func FieldNames() []string {
	names := slices.Concat(fieldNames[:], []string{"roles", "statuses", "outcomes", "tokens", "counts", "kind", "kinds", "name", "doc", "spec", "unnamed", "join", "split", "detect", "hook"})
	slices.Sort(names)
	return names
}

// Parse reads a map. All problems are returned, each with its place.
func Parse(file string, src []byte) (*Map, diag.List) { return ParseOwn(file, src, nil) }

// ParseOwn reads a map of awo, which may name one of some hooks.
func ParseOwn(file string, src []byte, hooks map[string]Hook) (*Map, diag.List) {
	return parse(file, src, parser{hooks: hooks})
}

// ParseHead reads what a map of awo begins with: the fields up to "detect", by which files
// are recognised. The format that it describes can do nothing else.
func ParseHead(file string, src []byte, hooks map[string]Hook) (*Map, diag.List) {
	end := bytes.Index(src, []byte("\ndetect:")) + 1
	for end > 0 && end < len(src) {
		line := src[end:]
		if line[0] != ' ' && !bytes.HasPrefix(line, []byte("detect:")) {
			break
		}
		end += bytes.IndexByte(line, '\n') + 1
	}
	return parse(file, src[:end], parser{hooks: hooks, head: true})
}

func parse(file string, src []byte, p parser) (*Map, diag.List) {
	doc, problems := yamlsrc.Parse(file, src, yamlsrc.Options{})
	p.m, p.problems = &Map{rule: rule{roles: map[string]speaker{}, has: map[string]bool{}}}, problems
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
	hooks    map[string]Hook
	head     bool // only what a map begins with
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
	var kinds *yamlsrc.Node
	for _, e := range root.Entries {
		switch name := e.Key.Text; name {
		case "name", "doc", "spec", "unnamed", "join", "split":
			*map[string]*string{"name": &p.m.name, "doc": &p.m.doc, "spec": &p.m.spec, "unnamed": &p.m.unnamed, "join": &p.m.join, "split": &p.m.split}[name] = e.Value.Text
		case "detect":
			p.detect(e.Value)
		case "hook":
			var ok bool
			if p.m.hook, ok = p.hooks[e.Value.Text]; !ok {
				p.report(e.Value.Pos, CodeField, "only formats of awo have a hook, which is code: this map needs another way")
			}
		case "kind":
			p.m.kind = p.path(e.Value, false)
		case "kinds": // when the fields that they share are known
			kinds = e.Value
		default:
			p.field(&p.m.rule, e.Key, e.Value)
		}
	}
	if kinds != nil {
		p.kinds(kinds)
	}
	if !p.head && !p.m.calls() {
		p.report(root.Pos, CodeMissing, "the map has no path \"tool\": where the name of the tool of a call stands")
	}
	if p.m.has["answers"] && !p.m.has["role"] {
		p.report(root.Pos, CodeMissing, "the map has \"answers\" and no \"role\": which events are results is not known")
	}
}

// calls reports whether the map finds calls.
func (m *Map) calls() bool {
	return m.has["tool"] || m.has["messages"] || m.has["span"] || slices.ContainsFunc(m.kinds, func(k kindRule) bool { return k.rule.has["tool"] || k.rule.has["messages"] })
}

// field reads a field of a rule.
func (p *parser) field(r *rule, key, value *yamlsrc.Node) {
	name := key.Text
	r.has[name] = true
	switch i := slices.Index(fieldNames[:], name); {
	case name == "roles":
		p.roles(r, value)
	case name == "statuses":
		r.ends = p.statuses(value)
	case name == "outcomes":
		r.outcomes = p.statuses(value)
	case name == "tokens":
		p.tokens(r, value)
	case name == "counts":
		if r.counts = countNames[value.Text]; r.counts == nil {
			p.report(value.Pos, CodeShape, "counts is one of %s", strings.Join(slices.Sorted(maps.Keys(countNames)), ", "))
		}
	case i < 0:
		problem := p.report(key.Pos, CodeField, "a map has no field %q", name)
		problem.Note(diag.Pos{}, "its fields are %s", strings.Join(FieldNames(), ", "))
	default:
		r.at[i] = p.path(value, wordFields[field(i)])
	}
}

// kinds reads the rules of kinds, each of which has the fields that all share.
func (p *parser) kinds(n *yamlsrc.Node) {
	if n.Kind != yamlsrc.Mapping || p.m.kind == nil {
		p.report(n.Pos, CodeShape, "kinds is a mapping from what the path \"kind\" finds to fields")
		return
	}
	for _, e := range n.Entries {
		r := p.m.rule
		r.roles, r.has = maps.Clone(r.roles), maps.Clone(r.has)
		if e.Value.Kind != yamlsrc.Mapping {
			p.report(e.Value.Pos, CodeShape, "a kind is a mapping from fields to paths")
			continue
		}
		for _, f := range e.Value.Entries {
			p.field(&r, f.Key, f.Value)
		}
		p.m.kinds = append(p.m.kinds, kindRule{strings.Split(e.Key.Text, "|"), &r})
	}
}

// detect reads what records of the format have.
func (p *parser) detect(n *yamlsrc.Node) {
	var list []*yamlsrc.Node
	for _, e := range n.Entries {
		list = append(list, e.Value)
	}
	if n.Kind == yamlsrc.Mapping {
		list = []*yamlsrc.Node{n}
	}
	for _, one := range list {
		if one.Kind != yamlsrc.Mapping {
			p.report(one.Pos, CodeShape, "detect is a list of mappings from members to values")
			continue
		}
		var c condition
		for _, e := range one.Entries {
			if e.Key.Text == "lacks" {
				c.lacks = e.Value.Text
				continue
			}
			member := strings.Split(e.Key.Text, ".")
			if name, ok := strings.CutPrefix(e.Key.Text, `"`); ok { // a name with dots
				member = []string{strings.TrimSuffix(name, `"`)}
			}
			c.members = append(c.members, memberIs{member, strings.Split(e.Value.Text, "|")})
		}
		p.m.detect = append(p.m.detect, c)
	}
}

// path reads a path, whose problems are told at their character.
func (p *parser) path(n *yamlsrc.Node, words bool) where {
	if n.Kind != yamlsrc.Scalar || n.Bad || n.Text == "" {
		if !n.Bad {
			p.report(n.Pos, CodeShape, "a path such as $.name belongs here")
		}
		return nil
	}
	out, problem := parsePath(n.Text, words)
	if problem != nil {
		pos := n.Pos
		if n.Style == yamlsrc.Plain {
			pos.Col += max(problem.Pos.Col-1, 0)
		}
		p.report(pos, CodePath, "%s", problem.Msg)
	}
	for i := range out {
		p.noteOuter(&out[i])
	}
	return out
}

// noteOuter notes the member of the document that a path leads to.
func (p *parser) noteOuter(one *place) {
	if one.outer && len(one.steps) > 0 {
		p.m.outer = append(p.m.outer, one.steps[0].Name)
	}
	for i := range one.joined {
		p.noteOuter(&one.joined[i])
	}
}

func (p *parser) roles(r *rule, n *yamlsrc.Node) {
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
		r.roles[e.Key.Text] = who
	}
}

// statusNames are what statuses are mapped to.
var statusNames = map[string]trace.Status{"ok": trace.StatusOK, "failed": trace.StatusFailed, "cancelled": trace.StatusFailed, "unknown": trace.StatusUnknown}

func (p *parser) statuses(n *yamlsrc.Node) (rules statusRules) {
	if n.Kind != yamlsrc.Mapping {
		p.report(n.Pos, CodeShape, "statuses, or outcomes, is a mapping from what the path \"status\", or \"outcome\", finds to ok, failed, cancelled or unknown")
		return nil
	}
	for _, e := range n.Entries {
		status, ok := statusNames[e.Value.Text]
		if !ok {
			p.report(e.Value.Pos, CodeShape, "a status is ok, failed, cancelled or unknown")
		}
		rules = append(rules, statusRule{strings.Split(e.Key.Text, "|"), status, e.Value.Text == "cancelled"})
	}
	return rules
}

func (p *parser) tokens(r *rule, n *yamlsrc.Node) {
	if n.Kind != yamlsrc.Mapping {
		p.report(n.Pos, CodeShape, "tokens is a mapping with paths %s", strings.Join(tokenNames[:], ", "))
		return
	}
	for _, e := range n.Entries {
		i := slices.Index(tokenNames[:], e.Key.Text)
		if i < 0 {
			p.report(e.Key.Pos, CodeField, "tokens has no field %q: it has %s", e.Key.Text, strings.Join(tokenNames[:], ", "))
			continue
		}
		r.tokens[i] = p.path(e.Value, false)
	}
}
