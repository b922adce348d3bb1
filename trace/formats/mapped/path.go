package mapped

import (
	"bytes"
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// where says where something is: the first of some places that has anything, or a
// constant. The zero value finds nothing.
type where []place

// place is one alternative of a path.
type place struct {
	constant []byte        // JSON; nil if it is a path
	outer    bool          // from the document around the record
	steps    jsonpath.Path // in RFC 9535
	joined   []place       // texts that are joined, if it is more than one
	both     []place       // places that all count, if it is more than one
	match    *regexp.Regexp
	folder   string // of the files that match it, the name of their folder
	number   string // @number, the first in the name of the file; @traj, its name without .traj; @index, the place of the event
}

// parsePath reads alternatives separated by " | ", each a JSONPath, a constant in
// quotes, true or false, @folder, @number, @traj or @index, or several of them: with " + "
// between their texts are joined, with " & " all count. Behind " ~ " stands a regular
// expression in quotes, whose first group in the text counts.
// A path that begins with ^ is from the document around a record. A text without $ is a
// constant where words says that the field may be one.
func parsePath(text string, words bool) (where, *diag.Error) {
	var out where
	offset := 0
	for one := range strings.SplitSeq(text, " | ") {
		several, both := []place(nil), strings.Contains(one, " & ")
		at := offset
		for piece := range strings.SplitSeq(strings.ReplaceAll(one, " & ", " + "), " + ") {
			p, problem := parsePlace(piece, words)
			if problem != nil {
				problem.Pos.Col += at
				return nil, problem
			}
			several = append(several, p)
			at += len(piece) + len(" + ")
		}
		switch {
		case len(several) == 1:
			out = append(out, several[0])
		case both:
			out = append(out, place{both: several})
		default:
			out = append(out, place{joined: several})
		}
		offset += len(one) + len(" | ")
	}
	return out, nil
}

// parsePlace reads a path or a constant.
func parsePlace(text string, words bool) (p place, problem *diag.Error) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "true", trimmed == "false":
		return place{constant: []byte(trimmed)}, nil
	case strings.HasPrefix(trimmed, "'"), words && trimmed != "" && trimmed[0] != '$' && trimmed[0] != '^':
		return place{constant: jsonscan.AppendQuoted(nil, strings.ReplaceAll(strings.Trim(trimmed, `'"`), `\n`, "\n"))}, nil
	case trimmed == "@folder":
		return place{folder: "*"}, nil
	case trimmed == "@number", trimmed == "@index":
		return place{number: trimmed}, nil
	case trimmed == "@traj":
		return place{number: trimmed}, nil
	case strings.HasPrefix(trimmed, "@folder("):
		return place{folder: strings.TrimSuffix(strings.TrimPrefix(trimmed, "@folder("), ")")}, nil
	case strings.HasPrefix(trimmed, "^"):
		p.outer, trimmed = true, "$"+trimmed[1:]
	}
	trimmed, pattern, matched := strings.Cut(trimmed, " ~ ")
	if matched {
		var err error
		if p.match, err = regexp.Compile(strings.Trim(pattern, "' ")); err != nil || p.match.NumSubexp() != 1 {
			return p, diag.New(diag.Pos{Col: 1}, "bad-path", "behind ~ belongs a regular expression in quotes that has one group")
		}
	}
	steps, err := jsonpath.Parse(trimmed)
	problem, _ = errors.AsType[*diag.Error](err)
	p.steps = steps
	return p, problem
}

// object is an object whose members were found once.
type object struct {
	raw    []byte
	names  []string
	values [][]byte
}

// maxNames is how many names of members are kept.
const maxNames = 1 << 10

// finder finds paths in a value. What it has opened it keeps: each object is passed over
// once, however many paths lead into it.
type finder struct {
	open        []object
	names       map[string]string // of members, each once
	document    []byte            // around the record, for paths that begin with ^
	outer       map[*place][]byte // what such paths have found
	attachments []byte            // texts that others name
	file        string
	index       int    // of the event, from 1
	bound       []byte // what a filter that ends in ? compares with: the id of the call
}

var firstNumber = regexp.MustCompile(`[0-9]+`)

// folderOf returns the name of the folder that a file of a name is in, "" for one that is
// called after what is in it.
func folderOf(file, pattern string) []byte {
	file = filepath.ToSlash(file)
	if ok, _ := path.Match(pattern, path.Base(file)); !ok {
		return nil
	}
	folder := path.Dir(file)
	if path.Base(folder) == "events" {
		folder = path.Dir(folder)
	}
	switch name := path.Base(folder); name {
	case "chats", ".", "/":
		return nil
	default:
		return jsonscan.AppendQuoted(nil, name)
	}
}

// member returns a member of an object, nil if it has none or null. A text that holds the
// JSON of an object is looked into.
func (f *finder) member(v []byte, name string) []byte {
	if build.IsKind(v, '"') {
		v = build.InnerJSON(trace.Raw{Data: v, Form: trace.FormString})
	}
	if !build.IsKind(v, '{') {
		return nil
	}
	o := f.object(v)
	for i := len(o.names) - 1; i >= 0; i-- { // of a name that stands twice the last counts
		if o.names[i] == name {
			return o.values[i]
		}
	}
	return nil
}

func (f *finder) object(v []byte) *object {
	for i := range f.open {
		if o := &f.open[i]; len(o.raw) == len(v) && &o.raw[0] == &v[0] {
			return o
		}
	}
	c := jsonscan.New(v)
	return f.openAt(&c, v)
}

// openAt notes the members of an object that a cursor stands on.
func (f *finder) openAt(c *jsonscan.Cursor, v []byte) *object {
	if len(f.open) == cap(f.open) {
		f.open = append(f.open, object{})
	} else { // with the room of one that was forgotten
		f.open = f.open[:len(f.open)+1]
	}
	o := &f.open[len(f.open)-1]
	o.raw, o.names, o.values = v, o.names[:0], o.values[:0]
	for ok := c.Object(); ok && c.Member(); {
		key := c.Key()
		name, ok := f.names[string(key)]
		if !ok {
			if f.names == nil {
				f.names = map[string]string{}
			}
			name = string(key)
			if len(f.names) < maxNames {
				f.names[name] = name
			}
		}
		o.names = append(o.names, name)
		o.values = append(o.values, c.Raw())
	}
	return o
}

// forget makes room for another event.
func (f *finder) forget() { f.open = f.open[:0] }

// leave makes room for another record, unless it is the one that is open.
func (f *finder) leave(record []byte) {
	if len(f.open) != 1 || len(f.open[0].raw) != len(record) || len(record) == 0 || &f.open[0].raw[0] != &record[0] {
		f.forget()
	}
}

// each calls use with what steps lead to until it returns false.
func (f *finder) each(v []byte, steps jsonpath.Path, use func([]byte) bool) bool {
	for i := range steps {
		if v == nil {
			return true
		}
		switch step := &steps[i]; step.Kind {
		case jsonpath.Member:
			v = f.member(v, step.Name)
		case jsonpath.Each:
			for _, one := range f.elements(v) {
				if !f.each(one, steps[i+1:], use) {
					return false
				}
			}
			return true
		case jsonpath.Filter:
			want := step.Value.Text
			if step.Open {
				want = textOf(f.bound)
			}
			for _, one := range f.elements(v) {
				if text := textOf(f.member(one, step.Name)); text == want && text != "" && !f.each(one, steps[i+1:], use) {
					return false
				}
			}
			return true
		case jsonpath.Index:
			all := f.elements(v)
			if step.Index >= len(all) || build.IsKind(v, '{') {
				return true
			}
			v = all[step.Index]
		}
	}
	return v == nil || use(v)
}

// elements returns what a list or an object holds, also one that is kept as text.
func (f *finder) elements(v []byte) (out [][]byte) {
	if build.IsKind(v, '"') {
		v = build.InnerJSON(trace.Raw{Data: v, Form: trace.FormString})
	}
	c := jsonscan.New(v)
	for ok := c.Array(); ok && c.Element(); {
		out = append(out, c.Raw())
	}
	for ok := c.Object(); ok && c.Member(); {
		out = append(out, c.Raw())
	}
	return out
}

// first returns the first value that a path finds and that is not null, else nil.
func (f *finder) first(p where, v []byte) (found []byte) {
	for i := range p {
		found = f.firstOf(&p[i], v)
		if found != nil && (len(p) == 1 || !isEmptyText(found)) {
			return found
		}
	}
	return found
}

func (f *finder) firstOf(p *place, v []byte) (found []byte) {
	switch {
	case p.constant != nil:
		return p.constant
	case p.joined != nil:
		return f.join(p.joined, v)
	case p.both != nil:
		for i := 0; i < len(p.both) && found == nil; i++ {
			found = f.firstOf(&p.both[i], v)
		}
		return found
	case p.folder != "":
		return folderOf(f.file, p.folder)
	case p.number == "@index":
		return strconv.AppendInt(nil, int64(f.index), 10)
	case p.number == "@traj":
		if name, ok := strings.CutSuffix(path.Base(filepath.ToSlash(trace.UnpackedName(f.file))), ".traj"); ok {
			return jsonscan.AppendQuoted(nil, name)
		}
		return nil
	case p.number != "":
		return firstNumber.Find([]byte(path.Base(filepath.ToSlash(f.file))))
	case p.outer:
		found, ok := f.outer[p]
		if !ok {
			inner := *p
			inner.outer = false
			if found = f.firstOf(&inner, f.document); f.outer == nil {
				f.outer = map[*place][]byte{}
			}
			f.outer[p] = found
		}
		return found
	}
	f.each(v, p.steps, func(one []byte) bool {
		if !isNull(one) {
			found = one
		}
		return found == nil
	})
	if p.match != nil {
		return matched(p.match, found)
	}
	return found
}

// matched returns the first group of a regular expression in a text, nil if there is none.
func matched(pattern *regexp.Regexp, found []byte) []byte {
	if group := pattern.FindStringSubmatch(textOf(found)); group != nil && group[1] != "" {
		return jsonscan.AppendQuoted(nil, group[1])
	}
	return nil
}

// join returns the texts that some paths find as one, nil if one finds nothing.
func (f *finder) join(p []place, v []byte) []byte {
	var text string
	for i := range p {
		one := textOf(f.firstOf(&p[i], v))
		if one == "" {
			return nil
		}
		text += one
	}
	return jsonscan.AppendQuoted(nil, text)
}

// all returns all values of the first place that has any.
func (f *finder) all(p where, v []byte) (found [][]byte) {
	for i := 0; i < len(p) && len(found) == 0; i++ {
		if p[i].constant != nil || p[i].joined != nil || p[i].folder != "" || p[i].number != "" || p[i].match != nil {
			if one := f.firstOf(&p[i], v); one != nil {
				return [][]byte{one}
			}
			continue
		}
		if p[i].both != nil {
			for j := range p[i].both {
				found = append(found, f.all(p[i].both[j:j+1], v)...)
			}
			continue
		}
		from := v
		if p[i].outer {
			from = f.document
		}
		f.each(from, p[i].steps, func(one []byte) bool {
			found = append(found, one)
			return true
		})
	}
	return found
}

// lists reports whether there is what a path to the elements of a list leads into.
func (f *finder) lists(p where, v []byte) bool {
	for i := range p {
		steps := p[i].steps
		if n := len(steps); n > 0 && steps[n-1].Kind == jsonpath.Each {
			steps = steps[:n-1]
		}
		found := false
		f.each(v, steps, func(one []byte) bool {
			found = found || build.IsKind(one, '[') || build.IsKind(one, '{')
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// holds reports whether there is anything at a path, but for the value itself.
func (f *finder) holds(p where, v []byte) bool {
	for i := range p {
		if len(p[i].steps) > 0 && f.firstOf(&p[i], v) != nil {
			return true
		}
	}
	return false
}

// text returns what a path finds if it is a text, a number or a truth value.
func (f *finder) text(p where, v []byte) string { return textOf(f.first(p, v)) }

func textOf(found []byte) string {
	switch {
	case len(found) == 0, found[0] == '{', found[0] == '[':
		return ""
	case found[0] != '"':
		return string(found)
	}
	c := jsonscan.New(found)
	text, _ := c.Text()
	return string(text)
}

// attached returns what a text stands for: some keep long texts apart.
func (f *finder) attached(text []byte) []byte {
	if f.attachments == nil || !bytes.HasPrefix(text, []byte(`"attachment://`)) {
		return text
	}
	if found := f.member(f.attachments, strings.TrimPrefix(textOf(text), "attachment://")); found != nil {
		return found
	}
	return text
}

// said returns what a path finds as the content of a message, whose lists are of parts.
func (f *finder) said(p where, v []byte) trace.Raw {
	c := jsonscan.New(f.attached(f.first(p, v)))
	content := build.ReadContent(&c)
	if content.Form == trace.FormJSON && content.Data[0] == '{' { // {"parts"}, {"text"}
		in := jsonscan.New(content.Data)
		if text := build.ReadGeminiText(&in); !text.IsZero() {
			return text
		}
	}
	return content
}

// raw returns what a path finds as a Raw.
func (f *finder) raw(p where, v []byte) trace.Raw { return build.Raw(f.first(p, v)) }

func isNull(v []byte) bool { return bytes.Equal(v, []byte("null")) }

func isEmptyText(v []byte) bool { return len(v) == 2 && (v[0] == '"' || v[0] == '[') }
