package maps

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// sessionOfOpenCode returns a record with the session that it belongs to, nothing for a
// project, which says nothing of sessions, and nil for what is none of opencode's.
func sessionOfOpenCode(record []byte) [][]byte {
	r, err := trace.ParseValue(record)
	id := r.Member("sessionID")
	switch {
	case err != nil:
		return nil
	case id.Kind == trace.Null && r.Member("projectID").Kind != trace.Null:
		id = r.Member("id")
	case id.Kind == trace.Null && r.Member("worktree").Kind != trace.Null:
		return [][]byte{}
	case id.Kind == trace.Null:
		return nil
	}
	return [][]byte{object("session", id, "record", r).AppendCanonical(nil)}
}

// openCodeMessage is a message with its parts.
type openCodeMessage struct {
	info  trace.Value // null for one that only events tell of
	parts []trace.Value
}

// readOpenCode returns the messages of a session with their parts: messages in the order of
// their time, parts in that of their ids, which ascend.
func readOpenCode(_ *build.Builder, records [][]byte) (out [][]byte) {
	byID := map[string]*openCodeMessage{}
	var all []*openCodeMessage
	of := func(id string) *openCodeMessage {
		if byID[id] == nil {
			byID[id] = &openCodeMessage{}
			all = append(all, byID[id])
		}
		return byID[id]
	}
	header := trace.Value{}
	for _, record := range records {
		whole, _ := trace.ParseValue(record)
		r := whole.Member("record")
		if part := r.Member("part"); part.Kind == trace.Object { // an event
			r = part
		}
		switch {
		case r.Member("messageID").Kind != trace.Null:
			m := of(r.Member("messageID").Text)
			m.parts = append(m.parts, r)
		case r.Member("role").Kind != trace.Null:
			of(r.Member("id").Text).info = r
		default:
			header = object("session", whole.Member("session"), "parent", r.Member("parentID"))
		}
	}
	slices.SortStableFunc(all, func(a, b *openCodeMessage) int {
		if a.info.Kind == trace.Null || b.info.Kind == trace.Null {
			return 0
		}
		x, y := a.info.Member("time").Member("created"), b.info.Member("time").Member("created")
		return cmp.Or(cmp.Compare(len(x.Text), len(y.Text)), cmp.Compare(x.Text, y.Text), cmp.Compare(a.info.Member("id").Text, b.info.Member("id").Text))
	})
	if header.Kind != trace.Null {
		out = append(out, header.AppendCanonical(nil))
	}
	session, _ := trace.ParseValue(records[0])
	for _, m := range all {
		slices.SortStableFunc(m.parts, func(a, b trace.Value) int { return cmp.Compare(a.Member("id").Text, b.Member("id").Text) })
		if m.info.Kind == trace.Null {
			m.info = object("role", text("assistant"))
			for _, p := range m.parts {
				if p.Member("type").Text == "step-finish" {
					m.info = object("role", text("assistant"), "tokens", p.Member("tokens"))
				}
			}
		}
		parts := trace.Value{Kind: trace.Array, Elems: m.parts}
		out = append(out, object("session", session.Member("session"), "info", m.info, "message", object("role", m.info.Member("role"), "parts", parts)).AppendCanonical(nil))
	}
	return out
}
