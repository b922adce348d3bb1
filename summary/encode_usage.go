package summary

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/varint"
	"github.com/awo-dev/awo/trace"
)

// appendUsage appends the names that the sums are of, and the sums. Names stand once, and
// sums in the order of their keys.
func (s *Summary) appendUsage(dst []byte) []byte {
	u := &s.usage
	names := map[string]bool{}
	for k := range u.turns {
		names[k.Model], names[k.Agent] = true, true
	}
	for k := range u.runs {
		names[k.Model], names[k.Agent] = true, true
	}
	for k := range u.tools {
		names[k.Tool], names[k.Model] = true, true
	}
	for k := range u.users {
		names[k.Tool] = true
	}
	list := slices.Sorted(maps.Keys(names))
	number := make(map[string]int, len(list))
	dst = varint.Append(dst, len(list))
	for i, name := range list {
		number[name] = i
		dst = varint.AppendText(dst, name)
	}
	rows := u.Turns()
	dst = varint.Append(dst, len(rows))
	for _, r := range rows {
		dst = varint.Append(varint.Append(varint.Append(dst, number[r.Model]), number[r.Agent]), int(r.Outcome))
		dst = binary.AppendVarint(binary.AppendVarint(dst, int64(r.Day)), int64(r.Began))
		dst = appendFigures(appendTokens(dst, &r.Tokens), r.counts())
	}
	runs := u.Runs()
	dst = varint.Append(dst, len(runs))
	for _, r := range runs {
		dst = appendFlag(varint.Append(dst, number[r.Model]), r.Sole)
		dst = varint.Append(varint.Append(dst, number[r.Agent]), int(r.Outcome))
		dst = appendFigures(binary.AppendVarint(dst, int64(r.Began)), r.counts())
	}
	tools := u.Tools()
	dst = varint.Append(dst, len(tools))
	for _, r := range tools {
		dst = binary.AppendVarint(varint.Append(varint.Append(dst, number[r.Tool]), number[r.Model]), int64(r.Day))
		dst = varint.Append(appendTokens(varint.Append(dst, int(r.Shared)), &r.Tokens), r.Times)
	}
	users := slices.SortedFunc(maps.Keys(u.users), ToolUser.compare)
	dst = varint.Append(dst, len(users))
	for _, k := range users {
		dst = varint.Append(varint.Append(appendFlag(dst, k.None), number[k.Tool]), u.users[k])
	}
	return dst
}

func appendTokens(dst []byte, t *Tokens) []byte {
	for _, figure := range t.figures() {
		dst = binary.AppendUvarint(dst, uint64(*figure))
	}
	return dst
}

func appendFlag(dst []byte, set bool) []byte {
	if set {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func (d *decoder) flag(what string) bool {
	n := d.Uint()
	if n > 1 {
		d.Fail(what)
	}
	return n == 1
}

func (d *decoder) day() int32 {
	n := d.Signed()
	if int64(int32(n)) != n {
		d.Fail("a day")
	}
	return int32(n)
}

func (d *decoder) outcome() trace.Outcome {
	n := d.Uint()
	if n > uint64(trace.OutcomeFailure) {
		d.Fail("an outcome")
	}
	return trace.Outcome(n)
}

func (d *decoder) tokens(t *Tokens) {
	for _, figure := range t.figures() {
		*figure = int64(d.Int())
	}
	if t.Cached > t.Input || t.Write > t.Input-t.Cached || t.WriteHour > t.Write {
		d.Fail("tokens")
	}
}

// readUsage reads what appendUsage wrote. Every name must be used, so that equal sums have
// equal bytes.
func (s *Summary) readUsage(d *decoder) {
	u := &s.usage
	var list []string
	for i := range d.Length(1) {
		name := d.Text()
		if i > 0 {
			d.ascending(strings.Compare(name, list[i-1]), "names")
		}
		list = append(list, name)
	}
	used := make([]bool, len(list))
	name := func() string {
		n := d.Uint()
		if n >= uint64(len(list)) {
			d.Fail("a name")
			return ""
		}
		used[n] = true
		return list[n]
	}
	var turn TurnKey
	for i := range d.Length(14) {
		k := TurnKey{name(), name(), d.outcome(), d.day(), d.day()}
		if i > 0 {
			d.ascending(k.compare(turn), "usage")
		}
		turn = k
		row := u.turn(k)
		d.tokens(&row.Tokens)
		d.figures(row.counts())
		if row.Caches > row.Turns || row.Turns == 0 && row.Tokens != (Tokens{}) {
			d.Fail("usage")
		}
	}
	var run RunKey
	trajectories := 0
	for i := range d.Length(12) {
		k := RunKey{Model: name(), Sole: d.flag("usage"), Agent: name(), Outcome: d.outcome(), Began: d.day()}
		if i > 0 {
			d.ascending(k.compare(run), "usage")
		}
		run = k
		row := u.run(k)
		d.figures(row.counts())
		if row.Trajectories == 0 || row.Trajectories > s.facts.Tally.Trajectories-trajectories {
			d.Fail("the trajectories of usage")
			return
		}
		trajectories += row.Trajectories
	}
	if trajectories != s.facts.Tally.Trajectories {
		d.Fail("the trajectories of usage")
	}
	var tool ToolKey
	for i := range d.Length(10) {
		k := ToolKey{Tool: name(), Model: name(), Day: d.day()}
		shared := d.Int()
		if shared != int(int32(shared)) || shared == 0 && k.Tool != "" {
			d.Fail("the usage of a tool")
		}
		k.Shared = int32(shared)
		if i > 0 {
			d.ascending(k.compare(tool), "the usage of tools")
		}
		tool = k
		row := u.tool(k)
		d.tokens(&row.Tokens)
		if row.Times = d.Int(); row.Times == 0 {
			d.Fail("the usage of a tool")
		}
	}
	var user ToolUser
	for i := range d.Length(3) {
		k := ToolUser{None: d.flag("a tool")}
		k.Tool = name()
		if i > 0 {
			d.ascending(k.compare(user), "tools")
		}
		user = k
		n := d.Int()
		if n == 0 || n > s.facts.Tally.Trajectories || k.None && k.Tool != "" {
			d.Fail("a tool")
		}
		if u.users == nil {
			u.users = map[ToolUser]int{}
		}
		u.users[k] = n
	}
	if slices.Contains(used, false) {
		d.Fail("names")
	}
}
