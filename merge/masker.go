package merge

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// Veil writes labels for people without the values that may be secret: it puts
// ordinals (‹v1›, ‹v2›, ...) in their place, numbered by first appearance in
// what it wrote, equal values by equal ones. One Veil serves one run, so that
// its outputs agree; it remembers the values it hid and is not safe for
// concurrent use.
//
// Shown are: the fixed text that a rewrite rule put in; values of arguments for
// which a rule says `values: allow`; values that the tool's definition lists in
// an `enum` or `const`, and truth values where it asks for them; and values that
// are the same in all calls of the tool, in at least 5 trajectories of at least
// 2 tasks, and do not look like a credential. Names of arguments and of members
// are shown if they are in the definition, or if they look like names and, for
// those inside a value, all objects there have them or their value is shown as
// a constant: others may be data.
type Veil struct {
	labels   *Labels
	catalog  *Catalog
	showAll  bool
	ordinals map[string]int
}

// Veil returns a new veil for the labels of the graph. With showAll it hides
// nothing.
func (m *Merged) Veil(showAll bool) *Veil {
	return &Veil{labels: m.Labels, catalog: m.Catalog, showAll: showAll, ordinals: map[string]int{}}
}

// Label returns the text of a label as it may be shown: in the form of the
// label, with ordinals in place of values.
func (v *Veil) Label(id Label) string {
	if v.showAll {
		return v.labels.Text(id)
	}
	e := &v.labels.entries[id]
	return v.marked(e.marked, int(e.nameLen), e.tool)
}

// marked returns a label of a call of the tool, given with marks around what
// rules allow to be shown, as it may be shown. Its first nameLen bytes are its
// name.
func (v *Veil) marked(label string, nameLen int, of trace.Name) string {
	name, json := label[:nameLen], label[nameLen:]
	if v.showAll {
		return name + unmark(json)
	}
	w := veilWriter{veil: v, json: json}
	w.out.WriteString(name)
	if tool := v.catalog.Tool(of); tool != nil {
		w.schema = schemaSearch{root: tool.Definition.Input}
		w.value([]trace.Value{tool.Definition.Input}, &tool.args, "")
	} else {
		w.value(nil, nil, "")
	}
	return w.out.String()
}

// ordinal is what stands for a hidden text.
func (v *Veil) ordinal(text string) string {
	n, known := v.ordinals[text]
	if !known {
		n = len(v.ordinals) + 1
		v.ordinals[text] = n
	}
	return fmt.Sprintf("‹v%d›", n)
}

// veilWriter copies the marked canonical JSON of one label. Since awo wrote that
// JSON it is well formed, and as deep as the parser of arguments allowed.
type veilWriter struct {
	veil   *Veil
	json   string
	at     int
	out    strings.Builder
	schema schemaSearch
}

// value copies one value, of which schemas and seen tell what is known; either
// may be nil. name is the last name on the way to it.
func (w *veilWriter) value(schemas []trace.Value, seen *observed, name string) {
	if w.at == len(w.json) {
		return
	}
	switch w.json[w.at] {
	case markOpen:
		end := w.at + 1 + strings.IndexByte(w.json[w.at+1:], markClose)
		w.out.WriteString(w.json[w.at+1 : end])
		w.at = end + 1
	case '{':
		w.object(schemas, seen)
	case '[':
		if seen != nil {
			seen = seen.elems
		}
		schemas = w.schema.elements(schemas)
		w.copy()
		for w.json[w.at] != ']' {
			if w.json[w.at] == ',' {
				w.copy()
			}
			w.value(schemas, seen, name)
		}
		w.copy()
	case '"':
		w.text(schemas, seen, name)
	default:
		end := w.at
		for end < len(w.json) && !strings.ContainsRune(",]}", rune(w.json[end])) {
			end++
		}
		token := w.json[w.at:end]
		w.at = end
		if v, err := trace.ParseValue([]byte(token)); err == nil && w.shows(schemas, seen, name, v) {
			w.out.WriteString(token)
		} else {
			w.out.WriteString(`"` + w.veil.ordinal(token) + `"`)
		}
	}
}

// copy copies one byte.
func (w *veilWriter) copy() {
	w.out.WriteByte(w.json[w.at])
	w.at++
}

func (w *veilWriter) object(schemas []trace.Value, seen *observed) {
	top := w.at == 0
	w.copy()
	for w.json[w.at] != '}' {
		if w.json[w.at] == ',' {
			w.copy()
		}
		token := w.token()
		key := ""
		if v, err := trace.ParseValue([]byte(token)); err == nil {
			key = v.Text
		}
		inner := w.schema.members(schemas, key)
		if len(inner) > 0 || looksLikeName(key) && (top || seen.hasAlways(key)) {
			w.out.WriteString(token)
		} else {
			w.out.WriteString(`"` + w.veil.ordinal(token) + `"`)
		}
		w.copy() // the colon
		var member *observed
		if seen != nil {
			member = seen.member(key)
		}
		w.value(inner, member, key)
	}
	w.copy()
}

// token returns the JSON string that begins here, marks and all, and moves
// behind it.
func (w *veilWriter) token() string {
	start := w.at
	for w.at++; w.json[w.at] != '"'; w.at++ {
		if w.json[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	return w.json[start:w.at]
}

// text copies a string: the parts that a rule wrote, and the rest if it may be
// shown.
func (w *veilWriter) text(schemas []trace.Value, seen *observed, name string) {
	token := w.token()
	if strings.IndexByte(token, markOpen) < 0 {
		if v, err := trace.ParseValue([]byte(token)); err == nil && w.shows(schemas, seen, name, v) {
			w.out.WriteString(token)
		} else {
			w.out.WriteString(`"` + w.veil.ordinal(token) + `"`)
		}
		return
	}
	w.out.WriteByte('"')
	for rest := token[1 : len(token)-1]; rest != ""; {
		hidden, marked, found := strings.Cut(rest, string(markOpen))
		if hidden != "" {
			w.out.WriteString(w.veil.ordinal(`"` + hidden + `"`))
		}
		if !found {
			break
		}
		shown, after, _ := strings.Cut(marked, string(markClose))
		w.out.WriteString(shown)
		rest = after
	}
	w.out.WriteByte('"')
}

// shows reports whether a value may be shown that no rule speaks of.
func (w *veilWriter) shows(schemas []trace.Value, seen *observed, name string, v trace.Value) bool {
	if w.schema.names(schemas, v) {
		return true
	}
	return seen != nil && seen.isConstant() && seen.value == hashOf(v.AppendCanonical(nil)) && !LooksLikeCredential(name, textOf(v))
}

// looksLikeName reports whether the name of a member is one that somebody chose
// for a parameter, not data that is used as a key.
func looksLikeName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '-' || c == '.')) {
			return false
		}
	}
	return !secretText.MatchString(name) && (len(name) < 16 || !looksRandom(name))
}
