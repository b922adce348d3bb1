package sessions

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/sessionlog"
)

// OpenCode reads the folder in which opencode keeps its sessions, a file for each
// session, message and part of a message, and the events of `opencode run --format
// json`:
//
//	session/PROJECT/ID.json  {"id", "projectID", "directory", "parentID", "time"}
//	message/SESSION/ID.json  {"id", "sessionID", "role", "time", "tokens"}
//	part/MESSAGE/ID.json     {"id", "sessionID", "messageID", "type", ...}
//	{"type": "tool_use", "timestamp", "sessionID", "part": {...}}   an event
//
// They are joined by the id of the session, messages in the order of their time and
// parts in that of their ids, which ascend. A message of the model is a turn. What
// opencode exports itself, the format messages reads.
var OpenCode = trace.Format{
	Name:     "opencode",
	Doc:      "Sessions of opencode: its storage folder, and the events of opencode run.",
	Spec:     "https://opencode.ai/docs/cli/",
	Detect:   detectOpenCode,
	Decode:   decodeOpenCode,
	Assemble: assembleOpenCode,
}

func detectOpenCode(h trace.Head) trace.Match {
	for _, r := range h.Records {
		if openCodeSession(r.Raw, r.Has) != "" {
			return trace.Match{OK: true}
		}
	}
	return trace.Match{}
}

// openCodeSession returns the session that a record belongs to, "" if it is none of
// opencode's.
func openCodeSession(record []byte, has func(...string) bool) string {
	switch {
	case has("id", "sessionID", "messageID", "type"), has("id", "sessionID", "role", "time") && !has("parts"), has("type", "sessionID", "part"):
		return sessionlog.Text(record, "sessionID")
	case has("id", "projectID", "directory", "time"):
		return sessionlog.Text(record, "id")
	case has("id", "worktree", "time"): // a project, which says nothing of sessions
		return "-"
	}
	return ""
}

func decodeOpenCode(r trace.Record) ([]trace.Fragment, error) {
	if err := build.CheckRecord(r); err != nil {
		return nil, err
	}
	head := trace.NewHeadRecord(r.Data, false)
	session := openCodeSession(r.Data, head.Has)
	if session == "-" {
		return nil, nil
	}
	if session == "" {
		return nil, diag.New(r.Pos(), build.CodeRecordShape, "this record names no session")
	}
	return []trace.Fragment{{Key: session, Data: r.Data, Pos: r.Pos()}}, nil
}

// openCodeMessage is a message with its parts.
type openCodeMessage struct {
	id    string
	info  []byte // nil for one that only events tell of
	parts []openCodePart
	first int // the order in which it was met
}

type openCodePart struct {
	id  string
	raw []byte
}

func assembleOpenCode(key string, fragments []trace.Fragment) ([]*trace.Trajectory, error) {
	l := newLog("opencode")
	t := l.Builder.Trajectory
	t.Offset, t.Source, t.ID, t.Session = -1, fragments[0].Pos, key, key
	byID := map[string]*openCodeMessage{}
	var all []*openCodeMessage
	of := func(id string) *openCodeMessage {
		m := byID[id]
		if m == nil {
			m = &openCodeMessage{id: id, first: len(all)}
			byID[id], all = m, append(all, m)
		}
		return m
	}
	for i := range fragments {
		data := fragments[i].Data
		if part := build.MemberRaw(data, "part"); build.IsKind(part, '{') { // an event
			m := of(sessionlog.Text(part, "messageID"))
			m.parts = append(m.parts, openCodePart{sessionlog.Text(part, "id"), part})
			continue
		}
		switch {
		case build.HasMember(data, "messageID"):
			m := of(sessionlog.Text(data, "messageID"))
			m.parts = append(m.parts, openCodePart{sessionlog.Text(data, "id"), data})
		case build.HasMember(data, "sessionID") && build.HasMember(data, "role"):
			of(sessionlog.Text(data, "id")).info = data
		default:
			if parent := sessionlog.Text(data, "parentID"); parent != "" {
				t.Parent.Trajectory = parent
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *openCodeMessage) int {
		if a.info == nil || b.info == nil {
			return cmp.Compare(a.first, b.first)
		}
		x, y := sessionlog.Moment(a.info, "time.created"), sessionlog.Moment(b.info, "time.created")
		return cmp.Or(x.Compare(y), cmp.Compare(a.id, b.id))
	})
	for _, m := range all {
		m.read(l)
	}
	return []*trace.Trajectory{l.Finish()}, nil
}

// read adds a message as opencode exports it.
func (m *openCodeMessage) read(l *log) {
	info := m.info
	slices.SortStableFunc(m.parts, func(a, b openCodePart) int { return cmp.Compare(a.id, b.id) })
	if info == nil {
		info = []byte(`{"role":"assistant"}`)
		for _, p := range m.parts {
			if tokens := build.MemberRaw(p.raw, "tokens"); sessionlog.Text(p.raw, "type") == "step-finish" && build.IsKind(tokens, '{') {
				info = append(append([]byte(`{"role":"assistant","tokens":`), tokens...), '}')
			}
		}
	}
	record := append(append([]byte(`{"info":`), info...), `,"parts":[`...)
	for i, p := range m.parts {
		if i > 0 {
			record = append(record, ',')
		}
		record = append(record, p.raw...)
	}
	record = append(record, "]}"...)
	if c := jsonscan.New(record); c.End() == nil {
		readMessage(l, record)
	}
}
