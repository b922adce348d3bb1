package build

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/awo-dev/awo/trace"
)

// ItemKind says what an item is.
type ItemKind uint8

const (
	ItemUser ItemKind = iota
	ItemSystem
	ItemText    // said by the model
	ItemThought // thought by the model
	ItemCall
	ItemResult
)

// Item is one piece of a conversation, as requests repeat them.
type Item struct {
	Kind   ItemKind
	Opens  bool // begins a model response, whatever stands before it
	Copied bool // tells again what another agent of the conversation said
	ID     []byte
	Tool   []byte
	Value  trace.Raw // text, arguments, or result
	Also   []byte    // content beside the text, such as an image, as it is written
	Origin trace.Origin
	Free   bool // the arguments are a text, which need not be JSON

	// Of a result, and of a call that the interface answered itself.
	Answered bool
	Result   trace.Raw
	Status   trace.Status
	Err      trace.Raw

	Hashed, Compared bool // alone and compared are what next(itemHash{}) returns
	Alone            ItemHash
}

// Response is what a record says about the model response in it.
type Response struct {
	Usage      trace.Usage
	Model      string
	Start, End time.Time
}

// ItemHash identifies a conversation up to an item.
type ItemHash [16]byte

// Transcripts puts trajectories together from records that each hold what was
// said so far and what the model answered. What a record repeats is recognised by
// its position and content and counted once: the record goes on with the
// trajectory that ends where its news begin.
//
// What the model thought and what the system said is not compared, because
// interfaces leave out the former and prompts put the time into the latter.
//
// It keeps one hash an item.
type Transcripts struct {
	known map[ItemHash]place
	All   []*Transcript
}

// place is a position in a transcript: behind its item n.
type place struct {
	t     *Transcript
	n     int
	turns int  // how many turns it has there
	model bool // the model has spoken before it
}

// Transcript is one trajectory with the place of its end.
type Transcript struct {
	Builder *Builder
	Tip     ItemHash
	N       int
	inTurn  bool // the last item was the model's
	answers bool // the items are those of one response
	model   bool
	own     map[int]bool    // turns that a record of their own tells about
	system  map[string]bool // what the system said
	Spans   map[string]int  // ids of calls that a span has answered, and how often
}

// Next returns the hash of a conversation with one more item; ok is false for
// those that are not compared.
func (it *Item) Next(h ItemHash) (ItemHash, bool) {
	if it.Hashed && h == (ItemHash{}) {
		return it.Alone, it.Compared
	}
	if it.Kind == ItemThought || it.Kind == ItemSystem || it.Kind == ItemText && it.Value.IsEmpty() && it.Also == nil {
		return h, false
	}
	data := append(make([]byte, 0, 256), h[:]...)
	data = append(data, byte(it.Kind))
	for _, part := range [][]byte{it.ID, it.Tool} {
		data = binary.AppendUvarint(data, uint64(len(part)))
		data = append(data, part...)
	}
	switch it.Kind {
	case ItemCall:
		data = (&trace.Call{Args: it.Value}).AppendCanonicalArgs(data)
	case ItemResult:
		data = append(data[:len(h)+1], it.ID...) // some records leave out the name
		v, _ := (&trace.Call{Result: it.Value, HasResult: true}).ResultValue()
		data = v.AppendCanonical(data)
	default:
		data = append(it.Value.AppendText(data), it.Also...)
	}
	sum := sha256.Sum256(data)
	return ItemHash(sum[:16]), true
}

// Add adds a record: items, of which those from answer on are the response of
// the model (answered says that there is one). from is the hash behind which
// the items stand, zero for the beginning. It returns the trajectory that they
// belong to and the hash behind them.
func (s *Transcripts) Add(from ItemHash, items []Item, answer int, answered bool, r Response) (*Transcript, ItemHash) {
	at, hash := s.known[from], from
	matched := 0
	for i := range items[:answer] {
		h, compared := items[i].Next(hash)
		p, ok := s.known[h]
		if compared && !ok {
			break
		}
		if compared {
			at, hash = p, h
		}
		matched = i + 1
	}
	switch {
	case at.t == nil || at.n != at.t.N && !at.model:
		// Only what the user said is the same: a conversation of its own.
		t := s.Begin(from)
		s.Extend(t, items[:answer])
		return t, s.answer(t, items[answer:], answered, r)
	case at.n == at.t.N:
		t := at.t
		s.addSystem(t, items[:matched])
		s.Extend(t, items[matched:answer])
		return t, s.answer(t, items[answer:], answered, r)
	}
	if !answered {
		if matched == answer { // all of it is known
			return at.t, hash
		}
	} else if end, ok := s.recalls(at, hash, items[matched:]); ok && !at.t.own[at.turns] {
		at.t.tell(at.turns, r)
		return at.t, end
	}
	t := s.Begin(hash)
	t.Builder.Anomaly(CodeHistoryForked, 1)
	t.model = true
	s.Extend(t, items[matched:answer])
	return t, s.answer(t, items[answer:], answered, r)
}

// recalls reports whether the items behind a place are those of its trajectory.
func (s *Transcripts) recalls(at place, hash ItemHash, items []Item) (ItemHash, bool) {
	found := false
	for i := range items {
		h, compared := items[i].Next(hash)
		if !compared {
			continue
		}
		p, ok := s.known[h]
		if !ok || p.t != at.t {
			return hash, false
		}
		hash, found = h, true
	}
	return hash, found
}

// Begin begins a trajectory.
func (s *Transcripts) Begin(from ItemHash) *Transcript {
	t := &Transcript{Builder: New(0), Tip: from, own: map[int]bool{}, system: map[string]bool{}, Spans: map[string]int{}}
	t.Builder.Trajectory.Offset = -1
	if s.known == nil {
		s.known = map[ItemHash]place{}
	}
	s.All = append(s.All, t)
	return t
}

// answer adds the response of the model to a trajectory.
func (s *Transcripts) answer(t *Transcript, items []Item, answered bool, r Response) ItemHash {
	if !answered {
		return t.Tip
	}
	turn := len(t.Builder.Trajectory.Turns)
	t.Builder.Turn()
	t.inTurn, t.model, t.answers = true, true, true
	for i := range items {
		items[i].Opens = false
	}
	s.Extend(t, items)
	t.answers = false
	t.tell(turn, r)
	s.known[t.Tip] = place{t, t.N, len(t.Builder.Trajectory.Turns), true}
	return t.Tip
}

// tell adds what a record says about a turn.
func (t *Transcript) tell(turn int, r Response) {
	if turn >= len(t.Builder.Trajectory.Turns) {
		return
	}
	t.own[turn] = true
	to := &t.Builder.Trajectory.Turns[turn]
	to.Usage, to.Model, to.Start, to.End = r.Usage, r.Model, r.Start, r.End
}

// addSystem adds what the system said for the first time.
func (s *Transcripts) addSystem(t *Transcript, items []Item) {
	for i := range items {
		if items[i].Kind == ItemSystem {
			t.say(&items[i])
		}
	}
}

// Extend adds items to a trajectory.
func (s *Transcripts) Extend(t *Transcript, items []Item) {
	for i := range items {
		it := &items[i]
		t.say(it)
		if h, compared := it.Next(t.Tip); compared {
			t.Tip = h
			t.N++
			s.known[h] = place{t, t.N, len(t.Builder.Trajectory.Turns), t.model}
		}
	}
}

// say adds an item.
func (t *Transcript) say(it *Item) {
	b := t.Builder
	switch it.Kind {
	case ItemUser:
		t.inTurn = false
		b.Message(trace.RoleUser, it.Value.OrAbsent())
		return
	case ItemSystem:
		if text := it.Value.Text(); text != "" && !t.system[text] {
			t.system[text] = true
			b.Message(trace.RoleSystem, it.Value)
		}
		return
	case ItemResult:
		t.inTurn = t.answers                      // what a program came to is in the response that goes on with it
		if id := string(it.ID); t.Spans[id] > 0 { // a span has told it already
			t.Spans[id]--
		} else {
			b.Told(it)
		}
		return
	}
	if !t.inTurn || it.Opens {
		b.Turn()
		t.inTurn, t.model = true, true
	}
	b.Say(it)
}

// Finish returns the trajectories; those that only repeat the name of their
// model in every turn have it once.
func (s *Transcripts) Finish() []*trace.Trajectory {
	out := make([]*trace.Trajectory, 0, len(s.All))
	for _, t := range s.All {
		tr := t.Builder.Finish()
		for i := range tr.Turns {
			if tr.Model == "" {
				tr.Model = tr.Turns[i].Model
			}
			if tr.Turns[i].Model == tr.Model {
				tr.Turns[i].Model = ""
			}
		}
		out = append(out, tr)
	}
	return out
}

// OfModel reports whether an item is what the model has said or called.
func (k ItemKind) OfModel() bool { return k == ItemText || k == ItemThought || k == ItemCall }
