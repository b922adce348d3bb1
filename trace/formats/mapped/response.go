package mapped

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// response adds what the model said and called.
func (r *reading) response(m *rule, e []byte, text trace.Raw, s message.Said) {
	turn := r.text(m.at[fTurn], e)
	calls := [][]byte{e}
	if m.at[fCalls] != nil {
		calls = r.all(m.at[fCalls], e)
	} else if r.first(m.at[fTool], e) == nil {
		calls = nil
	}
	// An event goes on with the open response for one of two reasons. It is joined because
	// the map says that a response lasts a step, or until a result or a text comes; it is the
	// same because it has the id of the response.
	constant := m.at[fTurn] != nil && m.at[fTurn][0].constant != nil
	joined := constant && (turn == "step" || r.InTurn && (!r.Answered || turn == "text" && text.IsEmpty()))
	same := r.InTurn && turn != "" && turn == r.turn && (!r.Answered || m.at[fResult] != nil)
	if id := r.text(m.at[fResponse], e); m.at[fResponse] != nil {
		turn, same, joined = id, id != "" && id == r.turn && len(r.Builder.Trajectory.Turns) > 0, false
		r.InTurn = r.InTurn || same
	}
	r.turn = turn
	var items []build.Item
	if thought := r.thought(m, e); !thought.IsEmpty() && !(same && r.thinks(thought)) {
		items = append(items, build.Item{Kind: build.ItemThought, Value: thought})
	}
	if !text.IsEmpty() || items == nil && calls == nil || !same && !joined {
		items = slices.Insert(items, 0, build.Item{Kind: build.ItemText, Value: text, Opens: !same && !joined})
	}
	firstCall := len(items)
	for _, c := range calls {
		items = append(items, r.call(m, c))
	}
	if r.Started { // its calls began before it was noted
		items = slices.DeleteFunc(items, func(it build.Item) bool { return it.Kind == build.ItemCall && len(r.Calls(string(it.ID))) > 0 })
	}
	if piece := r.raw(m.at[fPiece], e); !piece.IsZero() {
		r.goOn(piece)
		return
	}
	if same {
		r.Answered = false
	}
	t := r.Builder.Trajectory
	before, turns := len(t.Calls), len(t.Turns)
	r.Add(items, s)
	if n := len(t.Turns); n > 0 {
		last := &t.Turns[n-1]
		if n > turns {
			r.opened(last)
			r.remember(m, turn, n-1)
		} else if !s.End.IsZero() {
			last.End = s.End
		}
	}
	r.Answered = r.Answered || constant && slices.ContainsFunc(items, func(it build.Item) bool { return it.Answered })
	if all := t.Calls; len(all)-before == len(calls) && len(items)-firstCall == len(calls) {
		for i, c := range calls {
			for _, p := range []where{m.at[fTime], m.at[fCalled]} {
				if at := r.moment(p, c); !at.IsZero() {
					all[before+i].Start = at
				}
			}
			all[before+i].End = r.moment(m.at[fEnd], c)
		}
	}
}

// remember notes the id of the response that a turn is.
func (r *reading) remember(m *rule, id string, turn int) {
	if m.at[fResponse] == nil {
		return
	}
	if r.responses == nil {
		r.responses = map[string]int{}
	}
	if _, ok := r.responses[id]; id == "" {
		r.unnamed = append(r.unnamed, turn)
	} else if !ok {
		r.responses[id] = turn
	}
}

// opened notes in a turn that has begun what was known of it before.
func (r *reading) opened(turn *trace.Turn) {
	if !r.began.IsZero() {
		turn.Start = r.began
	}
	if r.added != nil {
		turn.Usage, r.added = *r.added, nil
	}
}

// thought returns what the model thought, which may be several objects.
func (r *reading) thought(m *rule, e []byte) (thought trace.Raw) {
	if m.at[fThoughts] == nil {
		return r.said(m.at[fThought], e)
	}
	for _, one := range r.all(m.at[fThoughts], e) {
		if text := r.said(m.at[fThought], one); !text.IsEmpty() {
			thought = build.JoinTexts(thought, text)
		}
	}
	return thought
}

// thinks reports whether the last turn has a thought already, which some write next to
// each call.
func (r *reading) thinks(thought trace.Raw) bool {
	all := r.Builder.Trajectory.Turns
	return len(all) > 0 && all[len(all)-1].Thought.Text() == thought.Text()
}

// known adds what stands in a known form of messages, and reports whether there is any. Of
// several responses in one event the last has its token counts.
func (r *reading) known(m *rule, e []byte, model bool, s message.Said) bool {
	var items []build.Item
	found := r.all(m.at[fMessages], e)
	for _, one := range found {
		read, _ := r.Messages.Read(build.Raw(one), model)
		items = append(items, read...)
	}
	if len(found) == 0 {
		return false
	}
	switch r.text(m.at[fOrigin], e) {
	case "", "user", "human", "system_trigger":
	default: // a program spoke in the user's name
		for i := range items {
			if items[i].Kind == build.ItemUser {
				items[i].Kind = build.ItemSystem
			}
		}
	}
	t := r.Builder.Trajectory
	usage, before := s.Usage, len(t.Turns)
	s.Usage = trace.Usage{}
	if !model {
		r.Add(items, s)
	} else {
		r.InTurn = false
		for i := range items {
			if i > 0 && items[i-1].Kind == build.ItemResult && items[i].Kind != build.ItemResult {
				r.InTurn = false // the model was asked again
			}
			items[i].Opens = false
			r.Add(items[i:i+1], s)
		}
	}
	if n := len(t.Turns); n > before {
		t.Turns[n-1].Usage = usage
	}
	return true
}

// note adds what is told later of a response, by its id, or of the next without one; or of
// a call.
func (r *reading) note(m *rule, e []byte, s message.Said) {
	t := r.Builder.Trajectory
	if m.at[fResponse] == nil {
		id := r.text(m.at[fID], e)
		known := r.Calls(id)
		if r.noted == nil {
			r.noted = map[string]int{}
		}
		if r.noted[id] >= len(known) {
			return
		}
		c := &t.Calls[known[r.noted[id]]]
		r.noted[id]++
		c.Start, c.End = s.At, s.End
		if status, _ := r.ended(m, e, false); status != trace.StatusUnknown {
			c.Status = status
		}
		return
	}
	id := r.text(m.at[fResponse], e)
	n, ok := r.responses[id]
	switch {
	case id == "" && !s.Usage.Known: // no response came of it
		return
	case ok:
		delete(r.responses, id)
	case len(r.unnamed) > 0:
		n, r.unnamed = r.unnamed[0], r.unnamed[1:]
	default:
		r.Builder.Anomaly(build.CodeResponseElsewhere, 1)
		return
	}
	t.Turns[n].Start, t.Turns[n].End, t.Turns[n].Usage = s.At, s.End, s.Usage
}

// counted reads the token counts of the session so far: what was added counts for the next
// response.
func (r *reading) counted(m *rule, e []byte) {
	var total, others trace.Usage
	for _, counts := range r.all(m.at[fUsage], e) {
		total.Add(build.ReadUsage(counts, m.counts))
	}
	for _, counts := range r.all(m.at[fLess], e) {
		others.Add(build.ReadUsage(counts, m.counts))
	}
	total = minus(total, others)
	added := minus(total, r.total)
	if !total.Known || (added == trace.Usage{Known: true}) {
		return
	}
	if r.added != nil {
		r.Builder.Anomaly(build.CodeUsageUnplaced, 1)
	}
	r.total, r.added = total, &added
	if min(added.Input, added.CachedInput, added.CacheWrite, added.Output, added.Reasoning) < 0 { // counted from 0 again
		r.added = nil
		r.Builder.Anomaly(build.CodeUsageUnplaced, 1)
	}
}

// minus returns token counts without others.
func minus(u, others trace.Usage) trace.Usage {
	out := trace.Usage{
		Known: u.Known, Input: u.Input - others.Input, CachedInput: u.CachedInput - others.CachedInput,
		CacheWrite: u.CacheWrite - others.CacheWrite, Output: u.Output - others.Output, Reasoning: u.Reasoning - others.Reasoning,
	}
	if u.CostUSD != nil {
		cost := *u.CostUSD
		if others.CostUSD != nil {
			cost -= *others.CostUSD
		}
		if cost > 0 {
			out.CostUSD = &cost
		}
	}
	return out
}

// usage reads the token counts of a response.
func (r *reading) usage(m *rule, e []byte) (u trace.Usage) {
	if m.counts != nil {
		if counts := r.first(m.at[fUsage], e); build.IsKind(counts, '{') {
			if m.counts == anyForm {
				return message.AnyUsage(counts)
			}
			u = build.ReadUsage(counts, m.counts)
			r.cost(&u, m, e)
			return u
		}
	}
	var total int64
	for i, into := range []*int64{&u.Input, &u.Output, &u.CachedInput, &u.CacheWrite, &u.Reasoning, &total} {
		if m.tokens[i] == nil {
			continue
		}
		n, err := strconv.ParseFloat(r.text(m.tokens[i], e), 64)
		if err == nil && n >= 0 && n < 1<<50 && n == math.Trunc(n) {
			*into, u.Known = int64(n), u.Known || i <= tokensCached
		}
	}
	build.SettleUsage(&u, total)
	r.cost(&u, m, e)
	return u
}

// cost reads what a response cost, in USD.
func (r *reading) cost(u *trace.Usage, m *rule, e []byte) {
	if m.tokens[tokensCost] == nil {
		return
	}
	if cost, err := strconv.ParseFloat(r.text(m.tokens[tokensCost], e), 64); err == nil {
		u.CostUSD = &cost
	}
}

// moment reads a time: text, or a number since 1970 of at least some days of seconds.
func (r *reading) moment(p where, v []byte) time.Time {
	if p == nil {
		return time.Time{}
	}
	at := build.Moment([]byte(r.text(p, v)))
	if at.Unix() < 1e6 && at.Year() == 1970 {
		return time.Time{} // a place in a list, and no time
	}
	return at
}
