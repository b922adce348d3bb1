package message

import (
	"cmp"
	"time"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Log puts the trajectory of a session together from what its messages and events say, in
// order. It is O(session).
type Log struct {
	Builder  *build.Builder
	Messages *Reader
	InTurn   bool
	Answered bool   // the last turn has a result: what the model says next is another
	Pieces   string // of the arguments of the last call
	Model    string // that was asked last
	Started  bool   // the last turn is known by the start of its calls alone
	byID     map[string][]int
	indexed  int // calls that byID knows
}

// Calls returns the calls with an id, in their order. Sessions are long: looking
// through all calls for every result would take the square of their number.
func (l *Log) Calls(id string) []int {
	all := l.Builder.Trajectory.Calls
	if l.byID == nil {
		l.byID = map[string][]int{}
	}
	for ; l.indexed < len(all); l.indexed++ {
		l.byID[all[l.indexed].ID] = append(l.byID[all[l.indexed].ID], l.indexed)
	}
	return l.byID[id]
}

// Said is what an envelope says about the messages in it.
type Said struct {
	At, End time.Time
	Model   string
	Usage   trace.Usage
}

// Add adds items.
func (l *Log) Add(items []build.Item, s Said) {
	b := l.Builder
	for i := range items {
		it := &items[i]
		switch it.Kind {
		case build.ItemUser:
			l.InTurn, l.Started = false, false
			b.Message(trace.RoleUser, it.Value.OrAbsent()).Time = s.At
			continue
		case build.ItemSystem:
			b.Message(trace.RoleSystem, it.Value.OrAbsent()).Time = s.At
			continue
		case build.ItemResult:
			if several := l.divided(it); several != nil {
				l.Add(several, s)
			} else {
				l.Result(it, s)
			}
			continue
		}
		if it.Kind == build.ItemText && it.Value.IsEmpty() && !l.saysMore(items[i+1:]) && len(items) > 1 && l.InTurn {
			continue
		}
		if !l.InTurn || it.Opens && !l.goesOn(&s) || l.Answered && it.Kind != build.ItemCall {
			l.Turn(s)
		}
		l.Started = false
		l.Say(it, s)
	}
}

// saysMore reports whether the model says, thinks or calls something before anybody
// else speaks.
func (l *Log) saysMore(items []build.Item) bool {
	for i := range items {
		switch items[i].Kind {
		case build.ItemCall, build.ItemThought:
			return true
		case build.ItemText:
			if !items[i].Value.IsEmpty() {
				return true
			}
		default:
			return false
		}
	}
	return false
}

// goesOn reports whether a message of the model is more of the response that is open: of
// one of which only a thought, or the start of a call, was noted. Its message says more
// of it.
func (l *Log) goesOn(s *Said) bool {
	t := l.Builder.Trajectory
	turn := &t.Turns[len(t.Turns)-1]
	if l.Answered || !l.Started && (!turn.Text.IsZero() || turn.NumCalls > 0 || turn.Thought.IsZero()) {
		return false
	}
	turn.End, turn.Model = s.End, cmp.Or(turn.Model, s.Model)
	if !turn.Usage.Known {
		turn.Usage = s.Usage
	}
	return true
}

// Turn begins a response.
func (l *Log) Turn(s Said) {
	turn := l.Builder.Turn()
	turn.Start, turn.End, turn.Model, turn.Usage = s.At, s.End, s.Model, s.Usage
	l.InTurn, l.Answered = true, false
}

// Say adds an item of the model to the last turn.
func (l *Log) Say(it *build.Item, s Said) {
	if call := l.Builder.Say(it); call != nil {
		call.Start, call.Status, call.Error = s.At, it.Status, it.Err
	}
}

// Spoken reports whether somebody spoke since the last turn began.
func (l *Log) Spoken() bool {
	t := l.Builder.Trajectory
	n := len(t.Messages)
	return n > 0 && t.Messages[n-1].Turn == len(t.Turns)
}

// divided returns the results of the calls of the last turn if one without an id is a
// list of them, nil if it is not.
func (l *Log) divided(it *build.Item) (out []build.Item) {
	t := l.Builder.Trajectory
	n := len(t.Turns)
	if len(it.ID) > 0 || len(it.Tool) > 0 || n == 0 || t.Turns[n-1].NumCalls < 2 {
		return nil
	}
	list := build.InnerJSON(it.Value)
	if !build.IsKind(list, '[') {
		return nil
	}
	turn := t.Turns[n-1]
	for i := turn.FirstCall; i < turn.FirstCall+turn.NumCalls; i++ {
		if t.Calls[i].HasResult {
			return nil
		}
	}
	for one := range build.Elements(list) {
		out = append(out, build.Item{Kind: build.ItemResult, Tool: []byte(t.Calls[min(turn.FirstCall+len(out), len(t.Calls)-1)].Tool.Value()), Value: build.Raw(one), Status: it.Status})
	}
	if len(out) != turn.NumCalls {
		return nil
	}
	return out
}

// Result adds the result of a call.
func (l *Log) Result(it *build.Item, s Said) {
	answer := *it
	if len(l.Calls(string(it.ID))) == 0 { // its call has no id, or none that is recorded
		answer.ID = nil
	}
	if call := l.Builder.Told(&answer); call != nil {
		l.Answered, l.Started = true, false
		call.End = s.At
	}
}

// Finish returns the trajectory.
func (l *Log) Finish() *trace.Trajectory {
	t := l.Builder.Trajectory
	for i := range t.Turns {
		t.Model = cmp.Or(t.Model, t.Turns[i].Model)
	}
	known := map[trace.Name]bool{}
	for _, tool := range t.Tools {
		known[tool.Name] = true
	}
	for _, tool := range l.Messages.Tools {
		if !known[tool.Name] {
			known[tool.Name] = true
			t.Tools = append(t.Tools, tool)
		}
	}
	build.ClearTurnModels(t)
	return l.Builder.Finish()
}

// NewLog returns the log of a session.
func NewLog() *Log {
	b := build.New(0)
	b.Trajectory.Offset = -1
	l := &Log{Builder: b, Messages: NewReader(b)}
	l.Messages.Once = true
	return l
}
