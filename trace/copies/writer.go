package copies

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/trace"
)

// writer writes a trajectory: its strings and its texts apart, because strings are kept
// by those who read them, and texts are not.
type writer struct {
	copies                  *Set
	numbers, strings, texts []byte
	failed                  bool
}

func (w *writer) uint(n uint64)   { w.numbers = binary.AppendUvarint(w.numbers, n) }
func (w *writer) int(n int)       { w.numbers = binary.AppendVarint(w.numbers, int64(n)) }
func (w *writer) long(n int64)    { w.numbers = binary.AppendVarint(w.numbers, n) }
func (w *writer) float(f float64) { w.uint(math.Float64bits(f)) }

func (w *writer) bits(bits ...bool) {
	n := uint64(0)
	for i, is := range bits {
		if is {
			n |= 1 << i
		}
	}
	w.uint(n)
}

func (w *writer) string(s string) {
	w.uint(uint64(len(s)))
	w.strings = append(w.strings, s...)
}

// name writes a string that probably repeats.
func (w *writer) name(s string) {
	n := uint64(0)
	if len(s) <= setName {
		n = w.copies.names.Number(s)
	}
	if w.uint(n); n == 0 {
		w.string(s)
	}
}

func (w *writer) names(list []string) {
	w.bits(list != nil)
	w.uint(uint64(len(list)))
	for _, s := range list {
		w.name(s)
	}
}

// tool writes the name of a tool, which may be none.
func (w *writer) tool(name trace.Name) {
	if w.bits(name != trace.Name{}); name == (trace.Name{}) {
		return
	}
	n, text := uint64(0), name.Value()
	if len(text) <= setName {
		n = w.copies.tools.Number(name)
	}
	if w.uint(n); n == 0 {
		w.name(text)
	}
}

func (w *writer) raw(r trace.Raw) {
	if w.uint(uint64(r.Form)); r.Form != trace.FormNone {
		w.uint(uint64(len(r.Data)))
		w.texts = append(w.texts, r.Data...)
	}
}

func (w *writer) time(at time.Time) {
	switch {
	case at.IsZero() && at.Location() == time.UTC:
		w.uint(0)
	case at.Location() != time.UTC:
		w.failed = true // no format gives one
	default:
		w.uint(1)
		w.long(at.Unix())
		w.uint(uint64(at.Nanosecond()))
	}
}

func (w *writer) maybe(f *float64) {
	if w.bits(f != nil); f != nil {
		w.float(*f)
	}
}

func (w *writer) trajectory(t *trace.Trajectory) {
	context := 0
	for i := range t.Calls {
		context += len(t.Calls[i].Context)
	}
	for _, n := range [...]int{len(t.Turns), len(t.Messages), len(t.Calls), context} {
		w.uint(uint64(n))
	}
	w.bits(t.Turns != nil, t.Messages != nil, t.Calls != nil)

	w.string(t.ID)
	w.name(t.Source.File)
	w.int(t.Source.Line)
	w.int(t.Source.Col)
	w.long(t.Offset)
	w.name(t.Format)
	w.numbers = t.Ref.Append(w.numbers)
	w.string(t.Session)
	w.string(t.Parent.Trajectory)
	w.string(t.Parent.Call)
	w.string(t.Continued)
	w.string(t.Task)
	w.string(t.Trial)
	w.relay(t.Relay)
	w.name(t.Agent)
	w.name(t.Model)
	w.uint(uint64(t.Outcome))
	w.maybe(t.Score)
	w.time(t.Start)
	w.time(t.End)
	w.tools(t.Tools)
	for i := range t.Turns {
		w.turn(&t.Turns[i])
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		w.uint(uint64(m.Role))
		w.raw(m.Text)
		w.int(m.Turn)
		w.int(m.Call)
		w.time(m.Time)
	}
	for i := range t.Calls {
		w.call(&t.Calls[i])
	}
	w.bits(t.Anomalies.ByCode != nil)
	w.int(t.Anomalies.Total)
	w.uint(uint64(len(t.Anomalies.ByCode)))
	for code, n := range t.Anomalies.ByCode {
		w.name(code)
		w.int(n)
	}
	w.uint(uint64(len(t.Bounded)))
	for _, b := range t.Bounded {
		n := slices.Index(bounds.All(), b.Bound)
		w.failed = w.failed || n < 0
		w.int(n)
		w.int(b.Count)
	}
}

func (w *writer) relay(r *trace.Relay) {
	if w.bits(r != nil); r == nil {
		return
	}
	w.name(r.Version)
	w.name(r.Arm)
	w.name(r.Unit)
	w.string(r.UnitID)
	w.float(r.Share)
	w.uint(r.Seed)
	w.names(r.MetaTools)
	w.names(r.Prefetch)
}

func (w *writer) tools(list []trace.ToolDef) {
	w.bits(list != nil)
	if list == nil {
		return
	}
	n := w.copies.list(list)
	if w.int(n); n > 0 {
		return
	}
	w.uint(uint64(len(list)))
	for i := range list {
		d := &list[i]
		w.tool(d.Name)
		for _, r := range [...]trace.Raw{d.Description, d.Input, d.Output, d.Annotations} {
			w.uint(uint64(r.Form))
			w.string(string(r.Data)) // definitions are kept, as strings are
		}
	}
}

func (w *writer) turn(t *trace.Turn) {
	w.int(t.FirstCall)
	w.int(t.NumCalls)
	w.name(t.Model)
	u := &t.Usage
	w.bits(u.Known, u.CostUSD != nil, *u != trace.Usage{})
	if *u != (trace.Usage{}) {
		for _, n := range [...]int64{u.Input, u.CachedInput, u.CacheWrite, u.CacheWriteHour, u.Output, u.Reasoning} {
			w.long(n)
		}
	}
	if u.CostUSD != nil {
		w.float(*u.CostUSD)
	}
	w.time(t.Start)
	w.time(t.End)
	w.raw(t.Text)
	w.raw(t.Thought)
}

func (w *writer) call(c *trace.Call) {
	w.string(c.ID)
	w.tool(c.Tool)
	w.int(c.Turn)
	w.raw(c.Args)
	w.raw(c.Result)
	w.bits(c.HasResult, c.AfterUser)
	w.uint(uint64(c.Status))
	w.name(c.StatusFrom)
	w.raw(c.Error)
	w.uint(uint64(c.Origin))
	w.name(c.By)
	w.uint(uint64(c.AnsweredBy))
	w.raw(c.Attached)
	w.time(c.Start)
	w.time(c.End)
	w.uint(uint64(len(c.Context)))
	for _, x := range c.Context {
		w.name(x.Name)
		w.string(x.Value)
	}
}
