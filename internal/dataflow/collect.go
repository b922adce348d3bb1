package dataflow

import (
	"slices"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/lookup"
	"github.com/awo-dev/awo/trace"
)

// Bounds of what is kept and compared, each far above what traces hold. Beyond
// them sources are missed, never invented, and the chance guard takes a slot that
// overflows for one that holds every value.
const (
	maxFound    = 128 // places remembered for one value, and as many texts
	maxSources  = 32  // sources reported for one use
	maxKeyed    = 8   // sources of one use for which keys are looked for
	maxElements = 256 // elements of a list that keys must tell apart
	maxMembers  = 24  // members of an element that may be keys
	maxKeyText  = 64  // bytes of a key's value
	maxPhrase   = 16  // words of a value that is looked for in texts
	maxParts    = 24  // words of an argument that is looked at as a template
	maxValue    = 512 // bytes of a value that is looked for in texts or taken apart
	maxPieces   = 32  // pieces of one argument that come from elsewhere
	maxOfPiece  = 8   // sources of one piece
	maxGiven    = 256 // tools, counted for results and arguments apart, that may be sources in one trajectory
	minText     = 3   // bytes below which a value in a text proves nothing, unless it is a number in a message
)

// collection is the state of collecting one trajectory.
type collection struct {
	isKnowing bool // looks only for when the values of arguments were known, and not for their sources
	reader    trace.ValueReader
	sought    []trace.Value // that are looked for besides arguments
	read      Values        // where others read the values of calls too; nil to read them here
	places    places
	t         *trace.Trajectory
	flow      *Flow

	wants   []want
	equal   lookup.Table // hash of a wanted value -> want
	coerced lookup.Table // hash of its number or string twin -> want
	phrases lookup.Table // hash of its words -> first want with these words
	pieceOf lookup.Table // hash of a piece of an argument -> first such piece
	pieces  []piece
	lengths []int              // of phrases, in words, ascending
	dates   map[uint64][]int32 // key of a date -> wants
	numbers map[string][]int32 // canonical text -> wants

	args     []argument
	byCall   []int32 // by call: end of its arguments in args
	calls    []trace.Call
	levels   []level // lists on the way to where the walk is
	arena    []level // lists on the way to what was found
	contents lookup.Table
	words    lookup.Table
	isFull   map[int32]bool
	crowded  int // values at places for which there is no room
	deep     int // values at places that stand too deep
	unread   int // texts too far inside others to be looked through
	given    map[toolKey]bool
	pairs    map[[2]int32]int32

	// Where the walk is.
	first    int  // the first call of a turn
	message  int  // the next message
	heard    bool // the messages before that turn were read
	source   origin
	at       int32 // the first call that can know what is read
	nested   int
	tokens   []token
	prefixes []uint64
	powers   []uint64
	dateList []date
	numList  []string
}

// origin is what is being read.
type origin struct {
	side Side
	call int32 // call or message
	turn int32 // from which turn on it is known
	// seenOnly says that what is found there makes a value known but is no source.
	seenOnly bool
}

// level is one list on the way to a value.
type level struct {
	step     int32 // of the path
	position int32
	list     *trace.Value // array, or object that is a map
}

// argument is one argument of one call, with its value.
type argument struct {
	slot, want   int32
	value        *trace.Value
	hash         uint64
	levels       [2]int32 // in arena
	whole, model bool
}

// want is a value that some argument has, or a part of one.
type want struct {
	value  trace.Value
	hash   uint64
	found  []found
	texts  int // of found, those in texts
	seen   Seen
	seenAt int32           // the first call that could know it
	passed int32           // the newest call that has it as an argument, from 1
	slots  map[int32]int32 // slot and relation -> found, once there are many

	phrase     []token // its words; nil if it is not looked for in texts
	text       string  // what is looked for
	nextPhrase int32   // another want with the same words, or -1

	divided bool   // whether its pieces were noted
	parts   []part // its pieces that equal something else
}

// found is the newest place of a slot that held a want.
type found struct {
	slot     int32
	relation Relation
	call     int32
	calls    int32
	levels   [2]int32 // in arena
	before   string
	after    string
	echo     bool // the result repeats an argument of its own call
}

func (c *collection) collect(t *trace.Trajectory) *Flow {
	c.start(t, len(t.Calls))
	for c.hear() {
		_, end := c.turnAt(c.first)
		for i := c.first; i < end; i++ {
			c.resolve(i)
		}
		c.readTurn()
	}
	c.finish()
	c.noteBounds()
	return c.flow
}

// noteBounds notes which bounds were reached.
func (c *collection) noteBounds() {
	c.t.NoteBound(bounds.PlacesBound, c.crowded)
	c.t.NoteBound(bounds.StepsBound, c.deep)
	c.t.NoteBound(bounds.ValuesBound, len(c.isFull))
	c.t.NoteBound(bounds.TextInTextBound, c.unread)
}

// start reads the arguments of the first calls of a trajectory, so many of them, and makes
// ready to look for them.
func (c *collection) start(t *trace.Trajectory, calls int) {
	c.t = t
	c.flow = &Flow{ID: t.ID}
	c.places.begin()
	c.calls = t.Calls[:calls]
	if c.read == nil {
		c.flow.values = newValues(calls)
	}
	c.flow.turns = make([]int32, len(c.calls))
	c.readArguments()
	for i := range c.sought {
		for leaf := range leaves(&c.sought[i]) {
			c.want(*leaf, jsonvalue.Hash(leaf))
		}
	}
	c.index()
	c.first, c.message, c.heard = 0, 0, false
}

// hear reads the messages before the calls of a turn; false at the end of the trajectory.
func (c *collection) hear() bool {
	c.heard = true
	if c.first == len(c.calls) && c.message == len(c.t.Messages) {
		return false
	}
	turn, _ := c.turnAt(c.first)
	c.at = int32(c.first)
	for c.message < len(c.t.Messages) && (c.first == len(c.calls) || int32(c.t.Messages[c.message].Turn) <= turn) {
		c.readMessage(c.message)
		c.message++
	}
	return true
}

// readTurn reads the calls of a turn.
func (c *collection) readTurn() {
	_, end := c.turnAt(c.first)
	c.at = int32(end)
	for i := c.first; i < end; i++ {
		c.readCall(i)
	}
	c.first, c.heard = end, false
}

// turnAt returns the turn of the call at i and the end of that turn's calls.
func (c *collection) turnAt(i int) (turn int32, end int) {
	if i == len(c.calls) {
		return 0, i
	}
	end = i + 1
	for end < len(c.calls) && c.calls[end].Turn == c.calls[i].Turn {
		end++
	}
	return int32(c.calls[i].Turn), end
}

// readArguments walks all arguments once: they are what is looked for, and
// later, turn by turn, what is found.
func (c *collection) readArguments() {
	for i := range c.calls {
		call := &c.calls[i]
		c.flow.turns[i] = int32(call.Turn)
		model := call.Origin == trace.OriginModel
		if model {
			c.flow.Calls++
		}
		if args, ok := c.argumentsOf(i); ok {
			c.readArgumentsOf(args, c.places.root(Input, nameOf(call.Tool)), model)
		}
		c.byCall = append(c.byCall, int32(len(c.args)))
	}
}

func (c *collection) readArgumentsOf(args *trace.Value, root int32, model bool) {
	if root == 0 {
		c.noRoom()
		return
	}
	for i := range args.Members {
		at, _ := c.places.member(root, i, args.Members[i].Name)
		c.readArgument(&args.Members[i].Value, at, model)
	}
}

// argumentsOf returns the arguments of a call, and whether they are an object that was
// recorded.
func (c *collection) argumentsOf(i int) (args *trace.Value, ok bool) {
	call := &c.calls[i]
	switch {
	case c.read == nil:
		args = &c.flow.values.args[i]
		*args, ok = argumentsOf(call, &c.reader)
		return args, ok
	case call.ArgsMissing():
		return &trace.Value{Kind: trace.Object}, false
	}
	args = c.read.Arguments(i)
	return args, args.Kind == trace.Object
}

func argumentsOf(call *trace.Call, r *trace.ValueReader) (trace.Value, bool) {
	if call.ArgsMissing() {
		return trace.Value{Kind: trace.Object}, false
	}
	args, _ := r.Args(call)
	return args, args.Kind == trace.Object
}

// readArgument notes an argument and what is inside it. The hash of the value
// is returned.
func (c *collection) readArgument(v *trace.Value, at int32, model bool) uint64 {
	if at == 0 {
		c.noRoom()
		return jsonvalue.Hash(v)
	}
	self := len(c.args)
	c.args = append(c.args, argument{slot: c.slot(at), value: v, model: model, levels: c.keepLevels()})
	var h uint64
	switch {
	case v.Kind == trace.Array && len(v.Elems) > 0:
		h = jsonvalue.HashArray(len(v.Elems))
		each := c.places.elements(at)
		for i := range v.Elems {
			c.push(at, i, v)
			h = jsonvalue.HashElement(h, c.readArgument(&v.Elems[i], each, model))
			c.pop()
		}
		c.args[self].whole = true
	case v.Kind == trace.Object && len(v.Members) > 0:
		h = jsonvalue.HashObject(len(v.Members))
		asMap := IsMap(v)
		for i := range v.Members {
			var inner uint64
			if asMap {
				c.push(at, i, v)
				inner = c.readArgument(&v.Members[i].Value, c.places.elements(at), model)
				c.pop()
			} else {
				next, _ := c.places.member(at, i, v.Members[i].Name)
				inner = c.readArgument(&v.Members[i].Value, next, model)
			}
			h = jsonvalue.HashMember(h, v.Members[i].Name, inner)
		}
		c.args[self].whole = true
	default:
		h = jsonvalue.Hash(v)
	}
	c.args[self].hash, c.args[self].want = h, c.want(*v, h)
	return h
}

func (c *collection) push(at int32, position int, list *trace.Value) {
	c.levels = append(c.levels, level{c.places.nodes[at].depth, int32(position), list})
}

func (c *collection) pop() { c.levels = c.levels[:len(c.levels)-1] }

// keepLevels copies the lists on the way to where the walk is.
func (c *collection) keepLevels() [2]int32 {
	start := int32(len(c.arena))
	c.arena = append(c.arena, c.levels...)
	return [2]int32{start, int32(len(c.arena))}
}

// slot returns the number of a place in the flow.
func (c *collection) slot(at int32) int32 {
	n := &c.places.nodes[at]
	if c.isKnowing && n.side != Input {
		return 0
	}
	if n.slot < 0 {
		n.slot = int32(len(c.flow.Slots))
		c.flow.Slots = append(c.flow.Slots, Slot{n.side, n.tool, n.path})
	}
	return n.slot
}

// want returns the number of a value that is looked for.
func (c *collection) want(v trace.Value, h uint64) int32 {
	next := int32(len(c.wants))
	id := c.equal.Insert(h, next)
	if id == next {
		c.wants = append(c.wants, want{value: v, hash: h, seen: Seen{Turn: -1}, nextPhrase: -1})
	}
	return id
}

// index prepares the search for the wants: their twins of another type, their
// words, and the pieces of those that are texts.
func (c *collection) index() {
	for i := range c.wants {
		w := &c.wants[i]
		switch w.value.Kind {
		case trace.Number:
			c.coerced.Insert(jsonvalue.HashString(jsonvalue.Number(w.value.Text)), int32(i))
		case trace.String:
			if canonical, ok := numberOf(w.value.Text); ok && canonical == w.value.Text {
				c.coerced.Insert(jsonvalue.HashNumber(canonical), int32(i))
			}
		default:
			continue
		}
		c.wantText(int32(i))
	}
	slices.Sort(c.lengths)
	if c.isKnowing {
		return
	}
	for i := range c.args {
		a := &c.args[i]
		if a.model && a.value.Kind == trace.String && !c.wants[a.want].divided {
			c.wants[a.want].divided = true
			c.divide(a.want)
		}
	}
}

// wantText makes a want findable in texts.
func (c *collection) wantText(id int32) {
	w := &c.wants[id]
	text := w.value.Text
	short := len(text) < minText
	if short && w.value.Kind != trace.Number || len(text) > maxValue {
		return
	}
	c.tokens = appendTokens(c.tokens[:0], text)
	if len(c.tokens) == 0 || len(c.tokens) > maxPhrase {
		return
	}
	w.text, w.phrase = text, slices.Clone(c.tokens)
	first := c.phrases.Insert(phraseHash(w.phrase), id)
	if first != id {
		w.nextPhrase, c.wants[first].nextPhrase = c.wants[first].nextPhrase, id
	}
	if !slices.Contains(c.lengths, len(w.phrase)) {
		c.lengths = append(c.lengths, len(w.phrase))
	}
	if short {
		return
	}
	if d, ok := dateOf(text); ok && w.value.Kind == trace.String {
		if c.dates == nil {
			c.dates = map[uint64][]int32{}
		}
		for _, k := range d.wantKeys() {
			c.dates[k] = append(c.dates[k], id)
		}
	}
	if canonical, ok := numberOf(text); ok {
		if c.numbers == nil {
			c.numbers = map[string][]int32{}
		}
		c.numbers[canonical] = append(c.numbers[canonical], id)
	}
}

// noRoom notes a value at a place for which there is no room.
func (c *collection) noRoom() {
	c.flow.dropped++
	if c.places.deep {
		c.deep++
	} else {
		c.crowded++
	}
}
