package export

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/awo-dev/awo/trace"
)

// ocelLog writes an object-centric event log (OCEL 2.0, section 8, JSON). An event is a
// call, and its type is the tool; objects are runs, tasks, sessions, agents and models.
// The format wants a time of every event: see clock. All values are written as texts,
// as the published schema asks.
type ocelLog struct {
	w       *bufio.Writer
	objects *os.File
	spool   *bufio.Writer
	events  int
	runs    int
	types   map[string]bool
	order   []string
	seen    map[string]bool // objects that several runs share
	left    Lost
}

// ocelShared is how many tasks, sessions, agents and models are remembered: beyond it
// a further one is no object, only an attribute of its run.
const ocelShared = 200000

type ocelAttribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Time  string `json:"time,omitempty"`
}

type ocelRelation struct {
	Object    string `json:"objectId"`
	Qualifier string `json:"qualifier"`
}

type ocelEvent struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	Time       string          `json:"time"`
	Attributes []ocelAttribute `json:"attributes"`
	Relations  []ocelRelation  `json:"relationships"`
}

type ocelObject struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	Attributes []ocelAttribute `json:"attributes"`
	Relations  []ocelRelation  `json:"relationships"`
}

type ocelType struct {
	Name       string         `json:"name"`
	Attributes []ocelTypePart `json:"attributes"`
}

type ocelTypePart struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

func texts(names ...string) []ocelTypePart {
	parts := make([]ocelTypePart, 0, len(names))
	for _, n := range names {
		parts = append(parts, ocelTypePart{n, "string"})
	}
	return parts
}

func (o *ocelLog) lost() Lost { return o.left }

func (o *ocelLog) begin() (err error) {
	if o.objects, err = os.CreateTemp("", "awo-ocel-*"); err != nil {
		return err
	}
	os.Remove(o.objects.Name()) // it goes when it is closed; where that fails, end removes it
	o.spool = bufio.NewWriterSize(o.objects, 1<<16)
	o.types, o.seen = map[string]bool{}, map[string]bool{}
	_, err = o.w.WriteString(`{"events":[`)
	return err
}

func ocelTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }

func (o *ocelLog) add(t *trace.Trajectory) error {
	o.runs++
	run := "run:" + strconv.Itoa(o.runs)
	times := newClock(t)
	object := ocelObject{ID: run, Type: "run", Attributes: []ocelAttribute{{"name", plain(t.ID), ocelTime(times.last)}, {"outcome", t.Outcome.String(), ocelTime(times.last)}}}
	var shared []ocelRelation
	for _, s := range [...]struct{ kind, name string }{{"task", t.Task}, {"session", t.Session}, {"agent", t.Agent}, {"model", t.Model}} {
		if s.name == "" {
			continue
		}
		id := s.kind + ":" + plain(s.name)
		if !o.seen[id] {
			if len(o.seen) >= ocelShared {
				object.Attributes = append(object.Attributes, ocelAttribute{s.kind, plain(s.name), ocelTime(times.last)})
				continue
			}
			o.seen[id] = true
			if err := o.object(ocelObject{ID: id, Type: s.kind, Attributes: []ocelAttribute{}, Relations: []ocelRelation{}}); err != nil {
				return err
			}
		}
		shared = append(shared, ocelRelation{id, s.kind})
	}
	object.Relations = append([]ocelRelation{}, shared...)
	if err := o.object(object); err != nil {
		return err
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		recorded := c.End
		if recorded.IsZero() {
			recorded = c.Start
		}
		at, known := times.at(recorded)
		tool := plain(c.Tool.Value())
		if !o.types[tool] {
			o.types[tool] = true
			o.order = append(o.order, tool)
		}
		e := ocelEvent{
			ID: run + ":" + strconv.Itoa(i+1), Type: tool, Time: ocelTime(at),
			Attributes: []ocelAttribute{{Name: "status", Value: c.Status.String()}, {Name: "origin", Value: c.Origin.String()}},
			Relations:  append([]ocelRelation{{run, "run"}}, shared...),
		}
		if c.Turn >= 0 {
			e.Attributes = append(e.Attributes, ocelAttribute{Name: "turn", Value: strconv.Itoa(c.Turn + 1)})
		}
		if !c.Start.IsZero() && !c.End.IsZero() {
			e.Attributes = append(e.Attributes, ocelAttribute{Name: "start", Value: ocelTime(c.Start)})
		}
		if !known {
			e.Attributes = append(e.Attributes, ocelAttribute{Name: "time_assumed", Value: "true"})
		}
		if err := o.list(o.w, o.events, e); err != nil {
			return err
		}
		o.events++
	}
	o.left.Untimed += times.untimed
	return nil
}

func (o *ocelLog) object(v ocelObject) error {
	if v.Relations == nil {
		v.Relations = []ocelRelation{}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = o.spool.Write(append(data, '\n'))
	return err
}

// list writes element n of a list.
func (o *ocelLog) list(w *bufio.Writer, n int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if n > 0 {
		w.WriteByte(',')
	}
	w.WriteByte('\n')
	_, err = w.Write(data)
	return err
}

func (o *ocelLog) end() error {
	defer o.objects.Close()
	defer os.Remove(o.objects.Name())
	if err := o.spool.Flush(); err != nil {
		return err
	}
	if _, err := o.objects.Seek(0, io.SeekStart); err != nil {
		return err
	}
	o.w.WriteString("\n],\n\"objects\":[")
	lines := bufio.NewReaderSize(o.objects, 1<<16)
	for n := 0; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if n > 0 {
			o.w.WriteByte(',')
		}
		o.w.WriteByte('\n')
		o.w.Write(line[:len(line)-1])
	}
	o.w.WriteString("\n],\n\"eventTypes\":[")
	for n, tool := range o.order {
		if err := o.list(o.w, n, ocelType{tool, texts("status", "origin", "turn", "start", "time_assumed")}); err != nil {
			return err
		}
	}
	o.w.WriteString("\n],\n\"objectTypes\":[")
	for n, kind := range []string{"run", "task", "session", "agent", "model"} {
		v := ocelType{kind, texts()}
		if kind == "run" {
			v.Attributes = texts("name", "outcome", "task", "session", "agent", "model")
		}
		if err := o.list(o.w, n, v); err != nil {
			return err
		}
	}
	_, err := o.w.WriteString("\n]}\n")
	return err
}
