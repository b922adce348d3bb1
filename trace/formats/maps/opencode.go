package maps

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// sessionOfOpenCode returns a record with the session that it belongs to, nothing for a
// project, which says nothing of sessions, and nil for what is none of opencode's.
func sessionOfOpenCode(record []byte) [][]byte {
	id := build.MemberText(record, "sessionID")
	switch {
	case len(id) > 0:
	case build.HasMember(record, "projectID"):
		id = build.MemberText(record, "id")
	case build.HasMember(record, "worktree"):
		return [][]byte{}
	default:
		return nil
	}
	return [][]byte{build.Object("session", string(id), "record", record)}
}

// openCodeMessage is a message with its parts.
type openCodeMessage struct {
	id    string
	info  []byte // nil for one that only events tell of
	parts [][]byte
}

// created returns when a message was made, in milliseconds.
func (m *openCodeMessage) created() int64 {
	c := jsonscan.New(build.MemberRaw(m.info, "time", "created"))
	n, _ := c.Int()
	return n
}

// readOpenCode returns the messages of a session with their parts: messages in the order of
// their time, parts in that of their ids, which ascend.
func readOpenCode(_ *build.Builder, records [][]byte) (out [][]byte) {
	session := build.MemberRaw(records[0], "session")
	byID := map[string]*openCodeMessage{}
	var all []*openCodeMessage
	of := func(id []byte) *openCodeMessage {
		m := byID[string(id)]
		if m == nil {
			m = &openCodeMessage{id: string(id)}
			byID[m.id], all = m, append(all, m)
		}
		return m
	}
	for _, record := range records {
		r := build.MemberRaw(record, "record")
		if part := build.MemberRaw(r, "part"); build.IsKind(part, '{') { // an event
			r = part
		}
		switch {
		case build.HasMember(r, "messageID"):
			m := of(build.MemberText(r, "messageID"))
			m.parts = append(m.parts, r)
		case build.HasMember(r, "role"):
			of(build.MemberText(r, "id")).info = r
		default:
			out = append(out, build.Object("session", session, "parent", build.MemberRaw(r, "parentID"), "folder", build.MemberRaw(r, "directory")))
		}
	}
	slices.SortStableFunc(all, func(a, b *openCodeMessage) int {
		if a.info == nil || b.info == nil {
			return 0
		}
		return cmp.Or(cmp.Compare(a.created(), b.created()), cmp.Compare(a.id, b.id))
	})
	for _, m := range all {
		slices.SortStableFunc(m.parts, func(a, b []byte) int {
			return cmp.Compare(string(build.MemberText(a, "id")), string(build.MemberText(b, "id")))
		})
		if m.info == nil {
			m.info = build.Object("role", "assistant")
			for _, p := range m.parts {
				if string(build.MemberText(p, "type")) == "step-finish" {
					m.info = build.Object("role", "assistant", "tokens", build.MemberRaw(p, "tokens"))
				}
			}
		}
		message := build.Object("role", build.MemberRaw(m.info, "role"), "parts", build.List(m.parts))
		out = append(out, build.Object("session", session, "info", m.info, "message", message))
	}
	return out
}
