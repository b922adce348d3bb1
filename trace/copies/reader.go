package copies

import (
	"encoding/binary"
	"math"
	"time"
	"unsafe"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/trace"
)

// reader reads what a writer wrote. After bytes that none wrote failed is true.
type reader struct {
	copies         *Set
	named          []string
	tooled         []trace.Name
	strings        string
	numbers, texts []byte
	failed         bool
}

func (r *reader) uint() uint64 {
	if len(r.numbers) > 0 && r.numbers[0] < 0x80 {
		n := r.numbers[0]
		r.numbers = r.numbers[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(r.numbers)
	if size <= 0 {
		r.failed, r.numbers = true, nil
		return 0
	}
	r.numbers = r.numbers[size:]
	return n
}

func (r *reader) long() int64 {
	n := r.uint()
	return int64(n>>1) ^ -int64(n&1)
}

func (r *reader) int() int       { return int(r.long()) }
func (r *reader) float() float64 { return math.Float64frombits(r.uint()) }
func (r *reader) bool() bool     { return r.uint() != 0 }

// count reads a number of things that take a byte each at least.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.numbers)) {
		r.failed = true
		return 0
	}
	return int(n)
}

func (r *reader) string() string {
	n := r.uint()
	if n > uint64(len(r.strings)) {
		r.failed = true
		return ""
	}
	s := r.strings[:n]
	r.strings = r.strings[n:]
	return s
}

func (r *reader) name() string {
	n := r.uint()
	if n == 0 {
		return r.string()
	}
	if n > uint64(len(r.named)) {
		r.failed = true
		return ""
	}
	return r.named[n-1]
}

func (r *reader) names() []string {
	is, n := r.bool(), r.count()
	if !is {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.name()
	}
	return list
}

func (r *reader) tool() trace.Name {
	if !r.bool() {
		return trace.Name{}
	}
	n := r.uint()
	if n == 0 {
		return trace.Intern(r.name())
	}
	if n > uint64(len(r.tooled)) {
		r.failed = true
		return trace.Name{}
	}
	return r.tooled[n-1]
}

func (r *reader) raw() trace.Raw {
	form := trace.Form(r.uint())
	if form == trace.FormNone {
		return trace.Raw{}
	}
	n := r.uint()
	if n > uint64(len(r.texts)) {
		r.failed = true
		return trace.Raw{}
	}
	data := r.texts[:n:n]
	r.texts = r.texts[n:]
	return trace.Raw{Data: data, Form: form}
}

func (r *reader) time() time.Time {
	if r.uint() == 0 {
		return time.Time{}
	}
	seconds := r.long()
	return time.Unix(seconds, int64(r.uint())).UTC()
}

func (r *reader) maybe() *float64 {
	if !r.bool() {
		return nil
	}
	f := r.float()
	return &f
}

// someOf returns room for n things; nil where there was no list.
func someOf[T any](is bool, n int) []T {
	if !is {
		return nil
	}
	return make([]T, n)
}

func (r *reader) trajectory() *trace.Trajectory {
	turns, messages, calls, context := r.count(), r.count(), r.count(), r.count()
	lists := r.uint()
	t := &trace.Trajectory{Turns: someOf[trace.Turn](lists&1 != 0, turns), Messages: someOf[trace.Message](lists&2 != 0, messages), Calls: someOf[trace.Call](lists&4 != 0, calls)}
	contexts := someOf[trace.ContextValue](context > 0, context)

	t.ID = r.string()
	t.Source = diag.Pos{File: r.name(), Line: r.int(), Col: r.int()}
	t.Offset, t.Format = r.long(), r.name()
	if ref, rest, ok := trace.ReadRef(r.numbers); ok {
		t.Ref, r.numbers = ref, rest
	} else {
		r.failed = true
	}
	t.Session = r.string()
	t.Parent.Trajectory, t.Parent.Call = r.string(), r.string()
	t.Continued, t.Task, t.Trial = r.string(), r.string(), r.string()
	t.Relay = r.relay()
	t.Agent, t.Model = r.name(), r.name()
	t.Outcome = trace.Outcome(r.uint())
	t.Score = r.maybe()
	t.Start, t.End = r.time(), r.time()
	t.Tools = r.tools()
	for i := range t.Turns {
		r.turn(&t.Turns[i])
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		m.Role, m.Text, m.Turn, m.Call, m.Time = trace.Role(r.uint()), r.raw(), r.int(), r.int(), r.time()
	}
	for i := range t.Calls {
		if contexts = r.call(&t.Calls[i], contexts); r.failed {
			return nil
		}
	}
	if r.bool() {
		t.Anomalies.ByCode = map[string]int{}
	}
	t.Anomalies.Total = r.int()
	for range r.count() {
		code := r.name()
		if t.Anomalies.ByCode == nil {
			r.failed = true
			return nil
		}
		t.Anomalies.ByCode[code] = r.int()
	}
	for range r.count() {
		n, count := r.int(), r.int()
		all := bounds.All()
		if n < 0 || n >= len(all) {
			r.failed = true
			return nil
		}
		t.Bounded = append(t.Bounded, trace.LeftOut{Bound: all[n], Count: count})
	}
	return t
}

func (r *reader) relay() *trace.Relay {
	if !r.bool() {
		return nil
	}
	return &trace.Relay{
		Version: r.name(), Arm: r.name(), Unit: r.name(), UnitID: r.string(), Share: r.float(), Seed: r.uint(),
		MetaTools: r.names(), Prefetch: r.names(),
	}
}

func (r *reader) tools() []trace.ToolDef {
	if !r.bool() {
		return nil
	}
	if n := r.int(); n > 0 {
		r.copies.mutex.Lock()
		defer r.copies.mutex.Unlock()
		if n > len(r.copies.lists) {
			r.failed = true
			return nil
		}
		return r.copies.lists[n-1]
	}
	list := make([]trace.ToolDef, r.count())
	for i := range list {
		d := &list[i]
		d.Name = r.tool()
		for _, to := range [...]*trace.Raw{&d.Description, &d.Input, &d.Output, &d.Annotations} {
			to.Form = trace.Form(r.uint())
			if s := r.string(); to.Form != trace.FormNone {
				to.Data = unsafe.Slice(unsafe.StringData(s), len(s))
			}
		}
	}
	return list
}

func (r *reader) turn(t *trace.Turn) {
	t.FirstCall, t.NumCalls, t.Model = r.int(), r.int(), r.name()
	u := &t.Usage
	bits := r.uint()
	if u.Known = bits&1 != 0; bits&4 != 0 {
		for _, n := range [...]*int64{&u.Input, &u.CachedInput, &u.CacheWrite, &u.CacheWriteHour, &u.Output, &u.Reasoning} {
			*n = r.long()
		}
	}
	if bits&2 != 0 {
		f := r.float()
		u.CostUSD = &f
	}
	t.Start, t.End = r.time(), r.time()
	t.Text, t.Thought = r.raw(), r.raw()
}

// call reads a call, and returns the room for contexts that is left.
func (r *reader) call(c *trace.Call, room []trace.ContextValue) []trace.ContextValue {
	c.ID, c.Tool, c.Turn = r.string(), r.tool(), r.int()
	c.Args, c.Result = r.raw(), r.raw()
	bits := r.uint()
	c.HasResult, c.AfterUser = bits&1 != 0, bits&2 != 0
	c.Status, c.StatusFrom = trace.Status(r.uint()), r.name()
	c.Error = r.raw()
	c.Origin, c.By, c.AnsweredBy = trace.Origin(r.uint()), r.name(), trace.Origin(r.uint())
	c.Attached = r.raw()
	c.Start, c.End = r.time(), r.time()
	n := r.count()
	if n > len(room) {
		r.failed = true
		return nil
	}
	if n == 0 {
		return room
	}
	c.Context = room[:n:n]
	for i := range c.Context {
		c.Context[i] = trace.ContextValue{Name: r.name(), Value: r.string()}
	}
	return room[n:]
}
