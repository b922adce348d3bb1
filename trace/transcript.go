package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// itemKind says what an item is.
type itemKind uint8

const (
	itemUser itemKind = iota
	itemSystem
	itemText    // said by the model
	itemThought // thought by the model
	itemCall
	itemResult
)

// item is one piece of a conversation, as requests repeat them.
type item struct {
	kind   itemKind
	opens  bool // begins a model response, whatever stands before it
	id     []byte
	tool   []byte
	value  Raw // text, arguments, or result
	origin Origin

	// Of a result, and of a call that the interface answered itself.
	answered bool
	result   Raw
	status   Status
	err      Raw

	hashed, compared bool // alone and compared are what next(itemHash{}) returns
	alone            itemHash
}

// response is what a record says about the model response in it.
type response struct {
	usage      Usage
	model      string
	start, end time.Time
}

// itemHash identifies a conversation up to an item.
type itemHash [16]byte

// transcripts puts trajectories together from records that each hold what was
// said so far and what the model answered. What a record repeats is recognised by
// its position and content and counted once: the record goes on with the
// trajectory that ends where its news begin.
//
// What the model thought and what the system said is not compared, since
// interfaces leave out the former and prompts put the time into the latter.
//
// It keeps one hash an item.
type transcripts struct {
	known map[itemHash]place
	all   []*transcript
}

// place is a position in a transcript: behind its item n.
type place struct {
	t     *transcript
	n     int
	turns int  // how many turns it has there
	model bool // the model has spoken before it
}

// transcript is one trajectory with the place of its end.
type transcript struct {
	b      *builder
	tip    itemHash
	n      int
	inTurn bool // the last item was the model's
	model  bool
	own    map[int]bool    // turns that a record of their own tells about
	system map[string]bool // what the system said
	spans  map[string]int  // ids of calls that a span has answered, and how often
}

// next returns the hash of a conversation with one more item; ok is false for
// those that are not compared.
func (it *item) next(h itemHash) (itemHash, bool) {
	if it.hashed && h == (itemHash{}) {
		return it.alone, it.compared
	}
	if it.kind == itemThought || it.kind == itemSystem || it.kind == itemText && it.value.isEmpty() {
		return h, false
	}
	data := append(make([]byte, 0, 256), h[:]...)
	data = append(data, byte(it.kind))
	for _, part := range [][]byte{it.id, it.tool} {
		data = binary.AppendUvarint(data, uint64(len(part)))
		data = append(data, part...)
	}
	switch it.kind {
	case itemCall:
		data = (&Call{Args: it.value}).AppendCanonicalArgs(data)
	case itemResult:
		data = append(data[:len(h)+1], it.id...) // some records leave out the name
		v, _ := (&Call{Result: it.value, HasResult: true}).ResultValue()
		data = v.AppendCanonical(data)
	default:
		data = it.value.AppendText(data)
	}
	sum := sha256.Sum256(data)
	return itemHash(sum[:16]), true
}

// add adds a record: items, of which those from answer on are the response of
// the model (answered says that there is one). from is the hash behind which
// the items stand, zero for the beginning. It returns the trajectory that they
// belong to and the hash behind them.
func (s *transcripts) add(from itemHash, items []item, answer int, answered bool, r response) (*transcript, itemHash) {
	at, hash := s.known[from], from
	matched := 0
	for i := range items[:answer] {
		h, compared := items[i].next(hash)
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
	case at.t == nil || at.n != at.t.n && !at.model:
		// Only what the user said is the same: a conversation of its own.
		t := s.begin(from)
		s.extend(t, items[:answer])
		return t, s.answer(t, items[answer:], answered, r)
	case at.n == at.t.n:
		t := at.t
		s.addSystem(t, items[:matched])
		s.extend(t, items[matched:answer])
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
	t := s.begin(hash)
	t.b.odd(CodeHistoryForked, 1)
	t.model = true
	s.extend(t, items[matched:answer])
	return t, s.answer(t, items[answer:], answered, r)
}

// recalls reports whether the items behind a place are those of its trajectory.
func (s *transcripts) recalls(at place, hash itemHash, items []item) (itemHash, bool) {
	found := false
	for i := range items {
		h, compared := items[i].next(hash)
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

// begin begins a trajectory.
func (s *transcripts) begin(from itemHash) *transcript {
	t := &transcript{b: newBuilder(0), tip: from, own: map[int]bool{}, system: map[string]bool{}, spans: map[string]int{}}
	t.b.t.Offset = -1
	if s.known == nil {
		s.known = map[itemHash]place{}
	}
	s.all = append(s.all, t)
	return t
}

// answer adds the response of the model to a trajectory.
func (s *transcripts) answer(t *transcript, items []item, answered bool, r response) itemHash {
	if !answered {
		return t.tip
	}
	turn := len(t.b.t.Turns)
	t.b.turn()
	t.inTurn, t.model = true, true
	for i := range items {
		items[i].opens = false
	}
	s.extend(t, items)
	t.tell(turn, r)
	s.known[t.tip] = place{t, t.n, len(t.b.t.Turns), true}
	return t.tip
}

// tell adds what a record says about a turn.
func (t *transcript) tell(turn int, r response) {
	if turn >= len(t.b.t.Turns) {
		return
	}
	t.own[turn] = true
	to := &t.b.t.Turns[turn]
	to.Usage, to.Model, to.Start, to.End = r.usage, r.model, r.start, r.end
}

// addSystem adds what the system said for the first time.
func (s *transcripts) addSystem(t *transcript, items []item) {
	for i := range items {
		if items[i].kind == itemSystem {
			t.say(&items[i])
		}
	}
}

// extend adds items to a trajectory.
func (s *transcripts) extend(t *transcript, items []item) {
	for i := range items {
		it := &items[i]
		t.say(it)
		if h, compared := it.next(t.tip); compared {
			t.tip = h
			t.n++
			s.known[h] = place{t, t.n, len(t.b.t.Turns), t.model}
		}
	}
}

// say adds an item.
func (t *transcript) say(it *item) {
	b := t.b
	switch it.kind {
	case itemUser:
		t.inTurn = false
		b.message(RoleUser, it.value.orAbsent())
		return
	case itemSystem:
		if text := it.value.Text(); text != "" && !t.system[text] {
			t.system[text] = true
			b.message(RoleSystem, it.value)
		}
		return
	case itemResult:
		t.inTurn = false
		t.answer(it)
		return
	}
	if !t.inTurn || it.opens {
		b.turn()
		t.inTurn, t.model = true, true
	}
	turn := &b.t.Turns[len(b.t.Turns)-1]
	switch it.kind {
	case itemText:
		if text := it.value.orAbsent(); !text.IsZero() {
			turn.Text = joinTexts(turn.Text, text)
		}
	case itemThought:
		if thought := it.value.orAbsent(); !thought.IsZero() {
			turn.Thought = joinTexts(turn.Thought, thought)
		}
	case itemCall:
		if len(it.tool) == 0 {
			b.odd(CodeCallUnnamed, 1)
			return
		}
		call := b.call(b.text(it.id), b.names.intern(it.tool), it.value, it.origin)
		if it.answered {
			call.HasResult, call.Result, call.Status, call.Error = true, it.result, it.status, it.err
		}
	}
}

// answer adds the result of a call, unless a span has told it already.
func (t *transcript) answer(it *item) {
	if id := string(it.id); t.spans[id] > 0 {
		t.spans[id]--
		return
	}
	var call *Call
	if len(it.id) > 0 {
		call = t.b.result(it.id, it.value)
	} else {
		call = t.b.namedResult(it.tool, it.value)
	}
	if call == nil {
		return
	}
	if it.status != StatusUnknown {
		call.Status = it.status
	}
	if !it.err.IsZero() {
		call.Error = it.err
	}
}

// finish returns the trajectories; those that only repeat the name of their
// model in every turn have it once.
func (s *transcripts) finish() []*Trajectory {
	out := make([]*Trajectory, 0, len(s.all))
	for _, t := range s.all {
		tr := t.b.finish()
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

// ofModel reports whether an item is what the model has said or called.
func (k itemKind) ofModel() bool { return k == itemText || k == itemThought || k == itemCall }
