// Package copies keeps trajectories in a compact form.
//
// In come trajectories, out come copies of them in the same order, as often as they are
// wanted. What is in memory at once is bounded; the rest is in a temporary file. A copy
// takes about as many bytes as its texts.
package copies

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/awo-dev/awo/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// A Set keeps trajectories as they were when they were packed, each as one block of bytes:
// for those who read the same traces several times, and want to find and decode them once.
// The first blocks are in memory, the others in a temporary file that has no name while it
// is used and is gone with the program. It holds the texts of the trajectories.
//
// What trajectories share is kept once: names, and lists of definitions. Only
// Trajectory.Reached, and what Trajectory.Recall remembers, is not kept.
type Set struct {
	blocks trace.Blocks
	isFull bool
	names  jsonvalue.Dictionary[string]
	tools  jsonvalue.Dictionary[trace.Name]
	pool   sync.Pool // of *writer

	mutex sync.Mutex
	lists [][]trace.ToolDef // by number
	known trace.ToolLists[int]
}

// Bounds of a Set.
const (
	setMemory = 4 << 20 // bytes in memory
	setFile   = 4 << 30 // bytes in all
	setNames  = 1 << 16 // names that have a number
	setLists  = 1 << 10 // lists of definitions that are shared
	setLatest = 64      // lists that are looked through for one that is the same
	setName   = 128     // bytes of a name that may have a number
)

// New returns an empty set, whose file will be in a folder, "" for the system's.
func New(folder string) *Set {
	return &Set{blocks: trace.Blocks{Folder: folder, Room: setMemory, Most: setFile}, names: jsonvalue.Dictionary[string]{Most: setNames}, tools: jsonvalue.Dictionary[trace.Name]{Most: setNames}}
}

// Add keeps what Pack returned. All that was added before is given up, and nothing is kept
// any more, when there is no room.
func (c *Set) Add(packed []byte) {
	if c.isFull {
		return
	}
	if len(packed) == 0 || !c.blocks.Add(packed) {
		c.isFull = true
		_ = c.blocks.Close() // nothing of it is to be read
	}
}

// End ends adding. It reports whether all that was added can be read.
func (c *Set) End() bool { return !c.isFull && c.blocks.Flush() }

// Len returns how many copies there are.
func (c *Set) Len() int { return c.blocks.Len() }

// Close gives the copies up.
func (c *Set) Close() error { return c.blocks.Close() }

// list returns the number of a list of definitions, from 1; 0 if there are too many.
func (c *Set) list(tools []trace.ToolDef) int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	n, known := c.known.Of(tools)
	if !known {
		if len(c.lists) == setLists {
			return 0
		}
		own := trace.OwnTools(tools)
		c.lists = append(c.lists, own)
		n = len(c.lists)
		c.known.Keep(own, n, setLatest)
	}
	return n
}

// Pack returns the compact form of t, nil if there is none. It may be called concurrently.
func (c *Set) Pack(t *trace.Trajectory) []byte {
	w, _ := c.pool.Get().(*writer)
	if w == nil {
		w = &writer{}
	}
	defer c.pool.Put(w)
	*w = writer{copies: c, numbers: w.numbers[:0], strings: w.strings[:0], texts: w.texts[:0]}
	w.trajectory(t)
	if w.failed {
		return nil
	}
	out := make([]byte, 0, len(w.numbers)+len(w.strings)+len(w.texts)+2*binary.MaxVarintLen64)
	out = binary.AppendUvarint(out, uint64(len(w.strings)))
	out = binary.AppendUvarint(out, uint64(len(w.numbers)))
	return append(append(append(out, w.strings...), w.numbers...), w.texts...)
}

// errUnreadable means that a temporary file cannot be read.
var errUnreadable = errors.New("temporary file: what was read cannot be read from it again")

// At returns a copy of the i-th trajectory, from 0, of which anything may be changed but the
// bytes of its texts. It may be called concurrently. An error is a failure with the
// temporary file.
func (c *Set) At(i int) (*trace.Trajectory, error) {
	t := c.unpack(c.blocks.At(i))
	if t == nil {
		return nil, errUnreadable
	}
	return t, nil
}

// unpack returns what Pack was given; nil for what it did not make.
func (c *Set) unpack(block []byte) *trace.Trajectory {
	strings, a := binary.Uvarint(block)
	if a <= 0 {
		return nil
	}
	numbers, b := binary.Uvarint(block[a:])
	if block = block[a+max(b, 0):]; b <= 0 || strings > uint64(len(block)) || numbers > uint64(len(block))-strings {
		return nil
	}
	r := reader{copies: c, named: c.names.List(), tooled: c.tools.List(), strings: string(block[:strings]), numbers: block[strings : strings+numbers], texts: block[strings+numbers:]}
	t := r.trajectory()
	if r.failed {
		return nil
	}
	return t
}
