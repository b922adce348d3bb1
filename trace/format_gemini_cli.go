package trace

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatGeminiCLI reads the session files of Gemini CLI: a document with all
// messages, or, of newer versions, a line with what the session is and then one
// message a line. There a message is written again when more of it is known, and
// {"$rewindTo": id} takes it and all that follow back. Messages of the model are
// turns; their calls hold their results. What the program told the user is no
// part of the trajectory and counted.
//
// It keeps the lines of a file.
var formatGeminiCLI = Format{
	Name:     "gemini-cli",
	Doc:      "Session files of Gemini CLI (~/.gemini/tmp/*/chats), as one document or one message a line.",
	Spec:     "https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/services/chatRecordingTypes.ts",
	Detect:   detectGeminiCLI,
	Decode:   decodeGeminiCLI,
	Assemble: assembleGeminiCLI,
}

func decodeGeminiCLI(r Record) ([]Fragment, error) {
	c := jsonscan.New(r.Data)
	object := c.Kind() == jsonscan.Object
	if err := c.End(); err != nil {
		return nil, scanError(r, err)
	}
	if !object {
		return nil, nil
	}
	return []Fragment{{Key: r.File, Data: r.Data, Pos: r.Pos()}}, nil
}

// geminiSession is a session as its lines tell it.
type geminiSession struct {
	b         *builder
	subagent  bool
	order     []string          // ids of messages, made up for those without one
	messages  map[string][]byte // by id, the latest
	unnamed   int
	takenBack int
}

func assembleGeminiCLI(file string, parts []Fragment) ([]*Trajectory, error) {
	size, lone := 0, 0
	for i := range parts {
		size += len(parts[i].Data)
	}
	s := geminiSession{b: newBuilder(size), messages: map[string][]byte{}}
	t := s.b.t
	t.Offset, t.Agent = -1, "gemini-cli"
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		s.line(&c, parts[i].Data)
		lone += c.LoneSurrogates()
	}
	for _, id := range s.order {
		c := jsonscan.New(s.messages[id])
		s.message(&c)
	}
	s.b.odd(CodeLoneSurrogate, lone)
	s.b.odd(CodeBranchAbandoned, s.takenBack)
	if s.subagent {
		// The folder of a sub-agent's file is named after its parent.
		if parent := path.Base(path.Dir(filepath.ToSlash(file))); parent != "chats" && parent != "." && parent != "/" {
			t.Parent.Trajectory = parent
		}
		s.b.odd(CodeParentCallUnknown, 1)
	}
	if t.ID == "" {
		t.ID = partName(file, 0)
	}
	t.Source = parts[0].Pos
	for i := range t.Turns {
		if t.Model == "" {
			t.Model = t.Turns[i].Model
		}
	}
	clearTurnModels(t)
	return []*Trajectory{s.b.finish()}, nil
}

// line reads a line: what the session is, a message, or a change of either.
func (s *geminiSession) line(c *jsonscan.Cursor, data []byte) {
	if !c.Object() {
		return
	}
	b := s.b
	rewind, kind := "", ""
	session, rewinds := false, false
	for c.Member() {
		switch string(c.Key()) {
		case "type":
			text, _ := c.Text()
			kind = string(text)
		case "$rewindTo":
			text, ok := c.Text()
			rewind, rewinds = string(text), ok
		case "$set":
			if inner := c.Raw(); data != nil && isKind(inner, '{') {
				scan := jsonscan.New(inner)
				s.line(&scan, nil)
			}
		case "sessionId":
			session = true
			if text, ok := c.Text(); ok && len(text) > 0 {
				b.t.ID = b.text(text)
				b.t.Session = b.t.ID
			}
		case "kind":
			text, _ := c.Text()
			s.subagent = string(text) == "subagent"
		case "startTime":
			b.t.Start = b.readTime(c)
		case "lastUpdated":
			b.t.End = b.readTime(c)
		case "messages":
			for ok := c.Array(); ok && c.Element(); {
				if c.Kind() == jsonscan.Object {
					s.put(c.Raw())
				} else {
					b.odd(CodeMessageShape, 1)
				}
			}
		}
	}
	switch {
	case rewinds:
		s.rewind(rewind)
	case data != nil && !session && kind != "":
		s.put(data)
	}
}

// put adds a message, or replaces the one with its id.
func (s *geminiSession) put(data []byte) {
	id := ""
	c := jsonscan.New(data)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "id" {
			id = s.b.readID(&c)
		}
	}
	if id == "" {
		s.unnamed++
		id = "\x00" + strconv.Itoa(s.unnamed) // no recorded id
	}
	if _, ok := s.messages[id]; !ok {
		s.order = append(s.order, id)
	}
	s.messages[id] = data
}

// rewind takes a message and all that follow back; an unknown one takes back all.
func (s *geminiSession) rewind(id string) {
	at := max(slices.Index(s.order, id), 0)
	for _, gone := range s.order[at:] {
		delete(s.messages, gone)
		s.takenBack++
	}
	s.order = s.order[:at]
}

// message adds a message to the trajectory.
func (s *geminiSession) message(c *jsonscan.Cursor) {
	b := s.b
	var kind, stamp, calls, thoughts []byte
	var content Raw
	var model string
	var usage Usage
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "type":
			kind, _ = c.Text()
		case "timestamp":
			stamp, _ = c.Text()
		case "content":
			if content = rawContent(c); content.Form == FormJSON {
				scan := jsonscan.New(content.Data)
				content = readGeminiText(&scan)
			}
		case "model":
			text, _ := c.Text()
			model = b.text(text)
		case "tokens":
			usage = readGeminiUsage(c)
		case "toolCalls":
			calls = c.Raw()
		case "thoughts":
			thoughts = c.Raw()
		}
	}
	at, bad := parseStamp(stamp)
	if bad {
		b.odd(CodeTimeInvalid, 1)
	}
	switch string(kind) {
	case "user":
		b.message(RoleUser, content.orAbsent()).Time = at
	case "gemini":
		turn := b.turn()
		turn.Text, turn.Model, turn.Usage, turn.End = content.orAbsent(), model, usage, at
		turn.Thought = geminiThoughts(thoughts)
		scan := jsonscan.New(calls)
		for ok := scan.Array(); ok && scan.Element(); {
			s.call(&scan)
		}
	case "info", "error", "warning":
		b.odd(CodeMessageNotice, 1)
	default:
		b.odd(CodeMessageRole, 1)
	}
}

// geminiThoughts returns the texts of thoughts, {subject, description}.
func geminiThoughts(data []byte) (thought Raw) {
	c := jsonscan.New(data)
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "subject", "description":
				if text := rawValue(&c); text.Form == FormString && !text.isEmpty() {
					thought = joinTexts(thought, text)
				}
			}
		}
	}
	return thought
}

// call adds a call with its result.
func (s *geminiSession) call(c *jsonscan.Cursor) {
	b := s.b
	var id, name, status, stamp, display []byte
	var args, result Raw
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			id, _ = c.Text()
		case "name":
			name, _ = c.Text()
		case "args":
			args = rawArgs(c)
		case "result":
			result = rawContent(c)
		case "resultDisplay":
			display = c.Raw()
		case "status":
			status, _ = c.Text()
		case "timestamp":
			stamp, _ = c.Text()
		}
	}
	if len(name) == 0 {
		b.odd(CodeCallUnnamed, 1)
		return
	}
	call := b.call(b.text(id), b.names.intern(name), args, OriginModel)
	call.End, _ = parseStamp(stamp)
	call.HasResult = !result.IsZero()
	call.Result, call.Status, call.Error = geminiPartsResult(result)
	switch string(status) {
	case "success":
		call.Status, call.HasResult = StatusOK, true
	case "error":
		call.Status, call.HasResult = StatusFailed, true
	case "cancelled":
		call.Status, call.HasResult = StatusFailed, true
		b.odd(CodeCallCancelled, 1)
	}
	if call.Result.IsZero() && isKind(display, '"') && call.HasResult {
		call.Result = Raw{Data: display, Form: FormString}
	}
}

// geminiPartsResult returns what stands in the result of a call: parts, the first
// of which is a functionResponse, or a text.
func geminiPartsResult(result Raw) (Raw, Status, Raw) {
	if result.Form != FormParts {
		return result, StatusUnknown, Raw{}
	}
	c := jsonscan.New(result.Data)
	var found *item
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			if key := string(c.Key()); found == nil && (key == "functionResponse" || key == "function_response") {
				it := readGeminiResult(&c)
				found = &it
			}
		}
	}
	if found != nil {
		return found.value, found.status, found.err
	}
	return result, StatusUnknown, Raw{}
}

func detectGeminiCLI(h Head) Match {
	if len(h.Records) == 0 {
		return Match{}
	}
	lacks := ""
	for _, r := range h.Records {
		switch {
		case r.Has("sessionId", "projectHash"):
			return Match{OK: true}
		case r.Has("projectHash") || r.Has("$rewindTo"):
			lacks = `no record has "sessionId" and "projectHash"`
		}
	}
	return Match{Lacks: lacks}
}
