package build

import (
	"bytes"

	"github.com/awo-dev/awo/trace"
)

// nameCache interns the names of one trajectory, which uses a few tools over and
// over. It is a direct-mapped table: a name that is not at its place is asked for
// again, so hostile names cost time and no memory.
type nameCache struct {
	slots [32]struct {
		text []byte
		name trace.Name
	}
}

func (c *nameCache) Intern(text []byte) trace.Name {
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
		slot.name = trace.Intern(text)
		slot.text = text
	}
	return slot.name
}
