// Package sessions reads what agents and frameworks keep of their sessions: messages
// in whatever form, with an envelope that is theirs. Messages reads any that package
// message knows; others have events of their own and are turned into messages here:
// Copilot those of the Copilot CLI, VSCode the exports of Copilot Chat, Kimi those of
// Kimi CLI, ADK the sessions and evaluation sets of Google's agent kit, HandsEvents
// the trajectories of OpenHands before version 1.
//
// A record comes in and fragments of trajectories go out: those of a file where its
// lines are messages, a record's own where it holds a conversation. It is O(session).
package sessions

import (
	"cmp"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// log puts the trajectory of a session together from what stands in it, in order.
type log struct {
	b        *build.Builder
	messages *message.Reader
	inTurn   bool
	answered bool // the last turn has a result: what the model says next is another
	agent    string
	response string // the last one, by its id
	pieces   string // of the arguments of the last call
	model    string // that was asked last
	started  bool   // the last turn is known by the start of its calls alone
	byID     map[string][]int
	indexed  int // calls that byID knows
}

// calls returns the calls with an id, in their order. Sessions are long: looking
// through all calls for every result would take the square of their number.
func (l *log) calls(id string) []int {
	all := l.b.Trajectory.Calls
	if l.byID == nil {
		l.byID = map[string][]int{}
	}
	for ; l.indexed < len(all); l.indexed++ {
		l.byID[all[l.indexed].ID] = append(l.byID[all[l.indexed].ID], l.indexed)
	}
	return l.byID[id]
}

// said is what an envelope says about the messages in it.
type said struct {
	at    time.Time
	end   time.Time
	model string
	usage trace.Usage
}

// add adds items.
func (l *log) add(items []build.Item, s said) {
	b := l.b
	for i := range items {
		it := &items[i]
		switch it.Kind {
		case build.ItemUser:
			l.inTurn, l.started = false, false
			b.Message(trace.RoleUser, it.Value.OrAbsent()).Time = s.at
			continue
		case build.ItemSystem:
			b.Message(trace.RoleSystem, it.Value.OrAbsent()).Time = s.at
			continue
		case build.ItemResult:
			if several := l.divided(it); several != nil {
				l.add(several, s)
			} else {
				l.result(it, s)
			}
			continue
		}
		if it.Kind == build.ItemText && it.Value.IsEmpty() && !l.saysMore(items[i+1:]) && len(items) > 1 && l.inTurn {
			continue
		}
		if !l.inTurn || it.Opens && !l.goesOn(&s) || l.answered && it.Kind != build.ItemCall {
			l.turn(s)
		}
		l.started = false
		l.say(it, s)
	}
}

// saysMore reports whether the model says, thinks or calls something before anybody
// else speaks.
func (l *log) saysMore(items []build.Item) bool {
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
func (l *log) goesOn(s *said) bool {
	t := l.b.Trajectory
	turn := &t.Turns[len(t.Turns)-1]
	if l.answered || !l.started && (!turn.Text.IsZero() || turn.NumCalls > 0 || turn.Thought.IsZero()) {
		return false
	}
	turn.End, turn.Model = s.end, cmp.Or(turn.Model, s.model)
	if !turn.Usage.Known {
		turn.Usage = s.usage
	}
	return true
}

// turn begins a response.
func (l *log) turn(s said) {
	turn := l.b.Turn()
	turn.Start, turn.End, turn.Model, turn.Usage = s.at, s.end, s.model, s.usage
	l.inTurn, l.answered = true, false
}

func (l *log) say(it *build.Item, s said) {
	b := l.b
	turn := &b.Trajectory.Turns[len(b.Trajectory.Turns)-1]
	switch it.Kind {
	case build.ItemText:
		if text := it.Value.OrAbsent(); !text.IsZero() {
			turn.Text = build.JoinTexts(turn.Text, text)
		}
	case build.ItemThought:
		if thought := it.Value.OrAbsent(); !thought.IsZero() {
			turn.Thought = build.JoinTexts(turn.Thought, thought)
		}
	case build.ItemCall:
		if len(it.Tool) == 0 {
			b.Anomaly(build.CodeCallUnnamed, 1)
			return
		}
		call := b.Call(b.Text(it.ID), b.Names.Intern(it.Tool), it.Value, it.Origin)
		call.Start = s.at
		if it.Answered {
			call.HasResult, call.Result, call.Status, call.Error = true, it.Result, it.Status, it.Err
		}
	}
}

// divided returns the results of the calls of the last turn if one without an id is a
// list of them, nil if it is not.
func (l *log) divided(it *build.Item) (out []build.Item) {
	t := l.b.Trajectory
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
	c := jsonscan.New(list)
	for ok := c.Array(); ok && c.Element(); {
		out = append(out, build.Item{Kind: build.ItemResult, Tool: []byte(t.Calls[min(turn.FirstCall+len(out), len(t.Calls)-1)].Tool.Value()), Value: raw(c.Raw()), Status: it.Status})
	}
	if len(out) != turn.NumCalls {
		return nil
	}
	return out
}

func (l *log) result(it *build.Item, s said) {
	var call *trace.Call
	switch {
	case len(it.ID) > 0 && len(l.calls(string(it.ID))) > 0:
		call = l.b.Result(it.ID, it.Value)
	default: // a result whose call has no id, or none that is recorded
		call = l.b.NamedResult(it.Tool, it.Value)
	}
	if call == nil {
		return
	}
	l.answered, l.started = true, false
	call.End = s.at
	if it.Status != trace.StatusUnknown {
		call.Status = it.Status
	}
	if !it.Err.IsZero() {
		call.Error = it.Err
	}
}

// finish returns the trajectory.
func (l *log) finish() *trace.Trajectory {
	t := l.b.Trajectory
	t.Agent = cmp.Or(t.Agent, l.agent)
	for i := range t.Turns {
		t.Model = cmp.Or(t.Model, t.Turns[i].Model)
	}
	known := map[trace.Name]bool{}
	for _, tool := range l.messages.Tools {
		if !known[tool.Name] {
			known[tool.Name] = true
			t.Tools = append(t.Tools, tool)
		}
	}
	build.ClearTurnModels(t)
	return l.b.Finish()
}

// entry adds what a record says to a log.
type entry func(l *log, record []byte)

// layout is how records become fragments.
type layout struct {
	whole  func([]byte) bool     // a record is a session of its own
	divide func([]byte) [][]byte // the sessions of a record that holds several; may be nil
	// key returns the session that a record of a file says it is of, "" for none, and
	// its place in it; may be nil.
	key func(file string, record []byte) (string, int64)
}

// decoder returns how records become fragments.
func decoder(whole func([]byte) bool, divide func([]byte) [][]byte) func(trace.Record) ([]trace.Fragment, error) {
	return layout{whole: whole, divide: divide}.decode
}

func (y layout) decode(r trace.Record) ([]trace.Fragment, error) {
	if err := build.CheckRecord(r); err != nil {
		return nil, err
	}
	records := [][]byte{r.Data}
	if y.divide != nil {
		records = y.divide(r.Data)
	}
	var out []trace.Fragment
	for i, data := range records {
		part := trace.Fragment{Key: r.File, Data: data, Pos: r.Pos()}
		named := ""
		if y.key != nil {
			named, part.Order = y.key(r.File, data)
		}
		switch {
		case named != "":
			part.Key = named
		case y.whole(data):
			part.Key = r.Pos().String()
			if i > 0 {
				part.Key += "#" + strconv.Itoa(i)
			}
		}
		out = append(out, part)
	}
	if len(out) == 0 {
		return nil, diag.New(r.Pos(), build.CodeRecordShape, "this record holds no session")
	}
	return out, nil
}

// assembler returns how the fragments of a session become its trajectory.
func assembler(agent string, read entry) func(string, []trace.Fragment) ([]*trace.Trajectory, error) {
	return func(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
		b := build.New(0)
		l := &log{b: b, messages: message.NewReader(b), agent: agent}
		b.Trajectory.Offset = -1
		for i := range parts {
			if i+1 < len(parts) && build.HasMember(parts[i].Data, "values") && strings.Contains(key, "#") {
				continue // a state of the session before the last
			}
			read(l, parts[i].Data)
		}
		t := l.finish()
		t.Source = parts[0].Pos
		if t.ID == "" && key == parts[0].Pos.File {
			base := path.Base(filepath.ToSlash(key))
			t.ID, _, _ = strings.Cut(base, ".")
		}
		return []*trace.Trajectory{t}, nil
	}
}

// raw returns a value as a Raw.
func raw(value []byte) trace.Raw {
	if value == nil {
		return trace.Raw{}
	}
	c := jsonscan.New(value)
	return build.ReadRaw(&c)
}

// member returns a member of an object by a path of names, nil if there is none.
func member(object []byte, names ...string) []byte {
	for _, name := range names {
		if !build.IsKind(object, '{') {
			return nil
		}
		object = build.MemberRaw(object, name)
	}
	return object
}

// text returns the text of a member.
func text(object []byte, names ...string) string {
	value := member(object, names...)
	c := jsonscan.New(value)
	t, _ := c.Text()
	return string(t)
}

// moment returns the first of some members that is a time: text, or seconds or
// milliseconds since 1970.
func moment(object []byte, paths ...string) time.Time {
	for _, p := range paths {
		value := member(object, strings.Split(p, ".")...)
		if value == nil {
			continue
		}
		c := jsonscan.New(value)
		if t, ok := c.Text(); ok {
			if at, ok := trace.ParseTime(t); ok {
				return at
			}
			continue
		}
		if n, ok := c.Float(); ok && n > 0 && n < build.MaxUnix*1000 {
			if n > 1e11 {
				return time.UnixMilli(int64(n)).UTC()
			}
			return time.UnixMicro(int64(n * 1e6)).UTC()
		}
	}
	return time.Time{}
}
