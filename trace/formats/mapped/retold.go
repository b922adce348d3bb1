package mapped

import (
	"cmp"
	"strings"
)

// retelling knows what was told again under another id, in maps with "restated": a session
// that is resumed may write all that was said before once more.
type retelling struct {
	says  map[string]string // what an event says, by its id
	first map[string]string // the first event that says something
	of    map[string]string // by the id of a copy, the event that it is of
}

// telling returns what an event says, "" if nobody speaks.
func (r *reading) telling(m *rule, e []byte) string {
	who := r.who(m, e)
	if who != speakerUser && who != speakerModel && who != speakerSystem {
		return ""
	}
	says := []string{string(rune(who)), r.said(m.at[fText], e).Text()}
	for _, c := range r.all(m.at[fCalls], e) {
		says = append(says, cmp.Or(r.text(m.at[fID], c), string(c)))
	}
	return strings.Join(says, "\x00")
}

// note notes what an event says.
func (t *retelling) note(id, says string) {
	if t.says == nil {
		t.says, t.first, t.of = map[string]string{}, map[string]string{}, map[string]string{}
	}
	if t.says[id] = says; t.first[says] == "" {
		t.first[says] = id
	}
}

// copies reports whether something was said before, and notes the id of the copy.
func (t *retelling) copies(id, says string) bool {
	first, ok := t.first[says]
	if ok = ok && says != ""; ok {
		t.of[id] = first
	}
	return ok
}

// A retelling has at least so many events, and no more than so many are compared: a hostile
// file may look like one at every line.
const (
	leastRetold = 2
	mostRetold  = 1 << 22
)

// once leaves out of a history what tells all of it again, from its first event on.
func (t *retelling) once(ids []string) []string {
	var spoken, told []string // of all, and of those that were no copies
	for _, id := range ids {
		if t.says[id] != "" {
			spoken = append(spoken, id)
		}
	}
	copied, compared := map[string]bool{}, 0
	for i := 0; i < len(spoken); i++ {
		n := 0
		for n < len(told) && i+n < len(spoken) && t.says[spoken[i+n]] == t.says[told[n]] && compared < mostRetold {
			n++
			compared++
		}
		if n < leastRetold || n < len(told) {
			told = append(told, spoken[i])
			continue
		}
		for _, id := range spoken[i : i+n] {
			copied[id] = true
		}
		i += n - 1
	}
	kept := ids[:0:0]
	for _, id := range ids {
		if !copied[id] {
			kept = append(kept, id)
		}
	}
	return kept
}
