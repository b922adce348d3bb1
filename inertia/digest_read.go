package inertia

import (
	"encoding/binary"
	"strconv"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/varint"
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

// reader reads numbers and texts of lessons.
type reader struct{ varint.Reader }

// fail notes that they contradict themselves.
func (r *reader) fail() { r.Fail("what was learnt") }

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
	most      int   // of them
	full      bool  // there were more
}

// maxElements is how many elements lists of all sampled trajectories may have together. In
// a digest a run of equal elements takes a few bytes, whatever it stands for.
const maxElements = 1 << 23

// readDigest returns the history of a digest of a trajectory of so many bytes; nil of one
// that contradicts itself. Names of members are those of known, and others stand between
// them as they did. Elements of its lists are taken off left; with fewer of them left
// there is no history and nothing is taken, and the digest may be right.
func readDigest(data []byte, size int, known vocabulary, left *int) (h *History, ok bool) {
	r := &digestReader{reader: reader{varint.Reader{Data: data}}, known: known, shapes: map[string]string{}, room: max(size, 1), most: *left}
	last := ""
	for i := range r.Length(8) {
		name, ok := known.names[binary.LittleEndian.Uint64(r.Take(8))]
		if !ok || name < last {
			name = last + "\x00" + strconv.Itoa(1<<30+i)
		} else {
			last = name
		}
		r.names = append(r.names, name)
	}
	r.readStrings()
	tools := r.Texts()
	for range r.Length(1) {
		r.node()
	}
	if r.full {
		return nil, true
	}
	h = &History{t: &trace.Trajectory{}, paths: map[string]jsonpath.Path{}, shapes: r.shapes}
	r.readEvents(h, tools)
	if r.Broken != "" || len(r.Data) > 0 {
		return nil, false
	}
	*left -= r.made
	return h, true
}

// readStrings reads the strings that arguments and the user mention.
func (r *digestReader) readStrings() {
	shapes := r.Texts()
	for i, shape := range shapes {
		r.shapes["##"+strconv.Itoa(i+1)] = shape
	}
	r.ownShapes = len(shapes)
	for i := range r.Length(2) {
		shape, text := r.Below(len(shapes)+1), r.word("#"+strconv.Itoa(i))
		r.strings = append(r.strings, text)
		if shape > 0 {
			r.shapes[text] = shapes[shape-1]
		}
	}
	r.scalars = r.Below(digestMost)
}

// word takes the hash of a part of the name of a tool, and returns the part, otherwise
// what stands for the string.
func (r *digestReader) word(otherwise string) string {
	if part, ok := r.known.words[r.Below(1<<32)]; ok {
		return part
	}
	return otherwise
}

// node reads a value, of which each that it holds has been read.
func (r *digestReader) node() {
	v, size := trace.Value{}, 1
	child := func(times int) trace.Value {
		i := r.Below(len(r.nodes))
		if r.Broken != "" {
			return trace.Value{}
		}
		size += times * r.sizes[i]
		return r.nodes[i]
	}
	switch r.Below(nodeKinds) {
	case nodeScalar:
		v = trace.Value{Kind: trace.Number, Text: "0"}
	case nodeKnownScalar:
		v = trace.Value{Kind: trace.Number, Text: strconv.Itoa(r.Below(r.scalars) + 1)}
	case nodeString:
		shape := r.Below(r.ownShapes + 1)
		v = trace.NewString(r.word("##" + strconv.Itoa(shape)))
		if own, ok := r.shapes["##"+strconv.Itoa(shape)]; ok {
			r.shapes[v.Text] = own
		}
	case nodeKnownString:
		if i := r.Below(len(r.strings)); r.Broken == "" {
			v = trace.NewString(r.strings[i])
		}
	case nodeArray:
		v.Kind = trace.Array
		for range r.Length(2) {
			times := r.Below(r.room - r.made + 1)
			r.made += times
			element := child(times)
			r.full = r.Broken == "" && size <= r.room && r.made > r.most
			if r.Broken != "" || size > r.room || r.full {
				r.fail()
				break
			}
			for range times {
				v.Elems = append(v.Elems, element)
			}
		}
	case nodeObject:
		v.Kind = trace.Object
		for range r.Length(2) {
			name := r.Below(len(r.names))
			value := child(1)
			if r.Broken != "" || size > r.room || len(v.Members) > 0 && r.names[name] <= v.Members[len(v.Members)-1].Name {
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
	i := r.Below(len(r.nodes))
	if r.Broken != "" {
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
	for range r.Length(2) {
		turn := trace.Turn{FirstCall: r.Below(digestMost), NumCalls: r.Below(digestMost)}
		if turn.FirstCall < end {
			r.fail() // a call is of one turn
		}
		end = turn.FirstCall + turn.NumCalls
		t.Turns = append(t.Turns, turn)
	}
	n := r.Length(2)
	t.Calls, h.args, h.results = make([]trace.Call, n), make([]arguments, n), make([]parsed, n)
	for i := range n {
		flags := r.Below(8 * (int(trace.StatusFailed) + 1))
		c := &t.Calls[i]
		*c = trace.Call{AfterUser: flags&1 != 0, Origin: trace.OriginCode, Status: trace.Status(flags >> 3), Turn: r.Below(digestMost) - 1}
		if flags&2 == 0 {
			continue
		}
		tool := r.Below(len(tools))
		value := r.value()
		if r.Broken != "" || value.Kind != trace.Object {
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
	n = r.Length(3)
	t.Messages, h.words = make([]trace.Message, n), make([][]word, n)
	for i := range n {
		user := r.Below(2) == 1
		t.Messages[i] = trace.Message{Role: trace.RoleSystem, Turn: r.Below(digestMost), Call: r.Below(digestMost)}
		if !user {
			continue
		}
		t.Messages[i].Role = trace.RoleUser
		h.words[i] = []word{}
		for range r.Length(1) {
			if k := r.Below(len(r.strings)); r.Broken == "" {
				text := r.strings[k]
				h.words[i] = append(h.words[i], word{text, r.shapes[text]})
			}
		}
	}
}
