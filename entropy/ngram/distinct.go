package ngram

// Distinct returns the different sequences, in order of their first appearance, and for
// each sequence the index of the one among them that it equals. Agents have habits: what
// a sequence adds to a model, or loses by one, is worked out once for all that equal it.
func Distinct(sequences [][]uint32) (distinct [][]uint32, of []uint32) {
	index, of := map[string]uint32{}, make([]uint32, len(sequences))
	var key []byte
	for i, s := range sequences {
		key = key[:0]
		for _, symbol := range s {
			key = append(key, byte(symbol), byte(symbol>>8), byte(symbol>>16), byte(symbol>>24))
		}
		at, met := index[string(key)]
		if !met {
			at = uint32(len(distinct))
			index[string(key)] = at
			distinct = append(distinct, s)
		}
		of[i] = at
	}
	return distinct, of
}
