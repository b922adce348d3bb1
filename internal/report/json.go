package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/stat"
)

// Schema is the version of the JSON that commands print.
const Schema = "awo/v2"

// Note says something about a part of a result, such as why a figure is null. At is
// the path of the part, such as "tables.orders.rows[2].bits"; empty means the whole.
type Note struct {
	At   string `json:"about"`
	Note string `json:"text"`
}

// documentJSON is a Document as JSON.
type documentJSON struct {
	Schema  string     `json:"schema"`
	Command string     `json:"command"`
	Answer  string     `json:"answer"`
	Figures any        `json:"figures"`
	Tables  tablesJSON `json:"tables"`
	Notes   []Note     `json:"notes"`
	Next    []nextJSON `json:"next"`
}

type nextJSON struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// tablesJSON is tables by their ID, in order.
type tablesJSON []*Table

// MarshalJSON writes each table as an object with its rows.
func (list tablesJSON) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, t := range list {
		if slices.ContainsFunc(list[:i], func(o *Table) bool { return o.ID == t.ID }) {
			return nil, fmt.Errorf("report: two tables are called %s", t.ID)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%q:{"rows":[`, t.ID)
		for k := range t.Rows {
			row, err := t.row(k)
			if err != nil {
				return nil, err
			}
			if k > 0 {
				b.WriteByte(',')
			}
			b.Write(row)
		}
		b.WriteString("]}")
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// writeJSON writes the document with all rows of all tables, and a note for every figure
// that is null.
func (d *Document) writeJSON(w io.Writer) error {
	out := documentJSON{
		Schema: Schema, Command: d.Command, Answer: cmp.Or(d.Answer, d.Title), Figures: struct{}{}, Tables: d.DataTables(),
		Notes: append([]Note{}, d.notes...), Next: []nextJSON{},
	}
	if d.Figures != nil {
		out.Figures = filled(d.Figures)
		collect(&out.Notes, reflect.ValueOf(out.Figures), "figures")
	}
	for _, t := range out.Tables {
		t.notesJSON(&out.Notes)
	}
	for _, next := range d.Next {
		command, why, _ := strings.Cut(next, " # ")
		out.Next = append(out.Next, nextJSON{command, why})
	}
	compact, err := marshal(out)
	if err != nil {
		return err
	}
	text, err := indent(compact)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// notesJSON adds the table's own notes, and one for every null in its rows.
func (t *Table) notesJSON(notes *[]Note) {
	about := "tables" + member(t.ID)
	for _, note := range t.Notes {
		*notes = append(*notes, Note{about, note})
	}
	for i, row := range t.Rows {
		at := about + ".rows[" + strconv.Itoa(i) + "]"
		if t.of != nil {
			collect(notes, reflect.ValueOf(t.data[i]), at)
			continue
		}
		for j, c := range row {
			if reason := c.missing(); reason != "" {
				*notes = append(*notes, Note{at + member(t.Columns[j].Key), reason})
			}
		}
	}
}

// filled returns a copy of v, a struct or a pointer to one, without lists and maps that are nil.
func filled(v any) any {
	value := reflect.Indirect(reflect.ValueOf(v))
	out := reflect.New(value.Type()).Elem()
	out.Set(value)
	fill(out)
	return out.Interface()
}

// fill makes lists and maps that are nil empty ones, in v and in what it points to:
// scripts find a list wherever one can be. Types that write themselves are left alone.
func fill(v reflect.Value) {
	if writesItself(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem())
		}
	case reflect.Slice:
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		if kind := v.Type().Elem().Kind(); kind >= reflect.Array && kind != reflect.String {
			for i := range v.Len() {
				fill(v.Index(i))
			}
		}
	case reflect.Map:
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if (f.IsExported() || f.Anonymous) && !(v.Field(i).IsZero() && strings.Contains(options, "omitzero")) {
				fill(v.Field(i))
			}
		}
	}
}

func writesItself(t reflect.Type) bool {
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

// MarshalJSON returns v as indented JSON with a newline at its end. Nothing is escaped for
// HTML; what could confuse a terminal is escaped as JSON allows.
func MarshalJSON(v any) ([]byte, error) {
	compact, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return indent(compact)
}

func indent(compact []byte) ([]byte, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return escapeJSON(out.Bytes()), nil
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// escapeJSON escapes characters that encoding/json leaves alone although they
// are not printable. In valid JSON they stand only inside strings.
func escapeJSON(b []byte) []byte {
	plain := func(r rune) bool { return unicode.IsPrint(r) || r == '\n' }
	if bytes.IndexFunc(b, func(r rune) bool { return !plain(r) }) < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case plain(r):
			out = append(out, b[:size]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		b = b[size:]
	}
	return out
}

var (
	figureType   = reflect.TypeFor[stat.Figure]()
	intervalType = reflect.TypeFor[stat.Interval]()
	estimateType = reflect.TypeFor[stat.Estimate]()
	marshaler    = reflect.TypeFor[json.Marshaler]()
)

// collect appends a note for every null below v.
func collect(notes *[]Note, v reflect.Value, at string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			collect(notes, v.Elem(), at)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			collect(notes, v.Index(i), at+"["+strconv.Itoa(i)+"]")
		}
	case reflect.Map:
		for _, key := range sortedKeys(v) {
			collect(notes, v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key())), at+member(key))
		}
	case reflect.Struct:
		collectStruct(notes, v, at)
	}
}

func collectStruct(notes *[]Note, v reflect.Value, at string) {
	switch v.Type() {
	case figureType:
		if reason := v.Interface().(stat.Figure).Missing(); reason != "" {
			*notes = append(*notes, Note{at, reason})
		}
		return
	case estimateType:
		e := v.Interface().(stat.Estimate)
		if reason := e.Missing(); reason != "" {
			*notes = append(*notes, Note{at, reason})
		} else if reason := e.Interval.Missing(); reason != "" {
			*notes = append(*notes, Note{at + ".lo", reason})
		}
		return
	case intervalType:
		i := v.Interface().(stat.Interval)
		if reason := i.Missing(); reason != "" {
			*notes = append(*notes, Note{at, reason})
			return
		}
		if math.IsInf(i.Lo, 0) {
			*notes = append(*notes, Note{at + ".lo", "infinite"})
		}
		if math.IsInf(i.Hi, 0) {
			*notes = append(*notes, Note{at + ".hi", "infinite"})
		}
		return
	}
	if writesItself(v.Type()) {
		return // its members are its own business
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case !field.IsExported() && !field.Anonymous, name == "-" && options == "":
		case omitted(options, v.Field(i)):
		case field.Anonymous && name == "":
			collect(notes, v.Field(i), at)
		case name == "":
			collect(notes, v.Field(i), at+member(field.Name))
		default:
			collect(notes, v.Field(i), at+member(name))
		}
	}
}

// omitted reports whether encoding/json leaves out a field with these options.
func omitted(options string, v reflect.Value) bool {
	for option := range strings.SplitSeq(options, ",") {
		switch {
		case option == "omitzero" && v.IsZero():
			return true
		case option != "omitempty":
		case v.Kind() == reflect.Map || v.Kind() == reflect.Slice:
			return v.Len() == 0
		default:
			return v.Kind() != reflect.Struct && v.IsZero()
		}
	}
	return false
}

func sortedKeys(v reflect.Value) []string {
	if v.Type().Key().Kind() != reflect.String {
		return nil
	}
	keys := map[string]bool{}
	for _, k := range v.MapKeys() {
		keys[k.String()] = true
	}
	return slices.Sorted(maps.Keys(keys))
}

// member returns the step of a jq path to a member of an object.
func member(name string) string {
	for i := range len(name) {
		if c := name[i]; c != '_' && (!isWord(c) || c >= utf8.RuneSelf || i == 0 && c <= '9') {
			quoted, err := marshal(name)
			if err != nil {
				panic(err) // a string always encodes
			}
			return "[" + string(quoted) + "]"
		}
	}
	return "." + name
}
