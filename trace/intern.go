package trace

import (
	"bytes"
	"strings"
	"unique"
)

// Intern returns the Name of a tool.
func Intern[S string | []byte](name S) Name { return unique.Make(string(name)) }

// nameCache interns the names of one trajectory, which uses a few tools over and
// over. It is a direct-mapped table: a name that is not at its place is asked for
// again, so hostile names cost time and no memory.
type nameCache struct {
	slots [32]struct {
		text []byte
		name Name
	}
}

func (c *nameCache) intern(text []byte) Name {
	h := uint32(len(text))
	if len(text) > 0 {
		// Names of one server share their beginning: look at the end.
		last := len(text) - 1
		h = h*31 + uint32(text[last])
		h = h*31 + uint32(text[last/2])
		h = h*31 + uint32(text[last-last/4])
	}
	slot := &c.slots[h*0x9E3779B1>>27]
	if slot.text == nil || !bytes.Equal(slot.text, text) {
		slot.name = Intern(text)
		slot.text = text
	}
	return slot.name
}

// textArena makes small strings out of bytes, many to one allocation. A string
// keeps the chunk that it is in.
type textArena struct {
	chunk strings.Builder
	first int // bytes of the first chunk where the texts are known to be few, 0 if they are not
}

// arenaChunk is how many bytes are allocated at once.
const arenaChunk = 512

func (a *textArena) add(text []byte) string {
	switch {
	case len(text) == 0:
		return ""
	case len(text) > arenaChunk/4:
		return string(text)
	case a.chunk.Cap()-a.chunk.Len() < len(text):
		size := arenaChunk
		if a.first > 0 {
			size, a.first = max(len(text), min(a.first, arenaChunk)), 0
		}
		a.chunk = strings.Builder{}
		a.chunk.Grow(size)
	}
	start := a.chunk.Len()
	a.chunk.Write(text)
	return a.chunk.String()[start:]
}
