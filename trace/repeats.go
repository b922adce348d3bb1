package trace

// Repeats returns, by call of t, the earlier call that it repeats, -1 for none: the
// last one of the same tool with the same arguments (canonical JSON), if that did not
// fail and no call between the two changes anything, as changes says. A call that
// failed changed nothing. What a repeat would tell is known already.
//
// Calls whose arguments are not recorded repeat nothing.
func (t *Trajectory) Repeats(changes func(call int) bool) []int {
	out := make([]int, len(t.Calls))
	last := make(map[string]int, len(t.Calls)) // tool and arguments -> the last such call
	changed := -1                              // the last call that changed something
	var key []byte
	for i := range t.Calls {
		c := &t.Calls[i]
		out[i] = -1
		if !c.ArgsMissing() {
			key = c.AppendCanonicalArgs(append(append(key[:0], c.Tool.Value()...), 0))
			if before, ok := last[string(key)]; ok {
				if changed <= before && t.Calls[before].Status != StatusFailed {
					out[i] = before
				}
			}
			last[string(key)] = i
		}
		if c.Status != StatusFailed && changes(i) {
			changed = i
		}
	}
	return out
}
