package mapped

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// call returns a call with the result that is beside it.
func (r *reading) call(m *rule, c []byte) build.Item {
	r.bound = r.first(m.at[fID], c)
	it := build.Item{Kind: build.ItemCall, ID: []byte(r.text(m.at[fID], c)), Tool: []byte(r.text(m.at[fTool], c)), Value: r.arguments(m, c)}
	if line := strings.TrimSpace(r.text(m.at[fCommand], c)); line != "" {
		it.Value = trace.JSONOf(build.Object("command", r.text(m.at[fCommand], c)))
		if len(it.Tool) == 0 {
			it.Tool = []byte(strings.Fields(line)[0])
		}
	}
	if m.at[fAnswers] == nil && m.at[fResults] == nil {
		it.Result = r.returned(m, c)
		it.Answered = !it.Result.IsZero()
		it.Status, it.Err = r.ended(m, c, it.Answered)
		it.Answered = it.Answered || m.at[fStatus] != nil && it.Status != trace.StatusUnknown
	}
	r.Pieces = ""
	if m.at[fPiece] == nil && it.Value.Form == trace.FormString && r.m.pieces() && build.InnerJSON(it.Value) == nil {
		r.Pieces, it.Value = it.Value.Text(), trace.Raw{} // more of them comes
	}
	return it
}

// predicted adds a call that a predictor made, in no turn.
func (r *reading) predicted(m *rule, e []byte, s message.Said) {
	b, it := r.Builder, r.call(m, e)
	if len(it.Tool) == 0 {
		b.Anomaly(build.CodeCallUnnamed, 1)
		return
	}
	c := b.CallOutsideTurns(b.Text(it.ID), b.Names.Intern(it.Tool), it.Value, trace.OriginInertial)
	c.Start, c.End, c.Status, c.Error = s.At, s.End, it.Status, it.Err
	c.Result, c.HasResult = it.Result, it.Answered
	r.InTurn = false
}

// arguments returns the arguments of a call, without those that are the program's own: the
// call has them as members, too.
func (r *reading) arguments(m *rule, c []byte) trace.Raw {
	found := r.first(m.at[fArguments], c)
	if found == nil {
		return trace.Raw{}
	}
	scan := jsonscan.New(found)
	args := build.ReadArgs(&scan)
	if m.at[fDrop] == nil {
		return args
	}
	v, err := trace.ParseValue(args.Content())
	if err != nil || v.Kind != trace.Object {
		return args
	}
	n := len(v.Members)
	for name := range strings.SplitSeq(r.text(m.at[fDrop], c), " ") {
		if r.member(c, name) != nil {
			v.Members = slices.DeleteFunc(v.Members, func(m trace.Member) bool { return m.Name == name })
		}
	}
	if len(v.Members) == n {
		return args
	}
	return trace.JSONOf(v.AppendCanonical(nil))
}

// pieces reports whether arguments come in pieces.
func (m *Map) pieces() bool {
	return slices.ContainsFunc(m.kinds, func(k kindRule) bool { return k.rule.has["piece"] })
}

// goOn adds a piece to the arguments of the last call.
func (r *reading) goOn(piece trace.Raw) {
	if calls := r.Builder.Trajectory.Calls; len(calls) > 0 {
		r.Pieces += piece.Text()
		calls[len(calls)-1].Args = trace.TextOf(r.Pieces)
	}
}

// starts adds the start of a call, unless it is known already. A message of the model
// may tell of it later.
func (r *reading) starts(m *rule, e []byte, s message.Said) {
	it := r.call(m, e)
	t := r.Builder.Trajectory
	if known := r.Calls(string(it.ID)); len(known) > 0 {
		t.Calls[known[0]].Start = s.At
		return
	}
	if len(t.Turns) > 0 && !r.Spoken() {
		r.InTurn = true
	}
	starts := !r.InTurn
	r.Answered = false
	r.Add([]build.Item{it}, s)
	r.Started = starts
}

// result adds a result that is an event of its own.
func (r *reading) result(m *rule, e []byte, text trace.Raw, s message.Said) {
	it := build.Item{Kind: build.ItemResult, Value: r.returned(m, e), Tool: []byte(r.text(m.at[fTool], e))}
	if it.Value.IsZero() {
		it.Value = text
	}
	it.ID = []byte(cmp.Or(r.text(m.at[fAnswers], e), r.text(m.at[fID], e)))
	it.Status, it.Err = r.ended(m, e, true)
	r.Add([]build.Item{it}, s)
}

// returned returns a result, which may be the parts of a message.
func (r *reading) returned(m *rule, v []byte) trace.Raw {
	found := r.first(m.at[fResult], v)
	if found == nil {
		return trace.Raw{}
	}
	found = r.attached(found)
	c := jsonscan.New(found)
	if build.IsKind(build.FirstElement(found), '"') { // texts, and no parts
		return build.ReadRaw(&c)
	}
	return message.AsResult(build.ReadContent(&c))
}

// around adds what stands around the model: what the first call of the last response that
// has no result gave back, else what the user asked, or what the program said later.
func (r *reading) around(m *rule, e []byte, text trace.Raw, s message.Said) {
	t := r.Builder.Trajectory
	first := 0
	if n := len(t.Turns); n > 0 {
		first = t.Turns[n-1].FirstCall
	}
	for i := first; i < len(t.Calls); i++ {
		if c := &t.Calls[i]; !c.HasResult {
			r.Builder.Answer(i, text)
			c.Status, c.Error = r.ended(m, e, true)
			r.Answered = true
			return
		}
	}
	if len(t.Turns) > 0 {
		r.Add([]build.Item{{Kind: build.ItemSystem, Value: text}}, s)
	} else {
		r.Add([]build.Item{{Kind: build.ItemUser, Value: text}}, s)
	}
}

// ended reads whether a call failed.
func (r *reading) ended(m *rule, v []byte, answered bool) (status trace.Status, err trace.Raw) {
	if good := r.first(m.at[fOK], v); good != nil {
		status = build.StatusOf(truth(good))
	}
	if end := m.ends.of(r.text(m.at[fStatus], v)); end != nil {
		status = end.status
		if end.cancelled {
			r.Builder.Anomaly(build.CodeCallCancelled, 1)
		}
	}
	if code := r.first(m.at[fExit], v); code != nil {
		status = build.StatusOf(textOf(code) == "0")
	}
	if m.at[fError] == nil {
		return status, err
	}
	switch failure := r.first(m.at[fError], v); {
	case failure == nil && r.stated(m.at[fError], v), bytes.Equal(failure, []byte("false")), bytes.Equal(failure, []byte("0")), len(failure) == 2:
		if status == trace.StatusUnknown && answered {
			status = trace.StatusOK
		}
	case failure != nil:
		status = trace.StatusFailed
		if failure[0] == '"' || failure[0] == '{' {
			err = build.Raw(failure)
		}
	}
	return status, err
}

// stated reports whether a path finds anything, null too.
func (r *reading) stated(p where, v []byte) bool { return len(r.all(p, v)) > 0 }

// of returns what a status word means, nil if that is not known.
func (rules statusRules) of(word string) *statusRule {
	for i := range rules {
		if word != "" && matches(rules[i].values, word) {
			return &rules[i]
		}
	}
	return nil
}
