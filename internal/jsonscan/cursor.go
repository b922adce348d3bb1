// Package jsonscan walks one JSON text without building it.
//
// What comes in is a byte slice with one value; what goes out are subslices of
// it. A Cursor stands on a value; the caller walks into objects and arrays,
// member by member, takes the values that it wants and passes over the others.
// Every byte is checked once, wanted or not: what the cursor has come through
// without an error is JSON as RFC 8259 defines it, in valid UTF-8, nested no
// deeper than MaxDepth. Nothing is allocated unless a name or a text holds an
// escape or the text is wrong.
//
// What RFC 8259 leaves open is decided so: repeated names are all walked over
// (the caller lets the last one win), numbers keep their text, and a \u escape
// of half a surrogate pair is accepted, counted and decoded to U+FFFD.
//
// The package keeps nothing in memory. It does not read streams, accept
// comments or a byte order mark, or map JSON onto structs.
package jsonscan

// MaxDepth is how many objects and arrays may be open at once.
const MaxDepth = 1000

// Kind is the type of the value that a cursor stands on.
type Kind uint8

// The kinds. Invalid is where no value stands: at an error, behind the last
// member, or at a byte that begins no value.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// kinds tells the kind of a value by its first byte.
var kinds = [256]Kind{
	'n': Null, 't': Bool, 'f': Bool, '"': String, '[': Array, '{': Object, '-': Number,
	'0': Number, '1': Number, '2': Number, '3': Number, '4': Number,
	'5': Number, '6': Number, '7': Number, '8': Number, '9': Number,
}

// place is where a cursor stands.
type place uint8

const (
	atValue place = iota // on the first byte of a value, or what should be one
	atBegin              // behind an opening brace or bracket
	atAfter              // behind a value
)

// Cursor walks one JSON text. It stands on the text's value at first:
//
//	c := jsonscan.New(text)
//	if c.Object() {
//		for c.Member() {
//			switch string(c.Key()) {
//			case "name":
//				name = c.AppendText(nil)
//			case "items":
//				if c.Array() {
//					for c.Element() {
//						raw = c.Raw()
//					}
//				}
//			}
//		}
//	}
//	if err := c.End(); err != nil { ... }
//
// A value that the caller neither takes nor enters is passed over by the next
// Member, Element or End. A loop over members or elements has to run to its
// end, or be left by Leave. After an error every loop ends and End returns it.
type Cursor struct {
	data  []byte
	pos   int
	depth int
	place place
	name  [2]int // where the name of the member is, without its quotes
	key   []byte // the name decoded, if it holds an escape
	lone  int
	err   *Error
	open  [(MaxDepth + 63) / 64]uint64 // by depth: set if it is an object that is open
}

// New returns a cursor on the value of a text. The slice is not copied, and must
// not change while it or anything taken from it is in use.
func New(text []byte) Cursor {
	c := Cursor{data: text}
	c.pos = skipSpace(text, 0)
	return c
}

// Offset returns where in the text the cursor stands: at the first byte of the
// value, or behind the last one that was taken or passed over.
func (c *Cursor) Offset() int { return c.pos }

// Kind returns the kind of the value that the cursor stands on, by its first
// byte. The value is not checked by that.
func (c *Cursor) Kind() Kind {
	if c.place != atValue || c.err != nil || c.pos >= len(c.data) {
		return Invalid
	}
	return kinds[c.data[c.pos]]
}

// LoneSurrogates returns how many halves of surrogate pairs the strings that the
// cursor has come over hold, names included.
func (c *Cursor) LoneSurrogates() int { return c.lone }

// Err returns the error at which the cursor stopped, as an *Error.
func (c *Cursor) Err() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

// Object enters the object that the cursor stands on; Member then goes to its
// members. It returns false, and leaves the cursor where it is, if there is no
// object there.
func (c *Cursor) Object() bool { return c.enter(Object) }

// Array enters the array that the cursor stands on; Element then goes to its
// elements. It returns false, and leaves the cursor where it is, if there is no
// array there.
func (c *Cursor) Array() bool { return c.enter(Array) }

func (c *Cursor) enter(k Kind) bool {
	if c.Kind() != k || !c.push(k == Object, c.pos) {
		return false
	}
	c.pos++
	c.place = atBegin
	return true
}

// Member goes to the next member of the object that was entered last and not yet
// left, and returns whether there is one. Behind the last it leaves the object.
func (c *Cursor) Member() bool {
	i, ok := c.next('}', msgObjectEnd)
	if !ok {
		return false
	}
	data := c.data
	if i >= len(data) || data[i] != '"' {
		return c.want(i, msgKey)
	}
	var flags int
	start := i
	i, flags = c.str(i + 1)
	if i < 0 {
		return false
	}
	// Note: a slice of the text stored here would make every text escape to the heap.
	c.name, c.key = [2]int{start + 1, i - 1}, nil
	if flags&hasEscape != 0 {
		c.key = AppendUnquoted(nil, data[start:i])
	}
	if i >= len(data) || data[i] != ':' {
		if i = skipSpace(data, i); i >= len(data) || data[i] != ':' {
			return c.want(i, msgColon)
		}
	}
	if i++; i >= len(data) || data[i] <= ' ' {
		i = skipSpace(data, i)
	}
	c.pos, c.place = i, atValue
	return true
}

// Key returns the name of the member that the cursor is at, decoded: a piece of
// the text, or a new slice if the name holds an escape.
func (c *Cursor) Key() []byte {
	if c.key != nil {
		return c.key
	}
	return c.data[c.name[0]:c.name[1]:c.name[1]]
}

// Element goes to the next element of the array that was entered last and not
// yet left, and returns whether there is one. Behind the last it leaves the
// array.
func (c *Cursor) Element() bool {
	i, ok := c.next(']', msgArrayEnd)
	if !ok {
		return false
	}
	c.pos, c.place = i, atValue
	return true
}

// next goes behind the comma or the opening bracket before the next member or
// element, and returns its index. At the closing bracket it leaves the container.
func (c *Cursor) next(closing byte, expected string) (int, bool) {
	if c.place == atValue {
		c.Skip()
	}
	if c.err != nil {
		return 0, false
	}
	data, i := c.data, c.pos
	if i >= len(data) || data[i] <= ' ' {
		i = skipSpace(data, i)
	}
	if i < len(data) {
		switch {
		case data[i] == closing:
			c.pos, c.place = i+1, atAfter
			c.depth--
			return 0, false
		case c.place == atBegin:
			return i, true
		case data[i] == ',':
			if i++; i >= len(data) || data[i] <= ' ' {
				i = skipSpace(data, i)
			}
			if i < len(data) && data[i] == closing {
				return 0, c.fail(CodeSyntax, i, msgComma)
			}
			return i, true
		}
	}
	return 0, c.want(i, expected)
}

// Leave passes over the rest of the object or array that was entered last and
// not yet left.
func (c *Cursor) Leave() {
	next := c.Element
	if c.isObject(c.depth) {
		next = c.Member
	}
	for c.depth > 0 && next() {
		c.Skip()
	}
}

// Skip passes over the value that the cursor stands on.
func (c *Cursor) Skip() {
	if c.place == atValue && c.err == nil {
		if i := c.value(c.pos); i >= 0 {
			c.pos, c.place = i, atAfter
		}
	}
}

// Raw passes over the value that the cursor stands on and returns it as it is
// written, nil at an error.
func (c *Cursor) Raw() []byte {
	start := c.pos
	if c.Skip(); c.err != nil {
		return nil
	}
	return c.data[start:c.pos:c.pos]
}

// End passes over what is left of the value and checks that nothing follows it.
// It returns the first error of the text, an *Error, or nil.
func (c *Cursor) End() error {
	c.Skip()
	for c.depth > 0 && c.err == nil {
		c.Leave()
	}
	if c.err == nil {
		if i := skipSpace(c.data, c.pos); i < len(c.data) {
			c.fail(CodeTrailing, i, msgTrailing)
		}
	}
	return c.Err()
}

// fail stops the cursor. It returns false.
func (c *Cursor) fail(code string, offset int, msg string) bool {
	if c.err == nil {
		c.err = &Error{Code: code, Offset: offset, Msg: msg}
	}
	return false
}

// want stops the cursor because of what stands at i, or because nothing does. It
// returns false.
func (c *Cursor) want(i int, msg string) bool {
	if i >= len(c.data) {
		return c.fail(CodeTruncated, len(c.data), msgEnds)
	}
	return c.fail(CodeSyntax, i, msg)
}

// push notes that an object or array opens at i.
func (c *Cursor) push(object bool, i int) bool {
	if c.depth >= MaxDepth {
		return c.fail(CodeDepth, i, msgDepth)
	}
	word, bit := c.depth/64, uint64(1)<<(c.depth%64)
	if object {
		c.open[word] |= bit
	} else {
		c.open[word] &^= bit
	}
	c.depth++
	return true
}

// isObject returns whether the container that is open at a depth is an object.
func (c *Cursor) isObject(depth int) bool {
	return depth > 0 && c.open[(depth-1)/64]>>((depth-1)%64)&1 != 0
}
