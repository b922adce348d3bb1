package inertia

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/awo-dev/awo/internal/varint"
	"github.com/awo-dev/awo/trace"
)

// A digest is what predictions read of one trajectory, without its values: which values
// are equal, and where they stand. With it a model is calibrated as with the trajectory.
//
// Strings and other scalars have numbers if an argument or the user mentions them; what
// neither does can never be the right argument, and is only there. Names of members are
// hashes, so that those that links name are found again; so are words in records that may
// be parts of the name of a tool, for which open filters ask. In clear stand names of
// tools and shapes of identifiers.
//
// In varints, lists behind their length: names (64 bits of SHA-256, in the order of the
// names, 0 for what no path names); shapes; strings (the shape from 1, and 32 bits of the
// hash of a word); how many other scalars have numbers; tools; nodes, children before
// parents; turns; calls; messages.
const (
	nodeNull = iota
	nodeScalar
	nodeString // its shape and hash
	nodeKnownScalar
	nodeKnownString
	nodeArray  // runs of equal elements
	nodeObject // names and values
	nodeKinds
)

// nameHash is what stands for the name of a member.
func nameHash(name string) uint64 {
	sum := sha256.Sum256([]byte(name))
	return max(binary.LittleEndian.Uint64(sum[:]), 1)
}

// wordHash is what stands for a part of the name of a tool.
func wordHash(word string) int { return int(max(nameHash(word)>>32, 1)) }

// maxWordHashed bounds the words that may be a part of the name of a tool.
const maxWordHashed = 24

// nameable reports whether a text is letters, in words joined by _ or -, as parts of the
// names of tools are. Identifiers, numbers and sentences are not.
func nameable(text string) bool {
	for i := range len(text) {
		if c := text[i] | 0x20; (c < 'a' || c > 'z') && text[i] != '_' && text[i] != '-' {
			return false
		}
	}
	return text != "" && len(text) <= maxWordHashed
}

// digester writes a digest.
type digester struct {
	h       *History
	names   map[string]int
	shapes  indexed
	strings indexed
	scalars indexed
	tools   indexed
	nodes   indexed         // by how they are written
	parts   map[string]bool // of the names of tools that are called
	members map[string]bool // strings that are members of records
}

// indexed gives texts numbers in order of first appearance.
type indexed struct {
	index map[string]int
	texts []string
}

func (x *indexed) number(text string) int {
	i, ok := x.index[text]
	if !ok {
		if x.index == nil {
			x.index = map[string]int{}
		}
		i = len(x.texts)
		x.index[text] = i
		x.texts = append(x.texts, text)
	}
	return i
}

// appendDigest appends the digest of a trajectory.
func appendDigest(dst []byte, t *trace.Trajectory) []byte {
	d := &digester{h: NewHistory(t), names: map[string]int{}, parts: map[string]bool{}, members: map[string]bool{}}
	d.gather()
	return d.write(dst)
}

// gather numbers names and what arguments and the user mention.
func (d *digester) gather() {
	h := d.h
	for _, tool := range h.names() {
		for _, part := range nameParts(nameText(tool)) {
			d.parts[part] = true
		}
	}
	for i := range h.t.Messages {
		if h.t.Messages[i].Role == trace.RoleUser {
			for _, w := range h.messageWords(i) {
				d.shapes.number(w.shape)
				d.strings.number(w.text)
			}
		}
	}
	for _, call := range h.calls {
		args := h.argsValue(call)
		d.mention(&args)
	}
	for _, call := range h.calls {
		args := h.argsValue(call)
		d.name(&args)
		if result, ok := h.result(call); ok {
			d.name(&result)
		}
	}
}

// mention numbers the scalars of an argument.
func (d *digester) mention(v *trace.Value) {
	switch v.Kind {
	case trace.String:
		d.strings.number(v.Text)
	case trace.Number, trace.Bool:
		d.scalars.number(string(v.AppendCanonical(nil)))
	}
	for i := range v.Elems {
		d.mention(&v.Elems[i])
	}
	for i := range v.Members {
		d.mention(&v.Members[i].Value)
	}
}

// name gathers the names of members, and those that are strings.
func (d *digester) name(v *trace.Value) {
	for i := range v.Elems {
		d.name(&v.Elems[i])
	}
	for i := range v.Members {
		m := &v.Members[i]
		d.names[m.Name] = 0
		if m.Value.Kind == trace.String {
			d.members[m.Value.Text] = true
		}
		d.name(&m.Value)
	}
}

// node returns the number of a value.
func (d *digester) node(v *trace.Value) int {
	var text []byte
	switch v.Kind {
	case trace.Null:
		text = varint.Append(text, nodeNull)
	case trace.Number, trace.Bool:
		if i, ok := d.scalars.index[string(v.AppendCanonical(nil))]; ok {
			text = varint.Append(text, nodeKnownScalar, i)
		} else {
			text = varint.Append(text, nodeScalar)
		}
	case trace.String:
		if i, ok := d.strings.index[v.Text]; ok {
			text = varint.Append(text, nodeKnownString, i)
		} else {
			text = varint.Append(text, nodeString, d.shape(v.Text), d.word(v.Text))
		}
	case trace.Array:
		var runs []int
		for i := range v.Elems {
			element := d.node(&v.Elems[i])
			if n := len(runs); n > 0 && runs[n-1] == element {
				runs[n-2]++
			} else {
				runs = append(runs, 1, element)
			}
		}
		text = varint.Append(varint.Append(text, nodeArray, len(runs)/2), runs...)
	default:
		text = varint.Append(text, nodeObject, len(v.Members))
		values := make([]int, len(v.Members))
		for i := range v.Members {
			values[i] = d.node(&v.Members[i].Value)
		}
		for i := range v.Members {
			text = varint.Append(text, d.names[v.Members[i].Name], values[i])
		}
	}
	return d.nodes.number(string(text))
}

// shape returns the number of the shape of a string from 1, 0 if the user mentions none
// of it.
func (d *digester) shape(text string) int {
	shape, ok := shapeOf(text)
	if !ok {
		return 0
	}
	if i, ok := d.shapes.index[shape]; ok {
		return i + 1
	}
	return 0
}

// word returns the hash of a string if it may be asked for as a part of the name of a tool,
// else 0.
func (d *digester) word(text string) int {
	if d.members[text] && (nameable(text) || d.parts[text]) {
		return wordHash(text)
	}
	return 0
}

func (d *digester) write(dst []byte) []byte {
	names := sortedKeys(d.names)
	top := map[string]bool{}
	for _, call := range d.h.calls {
		for _, m := range d.h.argsValue(call).Members {
			top[m.Name] = true
		}
	}
	dst = varint.Append(dst, len(names))
	for i, name := range names {
		d.names[name] = i
		hash := uint64(0)
		if identifier(name) || top[name] {
			hash = nameHash(name)
		}
		dst = binary.LittleEndian.AppendUint64(dst, hash)
	}
	events := d.events()
	dst = varint.AppendTexts(dst, d.shapes.texts)
	dst = varint.Append(dst, len(d.strings.texts))
	for _, text := range d.strings.texts {
		dst = varint.Append(dst, d.shape(text), d.word(text))
	}
	dst = varint.Append(dst, len(d.scalars.texts))
	dst = varint.AppendTexts(dst, d.tools.texts)
	dst = varint.Append(dst, len(d.nodes.texts))
	for _, text := range d.nodes.texts {
		dst = append(dst, text...)
	}
	return append(dst, events...)
}

// events writes turns, calls and messages, and numbers what they hold.
func (d *digester) events() []byte {
	t := d.h.t
	dst := varint.Append(nil, len(t.Turns))
	for i := range t.Turns {
		dst = varint.Append(dst, t.Turns[i].FirstCall, t.Turns[i].NumCalls)
	}
	dst = varint.Append(dst, len(t.Calls))
	for i := range t.Calls {
		c := &t.Calls[i]
		_, decided := slices.BinarySearch(d.h.calls, i)
		flags := int(flag(c.AfterUser)) | int(flag(decided))<<1 | int(c.Status)<<3
		if !decided {
			dst = varint.Append(dst, flags, c.Turn+1) // nothing more is asked of it
			continue
		}
		args := d.h.argsValue(i)
		result, ok := d.h.result(i)
		dst = varint.Append(dst, flags|int(flag(ok))<<2, c.Turn+1, d.tools.number(nameText(c.Tool)), d.node(&args))
		if ok {
			dst = varint.Append(dst, d.node(&result))
		}
	}
	dst = varint.Append(dst, len(t.Messages))
	for i := range t.Messages {
		m := &t.Messages[i]
		user := m.Role == trace.RoleUser
		dst = varint.Append(dst, int(flag(user)), m.Turn, m.Call)
		if user {
			words := d.h.messageWords(i)
			dst = varint.Append(dst, len(words))
			for _, w := range words {
				dst = varint.Append(dst, d.strings.number(w.text))
			}
		}
	}
	return dst
}
