package emit

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"strconv"

	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/stategraph"
)

// Graph emits the merged state graph as JSON (stategraph.Document), without the reasons of
// states. It has a state for every call of the traces where rules merge none, so it is never
// in memory as a whole.
var Graph = Emitter{
	Name: EvidenceFolder + "graph.json",
	Doc:  "the merged state graph: states, transitions and how many executions take them",
	Emit: func(in Results) ([]File, error) {
		return []File{{Name: EvidenceFolder + "graph.json", Stream: func(w io.Writer) error { return writeGraph(w, in.View, in.Names) }}}, nil
	},
}

// maxTexts is how many texts are remembered: there are many edges of few labels, and the
// first ones are those of most.
const maxTexts = 1 << 16

// writeGraph writes what report.MarshalJSON makes of the document of a view.
func writeGraph(to io.Writer, v *stategraph.View, names stategraph.Names) error {
	head := v.Head()
	head.States, head.Edges = []stategraph.DocumentState{}, []stategraph.DocumentEdge{}
	frame, err := report.MarshalJSON(head)
	if err != nil {
		return err
	}
	frame, states, _ := bytes.Cut(frame, []byte(`"states": []`))
	states, end, _ := bytes.Cut(states, []byte(`"edges": []`))

	w := graphWriter{Writer: bufio.NewWriterSize(to, 64<<10)}
	names = names.Mapped(w.quoted)
	_, _ = w.Write(frame)
	w.begin("states")
	for s := range v.DocumentStates(names) {
		w.open()
		w.number("id", int(s.ID))
		w.number("distance", s.Distance)
		w.number("visits", s.Visits)
		w.number("ends", s.Ends)
		w.close()
	}
	w.end()
	_, _ = w.Write(states)
	w.begin("edges")
	for e := range v.DocumentEdges(names) {
		w.open()
		w.number("from", int(e.From))
		w.number("to", int(e.To))
		w.text("label", e.Label)
		if e.Tool != "" {
			w.text("tool", e.Tool)
		}
		w.number("weight", e.Weight)
		w.number("occurrences", e.Occurrences)
		w.number("joined", e.Joined)
		w.close()
	}
	w.end()
	_, _ = w.Write(end)
	if w.failed != nil {
		return w.failed
	}
	return w.Flush() // which has the first error of all that was written
}

// graphWriter writes lists of objects, indented.
type graphWriter struct {
	*bufio.Writer
	line    []byte
	objects int // in the list
	failed  error
}

func (w *graphWriter) begin(list string) {
	w.objects = 0
	_, _ = w.WriteString(`"` + list + `": [`)
}

func (w *graphWriter) end() {
	if w.objects > 0 {
		_, _ = w.WriteString("\n  ")
	}
	_ = w.WriteByte(']')
}

func (w *graphWriter) open() {
	w.line = w.line[:0]
	if w.objects++; w.objects > 1 {
		w.line = append(w.line, ',')
	}
	w.line = append(w.line, "\n    {"...)
}

func (w *graphWriter) close() {
	w.line[len(w.line)-1] = '\n' // in the place of a comma
	_, _ = w.Write(append(w.line, "    }"...))
}

func (w *graphWriter) name(name string) {
	w.line = append(append(append(w.line, "\n      \""...), name...), `": `...)
}

func (w *graphWriter) number(name string, n int) {
	w.name(name)
	w.line = append(strconv.AppendInt(w.line, int64(n), 10), ',')
}

// text writes a text that is JSON already, "" for an empty one.
func (w *graphWriter) text(name, quoted string) {
	w.name(name)
	w.line = append(append(w.line, cmp.Or(quoted, `""`)...), ',')
}

// quoted returns a function that returns as JSON what text does; "" stays.
func (w *graphWriter) quoted(text func(stategraph.Label) string) func(stategraph.Label) string {
	var known []string // by label
	return func(l stategraph.Label) string {
		if int(l) < len(known) && known[l] != "" {
			return known[l]
		}
		plain := text(l)
		if plain == "" {
			return ""
		}
		data, err := report.MarshalJSON(plain)
		if err != nil && w.failed == nil {
			w.failed = err
		}
		quoted := string(bytes.TrimSuffix(data, []byte("\n")))
		if l < maxTexts {
			if n := int(l) + 1 - len(known); n > 0 {
				known = append(known, make([]string, n)...)
			}
			known[l] = quoted
		}
		return quoted
	}
}
