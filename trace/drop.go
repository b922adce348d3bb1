package trace

// DropCalls takes the calls out of t for which drop returns true, and returns how
// many they were. Turns stay, as model responses that then made fewer calls, and
// so do messages; a call is AfterUser if a user message came since the call
// before it that is left.
func (t *Trajectory) DropCalls(drop func(*Call) bool) int {
	var (
		place    = make([]int, len(t.Calls)+1) // where a call with an index goes
		kept     = 0
		model    = false // a call of the model is left
		afterOne = false // a user message came since the last one left
	)
	for i := range t.Calls {
		place[i] = kept
		c := t.Calls[i]
		afterOne = afterOne || c.AfterUser
		if drop(&t.Calls[i]) {
			continue
		}
		c.AfterUser = afterOne && (model || c.Origin != OriginModel && kept > 0)
		if c.Origin == OriginModel {
			model = true
		}
		afterOne = false
		t.Calls[kept] = c
		kept++
	}
	place[len(t.Calls)] = kept
	for i := range t.Turns {
		turn := &t.Turns[i]
		first := place[turn.FirstCall]
		turn.NumCalls = place[turn.FirstCall+turn.NumCalls] - first
		turn.FirstCall = first
	}
	for i := range t.Messages {
		t.Messages[i].Call = place[t.Messages[i].Call]
	}
	dropped := len(t.Calls) - kept
	clear(t.Calls[kept:])
	t.Calls = t.Calls[:kept]
	return dropped
}
