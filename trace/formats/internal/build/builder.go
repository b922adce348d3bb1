// Package build is what trace formats share. A Builder puts one trajectory together
// from what was said, called and returned, in order; Transcripts do so for records
// that repeat what was said before, and requests.go for logs of them. The rest reads
// pieces of records: texts, members, times, token counts, definitions of tools.
//
// What is odd but readable is counted in the trajectory by a code of codes.go. It is
// O(record), with one hash an item in Transcripts.
package build

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// Builder puts a trajectory together, for every format: a decoder tells it in
// order what was said, called and returned, and what that means for turns, calls
// and results is decided here.
//
// A result answers the oldest unanswered call with its id: ids repeat inside
// recorded trajectories. A result without an id answers the oldest unanswered
// call of its tool. What answers nothing is a counted orphan.
//
// A call is AfterUser if a user message came since the call before it. The first
// call never is, and of the parallel calls of a turn only the first can be: what
// the user says between them counts for the next turn. Calls that no model
// decided on neither use up a user message nor count as a first call for those
// that a model did.
type Builder struct {
	Trajectory *trace.Trajectory
	Waiting    waitingCalls
	ids        seenIDs
	Memo       *trace.ToolMemo // nil if nothing is to be remembered
	Stated     Totals
	*recordMemory
}

// recordMemory is what all trajectories of one record share.
type recordMemory struct {
	Names   *trace.NameCache
	texts   trace.TextArena
	scratch []byte // for arguments that have to be unquoted
}

// New returns a builder for a record of about the given size in bytes.
func New(size int) *Builder { return newBuilder(size, nil) }

// NewRecord returns a builder for a record that is decoded by itself.
func NewRecord(r trace.Record) *Builder { return newBuilder(len(r.Data), r.Memo) }

func newBuilder(size int, memo *trace.ToolMemo) *Builder {
	// Most slices are to be allocated once.
	turns, messages, calls := memo.Expect(size)
	names := &trace.NameCache{}
	if memo != nil {
		names = &memo.Names
	}
	return &Builder{
		Trajectory: &trace.Trajectory{
			Turns:    make([]trace.Turn, 0, turns),
			Messages: make([]trace.Message, 0, messages),
			Calls:    make([]trace.Call, 0, calls),
		},
		Memo:         memo,
		recordMemory: &recordMemory{Names: names},
	}
}

// NewJoined returns a Builder for a trajectory that parts are joined to. The agent is
// the program that recorded it.
func NewJoined(agent string, parts []trace.Fragment) *Builder {
	size := 0
	for i := range parts {
		size += len(parts[i].Data)
	}
	b := New(size)
	b.Trajectory.Agent, b.Trajectory.Offset, b.Trajectory.Source = agent, -1, parts[0].Pos
	return b
}

// Another returns a builder for another trajectory of the same record. It takes
// little memory: a hostile record may have a great many that are empty.
func (b *Builder) Another() *Builder {
	return &Builder{Trajectory: &trace.Trajectory{}, Memo: b.Memo, recordMemory: b.recordMemory}
}

// Anomaly counts n anomalies.
func (b *Builder) Anomaly(code string, n int) { b.Trajectory.Anomalies.AddN(code, n) }

// Unread counts an anomaly of something that was not understood: a role, or a type of
// content, by its name.
func (b *Builder) Unread(code, what string, name []byte) {
	b.Anomaly(code, 1)
	t := b.Trajectory
	if t.Unread == nil {
		t.Unread = map[string]int{}
	}
	key := what + " without a name"
	if len(name) > 0 && len(name) <= maxUnreadName && !bytes.ContainsFunc(name, isNoName) {
		key = what + " " + string(name)
	}
	if _, ok := t.Unread[key]; ok || len(t.Unread) < maxUnread {
		t.Unread[key]++
	}
}

// How many names are kept, and how long they may be.
const (
	maxUnread     = 16
	maxUnreadName = 40
)

// isNoName reports whether a character stands in no name of a role or type.
func isNoName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./: ", r)
}

// Text returns bytes as a string that shares its memory with others of the
// trajectory.
func (b *Builder) Text(s []byte) string { return b.texts.Add(s) }

// Message adds what the user or the system said. What a program said in the user's name
// is the system's.
func (b *Builder) Message(role trace.Role, text trace.Raw) *trace.Message {
	t := b.Trajectory
	if role == trace.RoleUser && ByProgram(text) {
		role = trace.RoleSystem
	}
	t.Messages = append(t.Messages, trace.Message{Role: role, Text: text, Turn: len(t.Turns), Call: len(t.Calls)})
	return &t.Messages[len(t.Messages)-1]
}

// Turn begins a model response, which the calls that follow belong to.
func (b *Builder) Turn() *trace.Turn {
	t := b.Trajectory
	t.Turns = append(t.Turns, trace.Turn{FirstCall: len(t.Calls)})
	return &t.Turns[len(t.Turns)-1]
}

// Call adds a call of the current turn. Without one its turn is not recorded.
func (b *Builder) Call(id string, tool trace.Name, args trace.Raw, origin trace.Origin) *trace.Call {
	n := len(b.Trajectory.Turns)
	if n == 0 {
		return b.CallOutsideTurns(id, tool, args, origin)
	}
	b.Trajectory.Turns[n-1].NumCalls++
	return b.add(trace.Call{ID: id, Tool: tool, Turn: n - 1, Args: args, Origin: origin})
}

// TextCall adds a call of the current turn whose tool takes a text, which need not be
// JSON.
func (b *Builder) TextCall(id string, tool trace.Name, text trace.Raw, origin trace.Origin) *trace.Call {
	call := b.Call(id, tool, trace.Raw{}, origin)
	call.Args = text
	return call
}

// CallOutsideTurns adds a call that is in no turn, or whose turn is not recorded.
func (b *Builder) CallOutsideTurns(id string, tool trace.Name, args trace.Raw, origin trace.Origin) *trace.Call {
	return b.add(trace.Call{ID: id, Tool: tool, Turn: -1, Args: args, Origin: origin})
}

func (b *Builder) add(c trace.Call) *trace.Call {
	t := b.Trajectory
	if c.ID != "" && b.ids.repeats(c.ID) {
		b.Anomaly(CodeCallRepeatedID, 1)
	}
	b.checkArgs(c.Args)
	t.Calls = append(t.Calls, c)
	return &t.Calls[len(t.Calls)-1]
}

// checkArgs counts what is odd about arguments.
func (b *Builder) checkArgs(args trace.Raw) {
	if args.IsZero() {
		return
	}
	if len(args.Data) > cap(b.scratch) && args.Form == trace.FormString {
		b.scratch = make([]byte, 0, 2*len(args.Data))
	}
	text := args.ArgsContent(b.scratch[:0])
	c := jsonscan.New(text)
	if c.Kind() == jsonscan.String { // perhaps an object that was quoted twice
		text, _ = args.ArgsText(b.scratch[:0])
		c = jsonscan.New(text)
	}
	isObject, duplicates := c.Kind() == jsonscan.Object, countDuplicates(&c)
	if c.End() != nil {
		b.Anomaly(CodeArgsNotJSON, 1)
		return
	}
	if !isObject {
		b.Anomaly(CodeArgsNotObject, 1)
	}
	b.Anomaly(CodeKeyDuplicate, duplicates)
	if args.Form != trace.FormJSON { // else they are counted with those of the record
		b.Anomaly(CodeLoneSurrogate, c.LoneSurrogates())
	}
}

// Result adds the result of the call with an id and returns the call, nil if
// there is none that waits for it.
func (b *Builder) Result(id []byte, result trace.Raw) *trace.Call {
	return b.Answer(b.Waiting.WithID(b.Trajectory.Calls, id), result)
}

// NamedResult adds the result, without an id, of a call of a tool and returns the
// call, nil if there is none that waits for it. Without a name either it answers
// the oldest call that waits.
func (b *Builder) NamedResult(tool []byte, result trace.Raw) *trace.Call {
	if len(tool) == 0 {
		return b.Answer(b.Waiting.Oldest(b.Trajectory.Calls), result)
	}
	return b.Answer(b.Waiting.ofTool(b.Trajectory.Calls, b.Names.Intern(tool)), result)
}

// Answer gives a result to the call with an index.
func (b *Builder) Answer(call int, result trace.Raw) *trace.Call {
	if call < 0 {
		b.Anomaly(trace.CodeOrphanResult, 1)
		return nil
	}
	c := &b.Trajectory.Calls[call]
	c.Result, c.HasResult = result, true
	return c
}

// Add adds items in their order. A text or call that opens a response begins a turn.
func (b *Builder) Add(items []Item) {
	for i := range items {
		switch it := &items[i]; it.Kind {
		case ItemUser:
			b.Message(trace.RoleUser, it.Value.OrAbsent())
		case ItemSystem:
			b.Message(trace.RoleSystem, it.Value.OrAbsent())
		case ItemResult:
			b.Told(it)
		default:
			if it.Opens {
				b.Turn()
			}
			b.Say(it)
		}
	}
}

// Say adds what the model said, thought or called to the current turn. It returns the call,
// nil if it is none, or has no tool.
func (b *Builder) Say(it *Item) *trace.Call {
	if it.Kind == ItemCall {
		if len(it.Tool) == 0 {
			b.Anomaly(CodeCallUnnamed, 1)
			return nil
		}
		add := b.Call
		if it.Free {
			add = b.TextCall
		}
		call := add(b.Text(it.ID), b.Names.Intern(it.Tool), it.Value, it.Origin)
		if it.Answered {
			call.HasResult, call.Result, call.Status, call.Error = true, it.Result, it.Status, it.Err
		}
		return call
	}
	said := it.Value.OrAbsent()
	if said.IsZero() {
		return nil
	}
	turn := &b.Trajectory.Turns[len(b.Trajectory.Turns)-1]
	if it.Kind == ItemThought {
		turn.Thought = JoinTexts(turn.Thought, said)
	} else {
		turn.Text = JoinTexts(turn.Text, said)
	}
	return nil
}

// Told adds a result: of the oldest call that waits and has its id or, without one, its tool.
// It returns the call, nil for an orphan.
func (b *Builder) Told(it *Item) *trace.Call {
	var call *trace.Call
	if len(it.ID) > 0 {
		call = b.Result(it.ID, it.Value)
	} else {
		call = b.NamedResult(it.Tool, it.Value)
	}
	if call == nil {
		return nil
	}
	if it.Status != trace.StatusUnknown {
		call.Status = it.Status
	}
	if !it.Err.IsZero() {
		call.Error = it.Err
	}
	return call
}

// DropTurns forgets the turns so far, which have made no calls.
func (b *Builder) DropTurns() {
	b.Trajectory.Turns = b.Trajectory.Turns[:0]
	for i := range b.Trajectory.Messages {
		b.Trajectory.Messages[i].Turn = 0
	}
}

// Restart forgets what was said, called and returned.
func (b *Builder) Restart() {
	t := b.Trajectory
	t.Turns, t.Messages, t.Calls = t.Turns[:0], t.Messages[:0], t.Calls[:0]
	*b = Builder{Trajectory: t, Memo: b.Memo, recordMemory: b.recordMemory}
}

// Finish returns the trajectory. Calls whose status no flag of the format told have the
// one that their result states.
func (b *Builder) Finish() *trace.Trajectory {
	for i := range b.Trajectory.Calls {
		if c := &b.Trajectory.Calls[i]; c.Status == trace.StatusUnknown && c.HasResult {
			c.Status = StatedStatus(c.Result)
		}
	}
	for i := range b.Trajectory.Turns {
		if u := &b.Trajectory.Turns[i].Usage; u.Contradicted {
			b.Anomaly(CodeUsageSum, 1)
			u.Contradicted = false
		}
	}
	b.Stated.Compare([]*trace.Trajectory{b.Trajectory})
	foldContinued(b.Trajectory)
	markAfterUser(b.Trajectory)
	return b.Trajectory
}

// foldContinued makes each response that only goes on with a program part of the turn that
// began it.
func foldContinued(t *trace.Trajectory) {
	if !slices.ContainsFunc(t.Calls, func(c trace.Call) bool { return c.Origin == trace.OriginCode }) {
		return
	}
	said := map[int]bool{} // turns before which somebody spoke
	for i := range t.Messages {
		said[t.Messages[i].Turn] = true
	}
	kept, at := t.Turns[:0], make([]int, len(t.Turns)+1)
	for i := range t.Turns {
		if turn := t.Turns[i]; i == 0 || said[i] || !continues(t, &kept[len(kept)-1], &turn) {
			kept = append(kept, turn)
		} else {
			last := &kept[len(kept)-1]
			last.NumCalls += turn.NumCalls
			last.Continued += 1 + turn.Continued
			last.Usage.Add(turn.Usage)
		}
		at[i] = len(kept) - 1
	}
	at[len(t.Turns)] = len(kept)
	if len(kept) == len(t.Turns) {
		return
	}
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Turn >= 0 {
			c.Turn = at[c.Turn]
		}
	}
	for i := range t.Messages {
		t.Messages[i].Turn = at[min(t.Messages[i].Turn, len(t.Turns))]
	}
	t.Turns = kept
}

// continues reports whether a response says nothing and calls only what a program calls, so
// that it goes on with one that the turn before it began.
func continues(t *trace.Trajectory, before, turn *trace.Turn) bool {
	first, end := turn.FirstCall, turn.FirstCall+turn.NumCalls
	if before.NumCalls == 0 || before.FirstCall+before.NumCalls != first || !turn.Text.IsEmpty() || !turn.Thought.IsZero() {
		return false
	}
	return end > first && !slices.ContainsFunc(t.Calls[first-1:end], func(c trace.Call) bool { return c.Origin != trace.OriginCode })
}

// markAfterUser sets AfterUser of the calls by where the messages stand.
func markAfterUser(t *trace.Trajectory) {
	said := make([]bool, len(t.Calls)+1) // by call: the user spoke right before it
	for i := range t.Messages {
		if m := &t.Messages[i]; m.Role == trace.RoleUser && m.Call >= 0 && m.Call < len(said) {
			said[m.Call] = true
		}
	}
	sinceAny, sinceModel, modelCalled := false, false, false
	for i := range t.Calls {
		c := &t.Calls[i]
		sinceAny, sinceModel = sinceAny || said[i], sinceModel || said[i]
		c.AfterUser = false
		switch {
		case i > 0 && c.Turn >= 0 && c.Turn == t.Calls[i-1].Turn: // parallel
		case c.Origin == trace.OriginModel:
			c.AfterUser = sinceModel && modelCalled
			sinceAny, sinceModel = false, false
		default:
			c.AfterUser = sinceAny && i > 0
			sinceAny = false
		}
		modelCalled = modelCalled || c.Origin == trace.OriginModel
	}
}
