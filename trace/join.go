package trace

import (
	"github.com/awo-dev/awo/internal/jsonscan"
)

// builder puts a trajectory together, for every format: a decoder tells it in
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
type builder struct {
	t       *Trajectory
	waiting waitingCalls
	ids     seenIDs
	memo    *toolMemo // nil if nothing is to be remembered
	*recordMemory
}

// recordMemory is what all trajectories of one record share.
type recordMemory struct {
	names   nameCache
	texts   textArena
	scratch [256]byte // for arguments that have to be unquoted
}

// newBuilder returns a builder for a record of about the given size in bytes.
func newBuilder(size int) *builder {
	// What a turn with its messages takes in recorded chats, so that most slices
	// are allocated once.
	n := max(4, min(size/1000, 64))
	return &builder{
		t: &Trajectory{
			Turns:    make([]Turn, 0, n),
			Messages: make([]Message, 0, max(4, n/2)),
			Calls:    make([]Call, 0, n),
		},
		recordMemory: &recordMemory{},
	}
}

// another returns a builder for another trajectory of the same record. It takes
// little memory: a hostile record may have a great many that are empty.
func (b *builder) another() *builder {
	return &builder{t: &Trajectory{}, memo: b.memo, recordMemory: b.recordMemory}
}

// odd counts n oddities.
func (b *builder) odd(code string, n int) { b.t.Oddities.AddN(code, n) }

// text returns bytes as a string that shares its memory with others of the
// trajectory.
func (b *builder) text(s []byte) string { return b.texts.add(s) }

// message adds what the user or the system said.
func (b *builder) message(role Role, text Raw) *Message {
	t := b.t
	t.Messages = append(t.Messages, Message{Role: role, Text: text, Turn: len(t.Turns), Call: len(t.Calls)})
	return &t.Messages[len(t.Messages)-1]
}

// turn begins a model response, which the calls that follow belong to.
func (b *builder) turn() *Turn {
	t := b.t
	t.Turns = append(t.Turns, Turn{FirstCall: len(t.Calls)})
	return &t.Turns[len(t.Turns)-1]
}

// call adds a call of the current turn. Without one its turn is not recorded.
func (b *builder) call(id string, tool Name, args Raw, origin Origin) *Call {
	n := len(b.t.Turns)
	if n == 0 {
		return b.callOutsideTurns(id, tool, args, origin)
	}
	b.t.Turns[n-1].NumCalls++
	return b.add(Call{ID: id, Tool: tool, Turn: n - 1, Args: args, Origin: origin})
}

// callOutsideTurns adds a call that is in no turn, or whose turn is not recorded.
func (b *builder) callOutsideTurns(id string, tool Name, args Raw, origin Origin) *Call {
	return b.add(Call{ID: id, Tool: tool, Turn: -1, Args: args, Origin: origin})
}

func (b *builder) add(c Call) *Call {
	t := b.t
	if c.ID != "" && b.ids.repeats(c.ID) {
		b.odd(CodeCallRepeatedID, 1)
	}
	b.checkArgs(c.Args)
	t.Calls = append(t.Calls, c)
	return &t.Calls[len(t.Calls)-1]
}

// checkArgs counts what is odd about arguments.
func (b *builder) checkArgs(args Raw) {
	if args.IsZero() {
		return
	}
	text, state := args.argsText(b.scratch[:0])
	switch state {
	case argsRaw:
		b.odd(CodeArgsNotJSON, 1)
		return
	case argsJSON:
		b.odd(CodeArgsNotObject, 1)
	}
	c := jsonscan.New(text)
	b.odd(CodeKeyDuplicate, countDuplicates(&c))
	if args.Form != FormJSON { // else they are counted with those of the record
		b.odd(CodeLoneSurrogate, c.LoneSurrogates())
	}
}

// result adds the result of the call with an id and returns the call, nil if
// there is none that waits for it.
func (b *builder) result(id []byte, result Raw) *Call {
	return b.answer(b.waiting.withID(b.t.Calls, id), result)
}

// namedResult adds the result, without an id, of a call of a tool and returns the
// call, nil if there is none that waits for it. Without a name either it answers
// the oldest call that waits.
func (b *builder) namedResult(tool []byte, result Raw) *Call {
	if len(tool) == 0 {
		return b.answer(b.waiting.oldest(b.t.Calls), result)
	}
	return b.answer(b.waiting.ofTool(b.t.Calls, b.names.intern(tool)), result)
}

// answer gives a result to the call with an index.
func (b *builder) answer(call int, result Raw) *Call {
	if call < 0 {
		b.odd(CodeOrphanResult, 1)
		return nil
	}
	c := &b.t.Calls[call]
	c.Result, c.HasResult = result, true
	return c
}

// dropTurns forgets the turns so far, which have made no calls.
func (b *builder) dropTurns() {
	b.t.Turns = b.t.Turns[:0]
	for i := range b.t.Messages {
		b.t.Messages[i].Turn = 0
	}
}

// restart forgets what was said, called and returned.
func (b *builder) restart() {
	t := b.t
	t.Turns, t.Messages, t.Calls = t.Turns[:0], t.Messages[:0], t.Calls[:0]
	*b = builder{t: t, memo: b.memo, recordMemory: b.recordMemory}
}

// finish returns the trajectory.
func (b *builder) finish() *Trajectory {
	markAfterUser(b.t)
	return b.t
}

// markAfterUser sets AfterUser of the calls by where the messages stand.
func markAfterUser(t *Trajectory) {
	said := make([]bool, len(t.Calls)+1) // by call: the user spoke right before it
	for i := range t.Messages {
		if m := &t.Messages[i]; m.Role == RoleUser && m.Call >= 0 && m.Call < len(said) {
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
		case c.Origin == OriginModel:
			c.AfterUser = sinceModel && modelCalled
			sinceAny, sinceModel = false, false
		default:
			c.AfterUser = sinceAny && i > 0
			sinceAny = false
		}
		modelCalled = modelCalled || c.Origin == OriginModel
	}
}
