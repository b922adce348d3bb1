package gemini

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// CLI reads the session files of Gemini CLI: a document with all
// messages, or, of newer versions, a line with what the session is and then one
// message a line. There a message is written again when more of it is known, and
// {"$rewindTo": id} takes it and all that follow back. Messages of the model are
// turns; their calls hold their results. What the program told the user is no
// part of the trajectory and counted.
//
// It keeps the lines of a file.
var CLI = trace.Format{
	Name:     "gemini-cli",
	Doc:      "Session files of Gemini CLI (~/.gemini/tmp/*/chats), as one document or one message a line.",
	Spec:     "https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/services/chatRecordingTypes.ts",
	Detect:   detectGeminiCLI,
	Decode:   decodeGeminiCLI,
	Assemble: assembleGeminiCLI,
}

func decodeGeminiCLI(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	object := c.Kind() == jsonscan.Object
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	if !object {
		return nil, nil
	}
	return []trace.Fragment{{Key: r.File, Data: r.Data, Pos: r.Pos()}}, nil
}

// geminiSession is a session as its lines tell it.
type geminiSession struct {
	b         *build.Builder
	subagent  bool
	order     []string          // ids of messages, made up for those without one
	messages  map[string][]byte // by id, the latest
	unnamed   int
	takenBack int
}

func assembleGeminiCLI(file string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	lone := 0
	s := geminiSession{b: build.NewJoined("gemini-cli", parts), messages: map[string][]byte{}}
	t := s.b.Trajectory
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		s.line(&c, parts[i].Data)
		lone += c.LoneSurrogates()
	}
	for _, id := range s.order {
		c := jsonscan.New(s.messages[id])
		s.message(&c)
	}
	s.b.Anomaly(build.CodeLoneSurrogate, lone)
	s.b.Anomaly(build.CodeBranchAbandoned, s.takenBack)
	if s.subagent {
		// The folder of a sub-agent's file is named after its parent.
		if parent := path.Base(path.Dir(filepath.ToSlash(file))); parent != "chats" && parent != "." && parent != "/" {
			t.Parent.Trajectory = parent
		}
		s.b.Anomaly(build.CodeParentCallUnknown, 1)
	}
	if t.ID == "" {
		t.ID = trace.PartName(file, 0)
	}
	for i := range t.Turns {
		if t.Model == "" {
			t.Model = t.Turns[i].Model
		}
	}
	build.ClearTurnModels(t)
	return []*trace.Trajectory{s.b.Finish()}, nil
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
			if inner := c.Raw(); data != nil && build.IsKind(inner, '{') {
				scan := jsonscan.New(inner)
				s.line(&scan, nil)
			}
		case "sessionId":
			session = true
			if text, ok := c.Text(); ok && len(text) > 0 {
				b.Trajectory.ID = b.Text(text)
				b.Trajectory.Session = b.Trajectory.ID
			}
		case "kind":
			text, _ := c.Text()
			s.subagent = string(text) == "subagent"
		case "startTime":
			b.Trajectory.Start = b.ReadTime(c)
		case "lastUpdated":
			b.Trajectory.End = b.ReadTime(c)
		case "messages":
			for ok := c.Array(); ok && c.Element(); {
				if c.Kind() == jsonscan.Object {
					s.put(c.Raw())
				} else {
					b.Anomaly(build.CodeMessageShape, 1)
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
			id = s.b.ReadID(&c)
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
	var content, parts trace.Raw
	var model string
	var usage trace.Usage
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "type":
			kind, _ = c.Text()
		case "timestamp":
			stamp, _ = c.Text()
		case "content":
			if content = build.ReadContent(c); content.Form == trace.FormJSON {
				scan := jsonscan.New(content.Data)
				content = build.ReadGeminiText(&scan)
			}
		case "parts":
			parts = build.ReadContent(c)
		case "model":
			text, _ := c.Text()
			model = b.Text(text)
		case "tokens":
			usage = build.UsageGemini.Read(c)
		case "toolCalls":
			calls = c.Raw()
		case "thoughts":
			thoughts = c.Raw()
		}
	}
	if content.IsZero() {
		content = parts
	}
	at, bad := build.ParseStamp(stamp)
	if bad {
		b.Anomaly(build.CodeTimeInvalid, 1)
	}
	switch string(kind) {
	case "user":
		b.Message(trace.RoleUser, content.OrAbsent()).Time = at
	case "gemini", "model":
		turn := b.Turn()
		turn.Text, turn.Model, turn.Usage, turn.End = content.OrAbsent(), model, usage, at
		turn.Thought = geminiThoughts(thoughts)
		scan := jsonscan.New(calls)
		for ok := scan.Array(); ok && scan.Element(); {
			s.call(&scan)
		}
	case "info", "error", "warning":
		b.Anomaly(build.CodeMessageNotice, 1)
	default:
		b.Anomaly(build.CodeMessageRole, 1)
	}
}

// geminiThoughts returns the texts of thoughts, {subject, description}.
func geminiThoughts(data []byte) (thought trace.Raw) {
	c := jsonscan.New(data)
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "subject", "description":
				if text := build.ReadRaw(&c); text.Form == trace.FormString && !text.IsEmpty() {
					thought = build.JoinTexts(thought, text)
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
	var args, result trace.Raw
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			id, _ = c.Text()
		case "name":
			name, _ = c.Text()
		case "args":
			args = build.ReadArgs(c)
		case "result":
			result = build.ReadContent(c)
		case "resultDisplay":
			display = c.Raw()
		case "status":
			status, _ = c.Text()
		case "timestamp":
			stamp, _ = c.Text()
		}
	}
	if len(name) == 0 {
		b.Anomaly(build.CodeCallUnnamed, 1)
		return
	}
	call := b.Call(b.Text(id), b.Names.Intern(name), args, trace.OriginModel)
	call.End, _ = build.ParseStamp(stamp)
	call.HasResult = !result.IsZero()
	call.Result, call.Status, call.Error = geminiPartsResult(result)
	switch string(status) {
	case "success":
		call.Status, call.HasResult = trace.StatusOK, true
	case "error":
		call.Status, call.HasResult = trace.StatusFailed, true
	case "cancelled":
		call.Status, call.HasResult = trace.StatusFailed, true
		b.Anomaly(build.CodeCallCancelled, 1)
	}
	if call.Result.IsZero() && build.IsKind(display, '"') && call.HasResult {
		call.Result = trace.Raw{Data: display, Form: trace.FormString}
	}
}

// geminiPartsResult returns what stands in the result of a call: parts, the first
// of which is a functionResponse, or a text.
func geminiPartsResult(result trace.Raw) (trace.Raw, trace.Status, trace.Raw) {
	if result.Form != trace.FormParts {
		return result, trace.StatusUnknown, trace.Raw{}
	}
	c := jsonscan.New(result.Data)
	var found *build.Item
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			if key := string(c.Key()); found == nil && (key == "functionResponse" || key == "function_response") {
				it := readGeminiResult(&c)
				found = &it
			}
		}
	}
	if found != nil {
		return found.Value, found.Status, found.Err
	}
	return result, trace.StatusUnknown, trace.Raw{}
}

func detectGeminiCLI(h trace.Head) trace.Match {
	if len(h.Records) == 0 {
		return trace.Match{}
	}
	lacks := ""
	for _, r := range h.Records {
		switch {
		case r.Has("sessionId", "projectHash"):
			return trace.Match{OK: true}
		case r.Has("projectHash") || r.Has("$rewindTo"):
			lacks = `no record has "sessionId" and "projectHash"`
		}
	}
	return trace.Match{Lacks: lacks}
}
