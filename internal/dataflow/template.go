package dataflow

import (
	"strings"

	"github.com/awo-dev/awo/trace"
)

// templates counts the templates of one parameter. Most are seen once, because
// any text has words that also stand elsewhere: those must not become links, so
// the sources of the first sight wait until the template is seen in a second
// trajectory. Like counter it keeps the templates that are frequent.
type templates struct {
	known map[string]*template
}

type template struct {
	count   int32
	first   int32 // trajectory in which it was seen first
	again   bool  // it was seen in another one
	waiting []waiting
}

// waiting is a source that becomes evidence if its template is seen again.
type waiting struct {
	key    linkKey
	source Source
	value  uint64
	kind   trace.Kind
}

// maxWaiting is how many sources of a template wait.
const maxWaiting = 32

// plan reports whether a source by template counts as evidence now. Those that
// waited for it become evidence first.
func (l *Links) plan(k linkKey, s *Source, u *Use) bool {
	stat := &l.slots[k.param].templates
	now := int32(l.trajectories)
	t := stat.known[k.template]
	if t == nil {
		before := len(stat.known)
		t = stat.admit(k.template, l.templates < maxPlanned)
		l.templates += len(stat.known) - before
		if t == nil {
			return false
		}
		t.first = now
	}
	t.count++
	if t.first == now {
		if len(t.waiting) < maxWaiting {
			// Only what addSource reads, so that the trajectory is let go.
			kept := Source{
				Slot: int(k.source), Relation: s.Relation, Template: strings.Clone(s.Template), Part: s.Part, value: s.value,
			}
			k.template = kept.Template
			t.waiting = append(t.waiting, waiting{k, kept, u.Value, u.Kind})
		}
		return false
	}
	if !t.again {
		t.again = true
		for i := range t.waiting {
			l.addSource(t.waiting[i].key, &t.waiting[i].source, t.waiting[i].value, t.waiting[i].kind, t.first)
		}
		t.waiting = nil
	}
	return true
}

// admit takes a template up if there is room, otherwise it returns nil and makes
// all others weaker.
func (p *templates) admit(text string, room bool) *template {
	if p.known == nil {
		p.known = map[string]*template{}
	}
	if len(p.known) < maxTemplates && room {
		t := &template{}
		p.known[strings.Clone(text)] = t
		return t
	}
	for other, t := range p.known {
		if t.count--; t.count == 0 {
			delete(p.known, other)
		}
	}
	return nil
}

// around is the text that all matches of a link to texts have around them.
type around struct {
	before, after string
	set           bool
}

// add narrows what all matches have in common around them.
func (a *around) add(before, after string) {
	if !a.set {
		*a = around{strings.Clone(before), strings.Clone(after), true}
		return
	}
	n := 0
	for n < len(before) && n < len(a.before) && before[len(before)-1-n] == a.before[len(a.before)-1-n] {
		n++
	}
	a.before = a.before[len(a.before)-n:]
	n = 0
	for n < len(after) && n < len(a.after) && after[n] == a.after[n] {
		n++
	}
	a.after = a.after[:n]
}
