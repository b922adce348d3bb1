package inertia

import (
	"encoding/binary"
	"strconv"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// vocabulary is what models of a graph look up by name, by hashes.
type vocabulary struct {
	names map[uint64]string // of members
	words map[int]string    // parts of the names of tools
}

func (g *Graph) vocabulary() vocabulary {
	known, words := map[uint64]string{}, map[int]string{}
	for _, name := range g.names {
		for _, part := range nameParts(nameText(name)) {
			words[wordHash(part)] = part
		}
	}
	seen := map[uint32]bool{0: true}
	for i := range g.deps {
		d := &g.deps[i]
		known[nameHash(g.texts[d.param])] = g.texts[d.param]
		if d.side > dataflow.Input || seen[d.path] {
			continue
		}
		seen[d.path] = true
		path, _ := jsonpath.Parse(g.texts[d.path]) // what does not parse selects nothing by name
		for i := range path {
			if name := path[i].Name; name != "" {
				known[nameHash(name)] = name
			}
		}
	}
	for i := range g.tools {
		for p := range g.tools[i].params {
			known[nameHash(p)] = p
		}
		for p := range g.tools[i].required {
			known[nameHash(p)] = p
		}
	}
	return vocabulary{known, words}
}

// reader takes numbers and texts off its data. After a failure it takes zeros.
type reader struct {
	data   []byte
	broken bool
}

func (r *reader) fail() {
	r.broken, r.data = true, nil
}

func (r *reader) ulong() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

// below takes a number that is less than most.
func (r *reader) below(most int) int {
	v := r.ulong()
	if v >= uint64(max(most, 0)) {
		r.fail()
		return 0
	}
	return int(v)
}

// length takes the length of a list whose elements take at least so many bytes.
func (r *reader) length(least int) int { return r.below(len(r.data)/least + 1) }

func (r *reader) bytes(n int) []byte {
	if n > len(r.data) {
		r.fail()
		return make([]byte, n)
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) text() string { return string(r.bytes(r.length(1))) }

func (r *reader) texts() []string {
	out := make([]string, r.length(1))
	for i := range out {
		out[i] = r.text()
	}
	return out
}

// The most that a number of a digest may be.
const digestMost = 1 << 31

// digestReader reads a digest.
type digestReader struct {
	reader
	names     []string
	known     vocabulary
	strings   []string // as they stand in values
	shapes    map[string]string
	ownShapes int
	scalars   int
	nodes     []trace.Value
	sizes     []int // values in each node, itself included
	room      int   // values that may be in what calls were given and returned
	made      int   // elements of lists so far
}

// readDigest returns the history of a digest of a trajectory of so many bytes; nil of one
// that contradicts itself. Names of members are those of known, and others stand between
// them as they did.
func readDigest(data []byte, size int, known vocabulary) *History {
	r := &digestReader{reader: reader{data: data}, known: known, shapes: map[string]string{}, room: max(size, 1)}
	last := ""
	for i := range r.length(8) {
		name, ok := known.names[binary.LittleEndian.Uint64(r.bytes(8))]
		if !ok || name < last {
			name = last + "\x00" + strconv.Itoa(1<<30+i)
		} else {
			last = name
		}
		r.names = append(r.names, name)
	}
	r.readStrings()
	tools := r.texts()
	for range r.length(1) {
		r.node()
	}
	h := &History{t: &trace.Trajectory{}, paths: map[string]jsonpath.Path{}, shapes: r.shapes}
	r.readEvents(h, tools)
	if r.broken || len(r.data) > 0 {
		return nil
	}
	return h
}

// readStrings reads the strings that arguments and the user mention.
func (r *digestReader) readStrings() {
	shapes := r.texts()
	for i, shape := range shapes {
		r.shapes["##"+strconv.Itoa(i+1)] = shape
	}
	r.ownShapes = len(shapes)
	for i := range r.length(2) {
		shape, text := r.below(len(shapes)+1), r.word("#"+strconv.Itoa(i))
		r.strings = append(r.strings, text)
		if shape > 0 {
			r.shapes[text] = shapes[shape-1]
		}
	}
	r.scalars = r.below(digestMost)
}

// word takes the hash of a part of the name of a tool, and returns the part, otherwise
// what stands for the string.
func (r *digestReader) word(otherwise string) string {
	if part, ok := r.known.words[r.below(1<<32)]; ok {
		return part
	}
	return otherwise
}

// node reads a value, of which each that it holds has been read.
func (r *digestReader) node() {
	v, size := trace.Value{}, 1
	child := func(times int) trace.Value {
		i := r.below(len(r.nodes))
		if r.broken {
			return trace.Value{}
		}
		size += times * r.sizes[i]
		return r.nodes[i]
	}
	switch r.below(nodeKinds) {
	case nodeScalar:
		v = trace.Value{Kind: trace.Number, Text: "0"}
	case nodeKnownScalar:
		v = trace.Value{Kind: trace.Number, Text: strconv.Itoa(r.below(r.scalars) + 1)}
	case nodeString:
		shape := r.below(r.ownShapes + 1)
		v = trace.NewString(r.word("##" + strconv.Itoa(shape)))
		if own, ok := r.shapes["##"+strconv.Itoa(shape)]; ok {
			r.shapes[v.Text] = own
		}
	case nodeKnownString:
		if i := r.below(len(r.strings)); !r.broken {
			v = trace.NewString(r.strings[i])
		}
	case nodeArray:
		v.Kind = trace.Array
		for range r.length(2) {
			times := r.below(r.room - r.made + 1)
			r.made += times
			element := child(times)
			if r.broken || size > r.room {
				r.fail()
				break
			}
			for range times {
				v.Elems = append(v.Elems, element)
			}
		}
	case nodeObject:
		v.Kind = trace.Object
		for range r.length(2) {
			name := r.below(len(r.names))
			value := child(1)
			if r.broken || size > r.room || len(v.Members) > 0 && r.names[name] <= v.Members[len(v.Members)-1].Name {
				r.fail()
				break
			}
			v.Members = append(v.Members, trace.Member{Name: r.names[name], Value: value})
		}
	}
	r.nodes, r.sizes = append(r.nodes, v), append(r.sizes, size)
}

// value takes the number of a node.
func (r *digestReader) value() trace.Value {
	i := r.below(len(r.nodes))
	if r.broken {
		return trace.Value{}
	}
	if r.room -= r.sizes[i]; r.room < 0 {
		r.fail()
	}
	return r.nodes[i]
}

// readEvents reads turns, calls and messages.
func (r *digestReader) readEvents(h *History, tools []string) {
	t := h.t
	end := 0
	for range r.length(2) {
		turn := trace.Turn{FirstCall: r.below(digestMost), NumCalls: r.below(digestMost)}
		if turn.FirstCall < end {
			r.fail() // a call is of one turn
		}
		end = turn.FirstCall + turn.NumCalls
		t.Turns = append(t.Turns, turn)
	}
	n := r.length(2)
	t.Calls, h.args, h.results = make([]trace.Call, n), make([]arguments, n), make([]parsed, n)
	for i := range n {
		flags := r.below(8 * (int(trace.StatusFailed) + 1))
		c := &t.Calls[i]
		*c = trace.Call{AfterUser: flags&1 != 0, Origin: trace.OriginCode, Status: trace.Status(flags >> 3), Turn: r.below(digestMost) - 1}
		if flags&2 == 0 {
			continue
		}
		tool := r.below(len(tools))
		value := r.value()
		if r.broken || value.Kind != trace.Object {
			r.fail()
			return
		}
		c.Tool, c.Origin = trace.Intern(tools[tool]), trace.OriginModel
		h.calls = append(h.calls, i)
		h.args[i] = arguments{value: value, done: true}
		h.results[i].done = true
		if h.results[i].ok = flags&4 != 0; h.results[i].ok {
			h.results[i].value = r.value()
		}
	}
	n = r.length(3)
	t.Messages, h.words = make([]trace.Message, n), make([][]word, n)
	for i := range n {
		user := r.below(2) == 1
		t.Messages[i] = trace.Message{Role: trace.RoleSystem, Turn: r.below(digestMost), Call: r.below(digestMost)}
		if !user {
			continue
		}
		t.Messages[i].Role = trace.RoleUser
		h.words[i] = []word{}
		for range r.length(1) {
			if k := r.below(len(r.strings)); !r.broken {
				text := r.strings[k]
				h.words[i] = append(h.words[i], word{text, r.shapes[text]})
			}
		}
	}
}
