package dataflow

// index finds numbers by hash: open addressing in one slice, because most
// lookups are of values that are not in it and should touch one cache line.
// The zero value is empty.
type index struct {
	keys  []uint64
	ids   []int32
	count int
}

// reset empties the index and keeps its memory.
func (x *index) reset() {
	// A table that one large trajectory has blown up is not cleared for every
	// small one after it.
	if len(x.keys) > 1024 && len(x.keys) > 16*x.count {
		*x = index{}
		return
	}
	clear(x.keys)
	x.count = 0
}

// key is never the mark of an empty place.
func key(hash uint64) uint64 {
	if hash == 0 {
		return 1
	}
	return hash
}

// find returns the number stored under hash, or -1.
func (x *index) find(hash uint64) int32 {
	if x.count == 0 {
		return -1
	}
	k, mask := key(hash), uint64(len(x.keys)-1)
	for i := k & mask; ; i = (i + 1) & mask {
		switch x.keys[i] {
		case k:
			return x.ids[i]
		case 0:
			return -1
		}
	}
}

// insert stores id under hash unless something is stored there already, and
// returns what is stored then.
func (x *index) insert(hash uint64, id int32) int32 {
	if 4*(x.count+1) > 3*len(x.keys) {
		x.grow()
	}
	k, mask := key(hash), uint64(len(x.keys)-1)
	for i := k & mask; ; i = (i + 1) & mask {
		switch x.keys[i] {
		case k:
			return x.ids[i]
		case 0:
			x.keys[i], x.ids[i] = k, id
			x.count++
			return id
		}
	}
}

func (x *index) grow() {
	old := *x
	*x = index{keys: make([]uint64, max(64, 2*len(old.keys))), ids: make([]int32, max(64, 2*len(old.keys)))}
	for i, k := range old.keys {
		if k != 0 {
			x.insert(k, old.ids[i])
		}
	}
}
