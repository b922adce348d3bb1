package trace

import (
	"strings"
	"unique"
)

// Intern returns the Name of a tool.
func Intern[S string | []byte](name S) Name { return unique.Make(string(name)) }

// TextArena makes small strings out of bytes, many to one allocation. A string
// keeps the chunk that it is in.
type TextArena struct {
	chunk strings.Builder
	first int // bytes of the first chunk where the texts are known to be few, 0 if they are not
}

// arenaChunk is how many bytes are allocated at once.
const arenaChunk = 512

// Add returns a text as a string.
func (a *TextArena) Add(text []byte) string {
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
