package trace

// Repeats returns, by call of t, the earlier call that it repeats, -1 for none; see Again.
func (t *Trajectory) Repeats(changes func(call int) bool) []int {
	repeats, _ := t.Again(changes)
	return repeats
}

// Again returns, by call of t, the last earlier call of the same tool with the same
// arguments (canonical JSON), if no call between the two changes anything, as changes
// says: in repeats if that call did not fail, in retries if it did; -1 for none. A call
// that failed changed nothing. What a repeat would tell is known already.
//
// Calls whose arguments are not recorded repeat nothing.
func (t *Trajectory) Again(changes func(call int) bool) (repeats, retries []int) {
	repeats, retries = make([]int, len(t.Calls)), make([]int, len(t.Calls))
	last := make(map[string]int, len(t.Calls)) // tool and arguments -> the last such call
	changed := -1                              // the last call that changed something
	var key []byte
	for i := range t.Calls {
		c := &t.Calls[i]
		repeats[i], retries[i] = -1, -1
		if !c.ArgsMissing() {
			key = c.AppendCanonicalArgs(append(append(key[:0], c.Tool.Value()...), 0))
			if before, ok := last[string(key)]; ok && changed <= before {
				if t.Calls[before].Status == StatusFailed {
					retries[i] = before
				} else {
					repeats[i] = before
				}
			}
			last[string(key)] = i
		}
		if c.Status != StatusFailed && changes(i) {
			changed = i
		}
	}
	return repeats, retries
}
