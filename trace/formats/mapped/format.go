package mapped

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Name is the name of the format that a map without a name describes.
const Name = "map"

// Format returns the trace format that a map describes. Without "detect" it claims any
// JSON.
func (m *Map) Format() trace.Format {
	f := trace.Format{
		Name:     cmp.Or(m.name, Name),
		Doc:      cmp.Or(m.doc, "What a map says (--map)."),
		Spec:     m.spec,
		Detect:   m.claims,
		Decode:   m.decode,
		Assemble: m.assemble,
		Archive:  m.hook.Archive,
	}
	if m.split != "" {
		f.Split = trace.SplitMember(m.split, m.around)
	}
	return f
}

// around returns the members that stand in a document before its records, as far as paths
// lead there.
func (m *Map) around(before []trace.DocumentMember) any {
	document := []byte{'{'}
	for _, member := range before {
		if !slices.Contains(m.outer, member.Name) {
			continue
		}
		if c := jsonscan.New(member.Value.Data); c.End() != nil {
			continue
		}
		if len(document) > 1 {
			document = append(document, ',')
		}
		document = append(append(jsonscan.AppendQuoted(document, member.Name), ':'), member.Value.Data...)
	}
	return append(document, '}')
}

// claims reports whether the head of a file has what the map is for.
func (m *Map) claims(h trace.Head) trace.Match {
	if m.detect == nil {
		return trace.Match{OK: h.Container != trace.ContainerOther && len(h.Records) > 0}
	}
	lacks := ""
	for _, r := range h.Records {
		i := slices.IndexFunc(m.detect, func(c condition) bool { return !(c.lacks != "" && r.Truncated) && c.holds(r) })
		if i >= 0 && m.detect[i].lacks == "" {
			return trace.Match{OK: true}
		} else if i >= 0 {
			lacks = m.detect[i].lacks
		}
	}
	return trace.Match{Lacks: lacks}
}

func (c *condition) holds(r trace.HeadRecord) bool {
	for i := range c.members {
		is := &c.members[i]
		head, value := r, []byte(nil)
		for i, name := range is.member {
			if name == "0" { // the first element
				if i == 0 {
					value = r.Raw
				}
				value = build.FirstElement(value)
				continue
			}
			if name == "*" && i == 0 && len(r.Keys) > 0 { // the first member
				name = r.Keys[0]
			}
			if i > 0 {
				head = trace.NewHeadRecord(value, true)
			}
			value = head.Members[name]
		}
		if !is.holds(value) {
			return false
		}
	}
	return len(c.members) > 0
}

func (is *memberIs) holds(value []byte) bool {
	if value == nil {
		return slices.Contains(is.values, "")
	}
	return matches(is.values, strings.Trim(string(value), `"`))
}

// matches reports whether a text is one of some. A * at the end of one is for all that begin
// so, at its beginning for all that end so, and at both for all that contain it.
func matches(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		head, open := strings.CutSuffix(p, "*")
		tail, begins := strings.CutPrefix(head, "*")
		switch {
		case open && begins:
			return strings.Contains(text, tail)
		case open:
			return strings.HasPrefix(text, head)
		case begins:
			return strings.HasSuffix(text, tail)
		}
		return p != "" && p == text
	})
}

// decode finds the sessions, or the pieces of sessions, of a record.
func (m *Map) decode(r trace.Record) ([]trace.Fragment, error) {
	f := finder{document: r.Data, file: r.File}
	whole := jsonscan.New(r.Data)
	if whole.Kind() == jsonscan.Object {
		f.openAt(&whole, r.Data)
	}
	if err := whole.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	records := [][]byte{r.Data}
	switch {
	case m.split != "":
		f.document, _ = r.Shared.([]byte)
	case m.hook.Divide != nil:
		records = m.hook.Divide(r.Data)
	case m.at[fRecords] != nil:
		records = f.all(m.at[fRecords], r.Data)
	}
	var out []trace.Fragment
	for i, record := range records {
		f.leave(record)
		if m.at[fSpan] != nil {
			if id := f.text(m.at[fTrajectory], record); id != "" {
				out = append(out, trace.Fragment{Key: id, Data: record, Pos: r.Pos()})
			}
			continue
		}
		part := trace.Fragment{Key: r.File, Data: record, Pos: r.Pos()}
		events := m.at[fEvents]
		switch id := f.text(m.at[fTrajectory], record); {
		case m.at[fWhole] == nil && id != "":
			part.Key += "#" + id
			if m.join == "session" { // wherever its records stand
				part.Key = id
			} else if m.at[fTrajectory][0].folder != "" {
				part.Key = path.Dir(filepath.ToSlash(r.File)) + "#" + id
			}
		case m.at[fWhole] != nil && m.hook.Read == nil && events != nil && !f.lists(events, record):
			continue
		case m.join == "file":
		case m.at[fWhole] != nil, f.holds(events, record) || events != nil && build.IsKind(record, '['), m.at[fUser] != nil, m.at[fAnswer] != nil: // a session of its own
			if part = (trace.Fragment{Trajectory: m.read(f, [][]byte{record})}); part.Trajectory == nil {
				continue
			}
			part.Trajectory.Anomalies.AddN(build.CodeLoneSurrogate, whole.LoneSurrogates())
			if m.unnamed == "position" && part.Trajectory.ID == "" {
				part.Trajectory.ID = r.Pos().String()
				if i > 0 {
					part.Trajectory.ID += "#" + strconv.Itoa(i)
				}
			}
		case events != nil && m.at[fTrajectory] == nil && len(events[len(events)-1].steps) > 0:
			continue
		}
		part.Order = f.order(m.at[fOrder], record)
		out = append(out, part)
	}
	if len(out) == 0 && (records == nil || m.hook.Divide == nil) { // a hook may leave records out
		return nil, diag.New(r.Pos(), build.CodeRecordShape, "%s", m.missing())
	}
	return out, nil
}

// missing says what a record lacks in which the map finds nothing.
func (m *Map) missing() string {
	p := m.at[fEvents]
	for len(p) > 0 && p[0].both != nil {
		p = p[0].both
	}
	if len(p) > 0 && len(p[0].steps) == 2 && p[0].steps[1].Kind == jsonpath.Each && p[0].steps[0].Kind == jsonpath.Member {
		return fmt.Sprintf("this record has no list %q", p[0].steps[0].Name)
	}
	return "the map finds nothing in this record"
}

// order returns the place of a record in its session: a number, or a time.
func (f *finder) order(p where, v []byte) int64 {
	if p == nil {
		return 0
	}
	text := f.text(p, v)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	at, _ := trace.ParseTime([]byte(text))
	return at.UnixNano()
}

func (m *Map) assemble(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	if m.at[fSpan] != nil {
		return m.joinSpans(key, parts), nil
	}
	records := make([][]byte, len(parts))
	lone := 0
	for i := range parts {
		records[i] = parts[i].Data
		if bytes.Contains(records[i], []byte(`\ud`)) || bytes.Contains(records[i], []byte(`\uD`)) {
			c := jsonscan.New(records[i])
			c.Skip()
			lone += c.LoneSurrogates()
		}
	}
	t := m.read(finder{file: parts[0].Pos.File}, records)
	if t == nil {
		return nil, nil
	}
	t.Source = parts[0].Pos
	t.Anomalies.AddN(build.CodeLoneSurrogate, lone)
	if m.unnamed == "session" {
		t.ID = cmp.Or(t.ID, t.Session)
	}
	if t.ID == "" && m.name != "" && (m.unnamed == "" || m.unnamed == "position") && key == parts[0].Pos.File {
		t.ID, _, _ = strings.Cut(path.Base(filepath.ToSlash(key)), ".")
	}
	return []*trace.Trajectory{t}, nil
}
