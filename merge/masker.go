package merge

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/internal/jsonschema"
	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/trace"
)

// Masker writes labels for people without the values that may be secret: it puts
// ordinals (‹v1›, ‹v2›, ...) in their place, numbered by first appearance in
// what it wrote, equal values by equal ones. One Masker serves one run, so that
// its outputs agree; it remembers the values it hid and is not safe for
// concurrent use.
//
// Shown are: the fixed text that a rewrite rule put in; values of arguments for
// which a rule says `values: allow`; values that the tool's definition lists in
// an `enum` or `const`, and truth values where it asks for them; and values that
// are the same in all calls of the tool, in at least 5 trajectories of at least
// 2 tasks, and are numbers, truth values or public words (see secret.Public). Names of arguments and of members
// are shown if they are in the definition, or if they look like names and, for
// those inside a value, all objects there have them or their value is shown as
// a constant: others may be data.
type Masker struct {
	labels   *Labels
	catalog  *Catalog
	showAll  bool
	noValues bool // show names, and no values but what rules put in
	ordinals map[string]int
	public   *secret.Public
}

// Masker returns a new masker for the labels of the graph. With showAll it hides
// nothing.
func (m *Merged) Masker(showAll bool) *Masker { return NewMasker(m.Labels, m.Catalog, showAll) }

// NewMasker returns a masker for labels of calls of the tools in the catalog.
func NewMasker(labels *Labels, catalog *Catalog, showAll bool) *Masker {
	return &Masker{labels: labels, catalog: catalog, showAll: showAll, ordinals: map[string]int{}, public: catalog.Public()}
}

// HideConstants makes the masker hide also values that definitions list or that all
// calls have: of values, only what a rule put in or allows is shown then.
func (m *Masker) HideConstants() *Masker {
	m.noValues = true
	return m
}

// Label returns the text of a label as it may be shown: in the form of the
// label, with ordinals in place of values.
func (m *Masker) Label(id Label) string {
	if m.showAll {
		return m.labels.Text(id)
	}
	e := &m.labels.entries[id]
	return m.show(e.bracketed, int(e.nameLen), e.tool)
}

// show returns a label of a call of the tool, given with brackets around what
// rules allow to be shown, as it may be shown. Its first nameLen bytes are its
// name.
func (m *Masker) show(label string, nameLen int, of trace.Name) string {
	name, json := label[:nameLen], label[nameLen:]
	if m.showAll {
		return name + stripBrackets(json)
	}
	w := maskWriter{masker: m, json: json}
	w.out.WriteString(name)
	if tool := m.catalog.Tool(of); tool != nil {
		w.root = tool.Definition.Input
		w.value([]trace.Value{tool.Definition.Input}, &tool.args, "")
	} else {
		w.value(nil, nil, "")
	}
	return w.out.String()
}

// ordinal is what stands for a hidden text.
func (m *Masker) ordinal(text string) string {
	n, known := m.ordinals[text]
	if !known {
		n = len(m.ordinals) + 1
		m.ordinals[text] = n
	}
	return fmt.Sprintf("‹v%d›", n)
}

// maskWriter copies the bracketed canonical JSON of one label. Since awo wrote that
// JSON it is well formed, and as deep as the parser of arguments allowed.
type maskWriter struct {
	masker *Masker
	json   string
	at     int
	out    strings.Builder
	root   trace.Value // of the schema
}

// value copies one value, of which schemas and seen tell what is known; either
// may be nil. name is the last name on the way to it.
func (w *maskWriter) value(schemas []trace.Value, seen *observed, name string) {
	if w.at == len(w.json) {
		return
	}
	switch w.json[w.at] {
	case shownOpen:
		end := w.at + 1 + strings.IndexByte(w.json[w.at+1:], shownClose)
		w.out.WriteString(w.json[w.at+1 : end])
		w.at = end + 1
	case '{':
		w.object(schemas, seen)
	case '[':
		if seen != nil {
			seen = seen.elems
		}
		schemas = jsonschema.Elements(w.root, schemas...)
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
			w.out.WriteString(`"` + w.masker.ordinal(token) + `"`)
		}
	}
}

// copy copies one byte.
func (w *maskWriter) copy() {
	w.out.WriteByte(w.json[w.at])
	w.at++
}

func (w *maskWriter) object(schemas []trace.Value, seen *observed) {
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
		inner := jsonschema.Members(w.root, key, schemas...)
		if len(inner) > 0 || LooksLikeName(key) && (top || seen.hasAlways(key)) {
			w.out.WriteString(token)
		} else {
			w.out.WriteString(`"` + w.masker.ordinal(token) + `"`)
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

// token returns the JSON string that begins here, brackets and all, and moves
// behind it.
func (w *maskWriter) token() string {
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
func (w *maskWriter) text(schemas []trace.Value, seen *observed, name string) {
	token := w.token()
	if strings.IndexByte(token, shownOpen) < 0 {
		if v, err := trace.ParseValue([]byte(token)); err == nil && w.shows(schemas, seen, name, v) {
			w.out.WriteString(token)
		} else {
			w.out.WriteString(`"` + w.masker.ordinal(token) + `"`)
		}
		return
	}
	w.out.WriteByte('"')
	for rest := token[1 : len(token)-1]; rest != ""; {
		hidden, bracketed, found := strings.Cut(rest, string(shownOpen))
		if hidden != "" {
			w.out.WriteString(w.masker.ordinal(`"` + hidden + `"`))
		}
		if !found {
			break
		}
		shown, after, _ := strings.Cut(bracketed, string(shownClose))
		w.out.WriteString(shown)
		rest = after
	}
	w.out.WriteByte('"')
}

// shows reports whether a value may be shown that no rule speaks of.
func (w *maskWriter) shows(schemas []trace.Value, seen *observed, name string, v trace.Value) bool {
	if w.masker.noValues {
		return false
	}
	if listsValue(w.root, schemas, v) {
		return true
	}
	if seen == nil || !seen.isConstant() || seen.value != hash128.Of(v.AppendCanonical(nil)) {
		return false
	}
	return w.masker.public.Shows(name, v.Kind == trace.String, TextOf(v))
}

// LooksLikeName reports whether the name of a member is one that somebody chose
// for a parameter, not data that is used as a key.
func LooksLikeName(name string) bool {
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
	return !secret.HasForm(name)
}
