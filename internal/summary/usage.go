package summary

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/awo-dev/awo/trace"
)

// NoDay is the day of what has no recorded time.
const NoDay = math.MinInt32

// Usage is what the model turns of trajectories record to have taken, in sums that do
// not depend on prices: money is a price times sums of one model and day.
//
// Only recorded usage is in it. Turns that record none are counted, and that is all:
// their tokens could only be counted from texts. Amounts that the traces record are kept
// to 1e-9 US dollars a turn, so that adding them is exact.
type Usage struct {
	turns map[TurnKey]*TurnUsage
	runs  map[RunKey]*RunUsage
	tools map[ToolKey]*ToolUsage
	users map[ToolUser]int // trajectories
}

// Tokens is what turns took. Of Input, Cached was read from a cache and Write written to
// one, WriteHour of it for an hour.
type Tokens struct {
	Input     int64 `json:"input"`
	Cached    int64 `json:"cached"`
	Write     int64 `json:"write"`
	WriteHour int64 `json:"write_hour"`
	Output    int64 `json:"output"`
}

func (t *Tokens) figures() []*int64 {
	return []*int64{&t.Input, &t.Cached, &t.Write, &t.WriteHour, &t.Output}
}

func (t *Tokens) add(o *Tokens) {
	from := o.figures()
	for i, figure := range t.figures() {
		*figure += *from[i]
	}
}

// TurnKey is what turns have in common that are added up. Days are counted from 1970, in
// UTC: Day is that of the turn, or of the trajectory's begin where it has none, which
// prices go by, and Began that of the begin.
type TurnKey struct {
	Model   string        `json:"model"`
	Agent   string        `json:"agent"`
	Outcome trace.Outcome `json:"outcome"`
	Day     int32         `json:"day"`
	Began   int32         `json:"began"`
	Paid    bool          `json:"paid"` // the turn records what it cost
}

// TurnUsage is sums over turns.
type TurnUsage struct {
	TurnKey
	Tokens
	Turns  int `json:"turns"`  // with usage
	Silent int `json:"silent"` // without: in no other figure but Calls
	Caches int `json:"caches"` // of Turns, with cached or written input
	Calls  int `json:"calls"`  // of the model, in all of these turns
	Nano   int `json:"nano"`   // what they record that they cost, in 1e-9 US dollars
}

func (u *TurnUsage) counts() []*int {
	return []*int{&u.Turns, &u.Silent, &u.Caches, &u.Calls, &u.Nano}
}

// RunKey is what trajectories have in common that are added up.
type RunKey struct {
	Model   string        `json:"model"` // of the first turn
	Sole    bool          `json:"sole"`  // it is the model of all turns
	Agent   string        `json:"agent"`
	Outcome trace.Outcome `json:"outcome"`
	Began   int32         `json:"began"`
}

// RunUsage is sums over trajectories.
type RunUsage struct {
	RunKey
	Trajectories  int `json:"trajectories"`
	NoTurns       int `json:"no_turns"`       // of these, without a turn
	Offered       int `json:"offered"`        // with the definitions of the tools offered
	Calls         int `json:"calls"`          // of the model
	TurnsUnknown  int `json:"turns_unknown"`  // of these calls, of no recorded turn
	RecordedTurns int `json:"recorded_turns"` // that record what they cost
	RecordedNano  int `json:"recorded_nano"`  // that sum, in 1e-9 US dollars
}

func (u *RunUsage) counts() []*int {
	return []*int{&u.Trajectories, &u.NoTurns, &u.Offered, &u.Calls, &u.TurnsUnknown, &u.RecordedTurns, &u.RecordedNano}
}

// ToolKey is what calls have in common that are added up: their tool, and the model, the
// day and the calls of the turn that made them. Shared is 0 for turns without a call.
type ToolKey struct {
	Tool   string `json:"tool"`
	Model  string `json:"model"`
	Day    int32  `json:"day"`
	Shared int32  `json:"shared"`
	Paid   bool   `json:"paid"` // the turn records what it cost
}

// ToolUsage is sums over calls, each with all that its turn took: a Shared-th of it is
// the call's. Only turns with usage are in it.
type ToolUsage struct {
	ToolKey
	Tokens
	Times int `json:"times"` // calls, or turns without one
	Nano  int `json:"nano"`  // what their turns record that they cost, in 1e-9 US dollars
}

// ToolUser is a tool, or what stands for turns without a call.
type ToolUser struct {
	Tool string `json:"tool"`
	None bool   `json:"none"`
}

// at returns what stands in m under a key; what is new is begun.
func at[K comparable, V any](m *map[K]*V, key K, begin func(*V)) *V {
	v := (*m)[key]
	if v == nil {
		v = new(V)
		begin(v)
		if *m == nil {
			*m = map[K]*V{}
		}
		(*m)[key] = v
	}
	return v
}

func (u *Usage) turn(k TurnKey) *TurnUsage {
	return at(&u.turns, k, func(v *TurnUsage) { v.TurnKey = k })
}

func (u *Usage) run(k RunKey) *RunUsage {
	return at(&u.runs, k, func(v *RunUsage) { v.RunKey = k })
}

func (u *Usage) tool(k ToolKey) *ToolUsage {
	return at(&u.tools, k, func(v *ToolUsage) { v.ToolKey = k })
}

func dayOf(at, otherwise time.Time) int32 {
	if at.IsZero() {
		at = otherwise
	}
	if at.IsZero() {
		return NoDay
	}
	return int32(min(max(at.Unix()/(24*60*60), math.MinInt32+1), math.MaxInt32))
}

// maxTokens is how many tokens of a turn are believed, as in an account of package cost.
const maxTokens = 1 << 30

func believed(n int64) int64 { return min(max(n, 0), maxTokens) }

// add counts the usage of one trajectory.
func (u *Usage) add(t *trace.Trajectory) {
	started := t.Started()
	began := dayOf(started, time.Time{})
	perTurn := make([]int32, len(t.Turns))
	calls, unknown := 0, 0
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel {
			continue
		}
		calls++
		if c.Turn >= 0 && c.Turn < len(t.Turns) {
			perTurn[c.Turn]++
		} else {
			unknown++
		}
	}
	first, sole := "", true
	users := map[ToolUser]bool{}
	keys := make([]ToolKey, len(t.Turns)) // of the calls of each turn, but for the tool
	took := make([]Tokens, len(t.Turns))
	cost := make([]int, len(t.Turns)) // in 1e-9 US dollars
	recorded, nano := 0, 0
	for i := range t.Turns {
		turn := &t.Turns[i]
		model := cmp.Or(turn.Model, t.Model)
		if i == 0 {
			first = model
		}
		sole = sole && model == first
		day := dayOf(turn.Start, started)
		usd := turn.Usage.CostUSD
		paid := turn.Usage.Known && usd != nil && *usd >= 0 && *usd < 1e6
		row := u.turn(TurnKey{model, t.Agent, t.Outcome, day, began, paid})
		row.Calls += int(perTurn[i])
		if paid {
			cost[i] = int(math.Round(*usd * 1e9))
			recorded++
			nano += cost[i]
			row.Nano += cost[i]
		}
		if !turn.Usage.Known {
			row.Silent++
			continue
		}
		row.Turns++
		took[i] = tokensOf(&turn.Usage)
		if took[i].Cached > 0 || took[i].Write > 0 {
			row.Caches++
		}
		row.Tokens.add(&took[i])
		keys[i] = ToolKey{Model: model, Day: day, Shared: perTurn[i], Paid: paid}
		if perTurn[i] == 0 {
			users[ToolUser{None: true}] = true
			none := u.tool(keys[i])
			none.Times++
			none.Nano += cost[i]
			none.Tokens.add(&took[i])
		}
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel || c.Turn < 0 || c.Turn >= len(t.Turns) || !t.Turns[c.Turn].Usage.Known {
			continue
		}
		key := keys[c.Turn]
		key.Tool = c.Tool.Value()
		users[ToolUser{Tool: key.Tool}] = true
		row := u.tool(key)
		row.Times++
		row.Nano += cost[c.Turn]
		row.Tokens.add(&took[c.Turn])
	}
	for user := range users {
		if u.users == nil {
			u.users = map[ToolUser]int{}
		}
		u.users[user]++
	}
	run := u.run(RunKey{first, sole, t.Agent, t.Outcome, began})
	run.Trajectories++
	if len(t.Turns) == 0 {
		run.NoTurns++
	}
	if len(t.Tools) > 0 {
		run.Offered++
	}
	run.Calls += calls
	run.TurnsUnknown += unknown
	run.RecordedTurns += recorded
	run.RecordedNano += nano
}

func tokensOf(u *trace.Usage) Tokens {
	t := Tokens{Input: believed(u.Input), Output: believed(u.Output)}
	t.Cached = min(believed(u.CachedInput), t.Input)
	t.Write = min(believed(u.CacheWrite), t.Input-t.Cached)
	if u.CacheWrite > 0 {
		t.WriteHour = int64(math.Round(float64(t.Write) * min(max(float64(u.CacheWriteHour)/float64(u.CacheWrite), 0), 1)))
	}
	return t
}

func addCounts(to, from []*int) {
	for i := range to {
		*to[i] += *from[i]
	}
}

// merge adds what o has.
func (u *Usage) merge(o *Usage) {
	for k, from := range o.turns {
		to := u.turn(k)
		to.Tokens.add(&from.Tokens)
		addCounts(to.counts(), from.counts())
	}
	for k, from := range o.runs {
		addCounts(u.run(k).counts(), from.counts())
	}
	for k, from := range o.tools {
		to := u.tool(k)
		to.Tokens.add(&from.Tokens)
		to.Times += from.Times
		to.Nano += from.Nano
	}
	for k, n := range o.users {
		if u.users == nil {
			u.users = map[ToolUser]int{}
		}
		u.users[k] += n
	}
}

// Turns returns the sums over turns, in the order of their keys.
func (u *Usage) Turns() []*TurnUsage {
	return sorted(u.turns, func(a, b *TurnUsage) int { return a.compare(b.TurnKey) })
}

// Runs returns the sums over trajectories, in the order of their keys.
func (u *Usage) Runs() []*RunUsage {
	return sorted(u.runs, func(a, b *RunUsage) int { return a.compare(b.RunKey) })
}

// Tools returns the sums over calls, in the order of their keys.
func (u *Usage) Tools() []*ToolUsage {
	return sorted(u.tools, func(a, b *ToolUsage) int { return a.compare(b.ToolKey) })
}

// Users returns how many trajectories have a turn with usage that calls each tool.
func (u *Usage) Users() map[ToolUser]int { return u.users }

func sorted[K comparable, V any](m map[K]*V, compare func(a, b *V) int) []*V {
	out := make([]*V, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	slices.SortFunc(out, compare)
	return out
}

func (k TurnKey) compare(o TurnKey) int {
	return cmp.Or(strings.Compare(k.Model, o.Model), strings.Compare(k.Agent, o.Agent), cmp.Compare(k.Outcome, o.Outcome), cmp.Compare(k.Day, o.Day), cmp.Compare(k.Began, o.Began), falseFirst(k.Paid, o.Paid))
}

func (k RunKey) compare(o RunKey) int {
	return cmp.Or(strings.Compare(k.Model, o.Model), falseFirst(k.Sole, o.Sole), strings.Compare(k.Agent, o.Agent), cmp.Compare(k.Outcome, o.Outcome), cmp.Compare(k.Began, o.Began))
}

func (k ToolKey) compare(o ToolKey) int {
	return cmp.Or(strings.Compare(k.Tool, o.Tool), strings.Compare(k.Model, o.Model), cmp.Compare(k.Day, o.Day), cmp.Compare(k.Shared, o.Shared), falseFirst(k.Paid, o.Paid))
}

func (k ToolUser) compare(o ToolUser) int {
	return cmp.Or(falseFirst(k.None, o.None), strings.Compare(k.Tool, o.Tool))
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
