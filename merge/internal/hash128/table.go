package hash128

// Table numbers hashes by first appearance. The zero value is ready to use.
type Table struct{ numbers map[Hash]uint32 }

// Len returns how many hashes have a number.
func (t *Table) Len() int { return len(t.numbers) }

// Number returns the number of h, a new one if h was not known, and whether it
// was.
func (t *Table) Number(h Hash) (n uint32, known bool) {
	if n, known = t.numbers[h]; known {
		return n, true
	}
	if t.numbers == nil {
		t.numbers = map[Hash]uint32{}
	}
	n = uint32(len(t.numbers))
	t.numbers[h] = n
	return n, false
}

// Find returns the number of h, if it has one.
func (t *Table) Find(h Hash) (n uint32, known bool) {
	n, known = t.numbers[h]
	return n, known
}
