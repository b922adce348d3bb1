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
	last := map[string]int{} // tool and arguments -> the last such call
	changed := -1            // the last call that changed something
	// Arguments are made canonical only where an earlier call of the tool is left to repeat.
	type newest struct {
		call   int
		isKept bool // it is in last, with all of the tool from changed on
	}
	var numbers Numbering[Name]
	var tools []newest
	var key []byte
	keyOf := func(i int) []byte {
		c := &t.Calls[i]
		key = c.AppendCanonicalArgs(append(append(key[:0], c.Tool.Value()...), 0))
		return key
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		repeats[i], retries[i] = -1, -1
		if !c.ArgsMissing() {
			n := int(numbers.Number(c.Tool))
			met := n < len(tools)
			if !met {
				tools = append(tools, newest{})
			}
			before := tools[n]
			isKept := met && changed <= before.call
			if isKept {
				if !before.isKept {
					last[string(keyOf(before.call))] = before.call
				}
				if same, ok := last[string(keyOf(i))]; ok && changed <= same {
					if t.Calls[same].Status == StatusFailed {
						retries[i] = same
					} else {
						repeats[i] = same
					}
				}
				last[string(key)] = i
			}
			tools[n] = newest{i, isKept}
		}
		if c.Status != StatusFailed && changes(i) {
			changed = i
		}
	}
	return repeats, retries
}
