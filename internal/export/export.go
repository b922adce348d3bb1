// Package export writes trajectories in formats of other programs: as an event log
// for process mining (XES, OCEL 2.0), as messages or spans for tools that read those,
// and as ATIF, which loses nothing.
//
// In come trajectories, one after the other; out goes a file. Event logs hold what a
// process miner asks for (which tool, when, in which run, by whom, how it ended) and
// no argument, result or text. The other formats hold values as they were recorded.
// The same trajectories give the same bytes. Memory does not grow with the number of
// trajectories; OCEL puts its objects into a temporary file until the events are
// written.
package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/atif"
)

// Format is a format that trajectories can be written in.
type Format struct {
	Name string
	Doc  string
	// Values says whether arguments, results and texts are written.
	Values bool
	begin  func(w *bufio.Writer) writer
}

// Formats are the formats, the default first.
var Formats = []Format{
	{"atif", "ATIF-v1.7, a trajectory a line; awo reads it back without loss", true, func(w *bufio.Writer) writer { return &atifLines{w: w} }},
	{"openai-chat", "messages and tools as the chat API of OpenAI has them, a trajectory a line", true, func(w *bufio.Writer) writer { return &chatLines{w: w} }},
	{"otlp", "spans of OpenTelemetry by the conventions for generative AI, a trajectory a line", true, func(w *bufio.Writer) writer { return &otlpLines{w: w} }},
	{"xes", "an event log of IEEE 1849 (XES) for process mining, without values", false, func(w *bufio.Writer) writer { return &xesLog{w: w} }},
	{"ocel", "an object-centric event log (OCEL 2.0, JSON) for process mining, without values", false, func(w *bufio.Writer) writer { return &ocelLog{w: w} }},
	{"calls", "a row of CSV for each call, with its turn's tokens and cost, for DuckDB or pandas, without values", false, newCallRows},
}

// Find returns the format of that name.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("export: there is no format %q; there are %s", name, strings.Join(names, ", "))
}

// writer is one format being written.
type writer interface {
	begin() error
	add(t *trace.Trajectory) error
	end() error
}

// Writer writes trajectories in a format. Lost counts what the format has no place for.
type Writer struct {
	Lost  Lost
	to    *counting
	out   *bufio.Writer
	inner writer
	begun bool
}

// Lost is what was left out, by kind.
type Lost struct {
	OtherCalls int `json:"calls_not_of_the_model"`    // calls that the model did not decide on
	Messages   int `json:"messages_without_response"` // messages that no response followed
	Untimed    int `json:"events_without_time"`       // events without a recorded time, which got one that keeps their order
}

// NewWriter returns a Writer to w. Close has to be called, and does not close w.
func (f Format) NewWriter(w io.Writer) *Writer {
	to := &counting{w: w}
	out := bufio.NewWriterSize(&escaping{to: to}, 1<<16)
	return &Writer{to: to, out: out, inner: f.begin(out)}
}

// Bytes is how many bytes have been written, without those that are held back.
func (w *Writer) Bytes() int64 { return w.to.n }

// Add writes t, of which it keeps nothing. The error is that of the file, or says that
// t contradicts itself.
func (w *Writer) Add(t *trace.Trajectory) error {
	if err := w.start(); err != nil {
		return err
	}
	return w.inner.add(t)
}

func (w *Writer) start() error {
	if w.begun {
		return nil
	}
	w.begun = true
	return w.inner.begin()
}

// Close writes what ends the file.
func (w *Writer) Close() error {
	if err := w.start(); err != nil {
		return err
	}
	if err := w.inner.end(); err != nil {
		return err
	}
	if l, ok := w.inner.(interface{ lost() Lost }); ok {
		w.Lost = l.lost()
	}
	return w.out.Flush()
}

type counting struct {
	w io.Writer
	n int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// atifLines writes ATIF.
type atifLines struct {
	w    *bufio.Writer
	line []byte
}

func (a *atifLines) begin() error { return nil }
func (a *atifLines) end() error   { return nil }

func (a *atifLines) add(t *trace.Trajectory) (err error) {
	if a.line, err = atif.Append(a.line[:0], t); err != nil {
		return err
	}
	_, err = a.w.Write(a.line)
	return err
}

// An item is a message or a turn, in the order in which they came.
type item struct {
	message *trace.Message
	turn    *trace.Turn
	calls   []trace.Call // of the turn, or that have none
}

// items returns what was said and done in t in order: before each turn the messages
// and the calls outside turns that came before it.
func items(t *trace.Trajectory) []item {
	var out []item
	message, call := 0, 0
	messages := func(turn, upTo int) {
		for message < len(t.Messages) && t.Messages[message].Turn <= turn && t.Messages[message].Call <= upTo {
			out = append(out, item{message: &t.Messages[message]})
			message++
		}
	}
	outside := func(turn, end int) {
		for ; call < end; call++ {
			messages(turn, call)
			out = append(out, item{calls: t.Calls[call : call+1]})
		}
		messages(turn, call)
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		outside(i, turn.FirstCall)
		last := turn.FirstCall + turn.NumCalls
		out = append(out, item{turn: turn, calls: t.Calls[turn.FirstCall:last]})
		call = last
	}
	outside(len(t.Turns), len(t.Calls))
	for ; message < len(t.Messages); message++ {
		out = append(out, item{message: &t.Messages[message]})
	}
	return out
}

// A clock gives every event of a trajectory a time: the recorded one, and where there
// is none, or it lies before that of the event before, the time before and a
// millisecond, so that the order stays. Without any recorded time it begins in 1970.
type clock struct {
	last    time.Time
	untimed int
}

func newClock(t *trace.Trajectory) *clock {
	c := &clock{last: time.Unix(0, 0).UTC()}
	if first := t.Started(); !first.IsZero() {
		c.last = first.UTC()
	}
	return c
}

// at returns the time of the next event, and whether it is the recorded one.
func (c *clock) at(recorded time.Time) (at time.Time, known bool) {
	if recorded.IsZero() || recorded.Year() < 1 || recorded.Year() > 9999 {
		c.untimed++
		c.last = c.last.Add(time.Millisecond)
		return c.last, false
	}
	if recorded.After(c.last) {
		c.last = recorded.UTC()
	}
	return recorded.UTC(), true
}
