package claudecode

import (
	"cmp"
	"crypto/sha256"
)

// A session that is resumed may go on in a file of its own, under another id, that
// begins with a copy of the lines before. Sessions that begin with the same line
// are read together, and what was copied counts once.

// claudeRoots returns what a line says about the beginning of its session, by
// which a copy of it is found.
func claudeRoots(l *claudeLine) []string {
	if !l.hasParent || l.parent != "" || l.sidechain || l.uuid == "" {
		return nil
	}
	roots := []string{"line:" + l.uuid}
	if key := claudeContent(l); key != "" {
		roots = append(roots, "content:"+key)
	}
	return roots
}

// claudeContent identifies what a line holds, where it has a time; "" for lines
// that cannot be told from others by that.
func claudeContent(l *claudeLine) string {
	if len(l.timestamp) == 0 || len(l.message) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, part := range [][]byte{[]byte(l.kind), l.timestamp, l.message} {
		sum.Write(part)
		sum.Write([]byte{0})
	}
	return string(sum.Sum(nil)[:16])
}

// claudeSession is the lines of a session and of those that go on from its end.
type claudeSession struct {
	id     string
	lines  []*claudeLine
	forked bool // it goes on from the middle of another
}

// claudeSessions divides lines, none of which is a copy, among the sessions that
// they are of. A session that goes on from the end of another is the same run; one
// that goes on from its middle is a run of its own, of which what was said before
// is not repeated.
func claudeSessions(key string, lines []*claudeLine) []claudeSession {
	var ids []string
	own := map[string][]*claudeLine{}
	for _, l := range lines {
		id := cmp.Or(l.session, key)
		if own[id] == nil {
			ids = append(ids, id)
		}
		own[id] = append(own[id], l)
	}
	if len(ids) < 2 {
		return []claudeSession{{id: key, lines: lines}}
	}
	byUUID := map[string]*claudeLine{}
	for _, l := range lines {
		byUUID[l.uuid] = l
	}
	var out []claudeSession
	of := map[*claudeLine]int{} // the session that a line has become part of
	for _, id := range ids {
		before, ok := claudeBefore(own[id], byUUID, of)
		at := len(out)
		switch {
		case ok && out[of[before]].ends(before):
			at = of[before]
			out[at].lines = append(out[at].lines, own[id]...)
		default:
			out = append(out, claudeSession{id: id, lines: own[id], forked: ok})
		}
		for _, l := range own[id] {
			of[l] = at
		}
	}
	return out
}

// claudeBefore returns the line of another session that the first message of lines
// goes on from, over links such as the seam of a compaction.
func claudeBefore(lines []*claudeLine, byUUID map[string]*claudeLine, of map[*claudeLine]int) (*claudeLine, bool) {
	for _, l := range lines {
		if l.sidechain || l.message == nil {
			continue
		}
		for range len(lines) + 1 { // circles end here
			id := cmp.Or(l.parent, l.logicalParent)
			up := byUUID[id]
			if id == "" || up == nil {
				break
			}
			if _, ok := of[up]; ok {
				return up, true
			}
			l = up
		}
		break
	}
	return nil, false
}

// ends reports whether the conversation of a session ends with a line: no message
// of the main agent comes behind it.
func (s *claudeSession) ends(last *claudeLine) bool {
	behind := map[string]bool{last.uuid: true}
	for range 2 { // lines of one response may stand in another order
		for _, l := range s.lines {
			if l != last && behind[cmp.Or(l.parent, l.logicalParent)] {
				behind[l.uuid] = true
			}
		}
	}
	for _, l := range s.lines {
		if l != last && behind[l.uuid] && l.message != nil && !l.sidechain && (l.kind == "user" || l.kind == "assistant") {
			return false
		}
	}
	return true
}
