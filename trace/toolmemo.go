package trace

import (
	"bytes"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// ToolMemo is lists of definitions that were read before, the latest first. Runs
// of a few agents repeat a few lists, and often they are the larger part of a
// record; trajectories with the same list share it. A memo is used by one worker
// at a time.
type ToolMemo struct {
	lists [memoLists]toolList
	used  int
}

// toolList is a list of definitions with its text, which it points into.
type toolList struct {
	text  []byte
	tools []ToolDef
}

// The limits of a toolMemo, so that it is bounded whatever comes.
const (
	memoLists = 48
	memoText  = 256 << 10
)

// Recall passes over a list that is known, and returns it.
func (m *ToolMemo) Recall(c *jsonscan.Cursor) ([]ToolDef, bool) {
	for i := range m.used {
		if !c.SkipSame(m.lists[i].text) {
			continue
		}
		found := m.lists[i]
		copy(m.lists[1:i+1], m.lists[:i])
		m.lists[0] = found
		return found.tools, true
	}
	return nil, false
}

// Keep remembers a list that was read without any anomaly. It reads a copy,
// because the list would otherwise keep the whole block that it was found in.
func (m *ToolMemo) Keep(text []byte, read func(*jsonscan.Cursor) []ToolDef) {
	if len(text) > memoText {
		return
	}
	text = bytes.Clone(text)
	c := jsonscan.New(text)
	tools := read(&c)
	m.used = min(m.used+1, memoLists)
	copy(m.lists[1:m.used], m.lists[:m.used-1])
	m.lists[0] = toolList{text: text, tools: slices.Clip(tools)}
}
