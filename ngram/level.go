package ngram

import "math/bits"

// tally is an array of counts, 32 bits each, with the carries of the few that
// need more in a map: counts are exact, and almost all of them are small.
type tally struct {
	low  []uint32
	high map[uint32]uint64 // multiples of 1<<32
}

// at returns count i.
func (t *tally) at(i uint32) uint64 {
	n := uint64(t.low[i])
	if t.high != nil {
		n += t.high[i] << 32
	}
	return n
}

// add adds n to count i.
func (t *tally) add(i uint32, n uint64) {
	if carry := addTo(&t.low[i], n); carry != 0 {
		t.carry(i, carry)
	}
}

func (t *tally) carry(i uint32, carry uint64) {
	if t.high == nil {
		t.high = map[uint32]uint64{}
	}
	t.high[i] += carry
}

// addTo adds n to a 32-bit count and returns the carry.
func addTo(p *uint32, n uint64) uint64 {
	low := uint64(*p) + n&(1<<32-1)
	*p = uint32(low)
	return low>>32 + n>>32
}

// A node is one n-gram: its first symbols (the id of an n-gram of the level
// below), its last symbol, and the low bits of how often it occurred.
type node struct{ parent, symbol, count uint32 }

// Nodes live in pages, so that growing copies nothing: at 10^7 n-grams a level,
// doubling a slice is what would break the memory budget.
const (
	pageBits = 10
	pageSize = 1 << pageBits
	maxNodes = 1 << 31 // so that slots and id+1 fit 32 bits
)

// hashed holds the n-grams of one length under open addressing. Ids count from
// 0 in the order of first appearance and never change.
type hashed struct {
	pages []*[pageSize]node
	n     uint32
	index []uint32 // id+1, or 0 for an empty slot; its length is a power of two
	shift uint     // 64 - log2(len(index))
	high  map[uint32]uint64
	seed  uint64
}

func newHashed(seed uint64) *hashed {
	h := &hashed{seed: seed}
	h.resize(4)
	return h
}

func (h *hashed) node(id uint32) *node { return &h.pages[id>>pageBits][id&(pageSize-1)] }

func (h *hashed) count(id uint32) uint64 {
	n := uint64(h.node(id).count)
	if h.high != nil {
		n += h.high[id] << 32
	}
	return n
}

// slot is where the search for an n-gram starts. The seed differs from counter
// to counter: no input can be written so that its n-grams collide.
func (h *hashed) slot(parent, symbol uint32) uint32 {
	x := (uint64(parent)<<32 | uint64(symbol)) ^ h.seed
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return uint32(x >> h.shift)
}

// find returns the id of an n-gram.
func (h *hashed) find(parent, symbol uint32) (uint32, bool) {
	mask := uint32(len(h.index) - 1)
	for i := h.slot(parent, symbol); ; i = (i + 1) & mask {
		id := h.index[i]
		if id == 0 {
			return 0, false
		}
		if n := h.node(id - 1); n.parent == parent && n.symbol == symbol {
			return id - 1, true
		}
	}
}

// add counts an n-gram n times and returns its id.
func (h *hashed) add(parent, symbol uint32, n uint64) uint32 {
	mask := uint32(len(h.index) - 1)
	for i := h.slot(parent, symbol); ; i = (i + 1) & mask {
		id := h.index[i]
		if id == 0 {
			return h.insert(i, parent, symbol, n)
		}
		if at := h.node(id - 1); at.parent == parent && at.symbol == symbol {
			if carry := addTo(&at.count, n); carry != 0 {
				h.carry(id-1, carry)
			}
			return id - 1
		}
	}
}

func (h *hashed) carry(id uint32, carry uint64) {
	if h.high == nil {
		h.high = map[uint32]uint64{}
	}
	h.high[id] += carry
}

func (h *hashed) insert(slot, parent, symbol uint32, n uint64) uint32 {
	if h.n == maxNodes {
		panic("ngram: more than 2^31 distinct n-grams of one length")
	}
	id := h.n
	if id&(pageSize-1) == 0 {
		h.pages = append(h.pages, new([pageSize]node))
	}
	h.n++
	at := h.node(id)
	at.parent, at.symbol = parent, symbol
	if carry := addTo(&at.count, n); carry != 0 {
		h.carry(id, carry)
	}
	h.index[slot] = id + 1
	if uint64(h.n)*3 > uint64(len(h.index))*2 {
		h.resize(uint(bits.Len(uint(len(h.index)))))
	}
	return id
}

// resize builds an index of 1<<log2 slots from the nodes.
func (h *hashed) resize(log2 uint) {
	h.index, h.shift = nil, 64-log2 // the old one may go before the new one comes
	h.index = make([]uint32, 1<<log2)
	mask := uint32(len(h.index) - 1)
	for id := range h.n {
		n := h.node(id)
		i := h.slot(n.parent, n.symbol)
		for h.index[i] != 0 {
			i = (i + 1) & mask
		}
		h.index[i] = id + 1
	}
}

// reparent gives every node a new parent. Ids stay as they are.
func (h *hashed) reparent(moved func(uint32) uint32) {
	for id := range h.n {
		n := h.node(id)
		n.parent = moved(n.parent)
	}
	h.resize(uint(bits.Len(uint(len(h.index) - 1))))
}
