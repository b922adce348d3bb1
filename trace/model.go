package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"time"
	"unique"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/bounds"
)

// Trajectory is one run of an agent on one task: what the user said, what the
// model answered turn by turn, the calls it made and what they returned.
//
// Raw fields point into the record that the trajectory was read from and are
// parsed when asked for, so a stage that wants only tool names pays for names
// only. A trajectory belongs to the consumer of the Reader; keeping one keeps
// its whole record in memory.
type Trajectory struct {
	ID     string   // as recorded, else "file:line" of its record
	Source diag.Pos // where its (first) record starts
	Offset int64    // byte offset of that record in the decompressed file, -1 if it has none
	Format string   // Name of the Format that it was read by
	Ref    Ref      // where Reader.At finds it again; zero if no Reader has read it

	Session   string // conversation it is part of, if recorded
	Folder    string // that the agent worked in, as a path of its machine, if recorded
	Parent    Parent // the trajectory that started it, for sub-agents
	Continued string // reference to the trajectory that goes on where it ends, if recorded

	Task  string // explicit task id; see TaskKey for the fallback
	Trial string // which attempt at the task, if recorded

	Relay *Relay // what a relay in front of the tools recorded of itself; nil if none did

	Agent string // name of the agent, if recorded
	Model string // model of the run; turns may name their own

	Outcome Outcome
	Score   *float64 // reward as recorded; nil if none

	Start time.Time // of the run as a whole, where recorded apart from its parts
	End   time.Time

	Tools    []ToolDef // definitions offered to the model, in recorded order
	Turns    []Turn    // one a model response, in order
	Messages []Message // what was said by others than the model, in order
	Calls    []Call    // tool calls in message order; those of one turn are adjacent

	// Anomalies counts what was wrong but readable, by code: results that answer
	// nothing, repeated call ids, arguments that are no JSON, ...
	Anomalies diag.Counts

	// Unread counts what was left out because it was not understood, by what it is and the
	// name that it has: a role, or a type of content.
	Unread map[string]int

	// Bounded is what reading left out because there was too much of it.
	Bounded []LeftOut

	// Reached notes bounds that those reach who work on the trajectory; nil if nobody
	// wants to know.
	Reached *bounds.Reached
}

// LeftOut is how much was left out beyond a bound.
type LeftOut struct {
	Bound *bounds.Bound
	Count int
}

// LeaveOut notes what reading left out.
func (t *Trajectory) LeaveOut(b *bounds.Bound, count int) {
	if count > 0 {
		t.Bounded = append(t.Bounded, LeftOut{b, count})
	}
}

// NoteBound notes what who works on the trajectory leaves out of it.
func (t *Trajectory) NoteBound(b *bounds.Bound, count int) {
	if t.Reached != nil && count > 0 {
		t.Reached.Note(b, fmt.Sprintf("%s:%d %s", t.Source.File, t.Source.Line, t.ID), count)
	}
}

// Parent names the trajectory that started a sub-agent. The zero value means none.
type Parent struct {
	Trajectory string // its ID
	Call       string // the ID of its call that did it, if known
}

// Relay is what `awo serve` recorded of itself when a session began.
type Relay struct {
	Version   string
	Arm       string   // of an experiment: ArmTreated or ArmControl; "" if there was none
	Unit      string   // what was drawn for an arm: session, token or day
	UnitID    string   // which one; "" if the session is the unit
	Share     float64  // of the units without compiled tools
	Seed      uint64   // of the draw
	MetaTools []string // that were offered, or would have been in the other arm
	Prefetch  []string // the rules of reads made ahead, or those of the other arm
}

// The arms of an experiment.
const (
	ArmTreated = "treated" // the relay with what was compiled
	ArmControl = "control" // the relay without
)

// Outcome says whether the run solved its task.
type Outcome uint8

// The outcomes. The zero value is OutcomeUnknown.
const (
	OutcomeUnknown Outcome = iota
	OutcomeSuccess
	OutcomeFailure
)

// String returns "unknown", "success" or "failure".
func (o Outcome) String() string {
	return [...]string{"unknown", "success", "failure"}[o]
}

// Name is an interned tool name: comparing two is comparing two pointers.
type Name = unique.Handle[string]

// ToolDef is a tool as it was offered to the model.
type ToolDef struct {
	Name        Name
	Description Raw
	Input       Raw  // JSON Schema of the arguments, as recorded
	Output      Raw  // JSON Schema of the result, as recorded
	Annotations Raw  // MCP annotations, as recorded
	Deferred    bool // the model reads it once a search has found it; see Trajectory.ReadFrom
}

// Turn is one model response. A turn without calls is an answer.
type Turn struct {
	FirstCall int // index into Trajectory.Calls
	NumCalls  int // 0 for an answer; more than 1 for parallel calls

	// Continued is how many responses only went on with a program of this one: they are no
	// turns, because no model decided on what they call. Their usage is in Usage.
	Continued int

	Model   string // if it differs from or is more exact than the trajectory's
	Usage   Usage
	Start   time.Time // zero if not recorded
	End     time.Time // zero if not recorded
	Text    Raw       // what the model said
	Thought Raw       // its recorded reasoning
}

// Usage is the token use of one model response. Input includes CachedInput and
// CacheWrite, Output includes Reasoning; formats that count otherwise are
// converted on reading.
type Usage struct {
	Known        bool  `json:"-"` // whether the trace recorded any usage for this turn
	Contradicted bool  `json:"-"` // while reading: the trace states a total that the counts do not add up to
	Input        int64 `json:"input"`
	CachedInput  int64 `json:"cached_input"`
	CacheWrite   int64 `json:"cache_write"`
	// CacheWriteHour is what of CacheWrite is kept for an hour and not for minutes, at a
	// price of its own.
	CacheWriteHour int64    `json:"cache_write_hour"`
	Output         int64    `json:"output"`
	Reasoning      int64    `json:"reasoning"`
	CostUSD        *float64 `json:"recorded_cost_usd"` // nil if none is recorded
}

// Role is who a Message is from.
type Role uint8

// The roles. Model responses are turns, tool results belong to calls.
const (
	RoleUser Role = iota
	RoleSystem
)

// Message is a text that came from outside the model.
type Message struct {
	Role Role
	Text Raw
	Turn int // how many turns came before it
	Call int // how many calls came before it
	Time time.Time
}

// Status is how a call ended. Many formats have no error flag, hence unknown;
// it is counted apart everywhere and never taken for success.
type Status uint8

// The statuses. The zero value is StatusUnknown.
const (
	StatusUnknown Status = iota
	StatusOK
	StatusFailed
)

// String returns "unknown", "ok" or "failed".
func (s Status) String() string {
	return [...]string{"unknown", "ok", "failed"}[s]
}

// Origin is who decided on a call. Only calls of the model enter sequence
// statistics; others add to the ok and failed counts alone.
type Origin uint8

// The origins. The zero value is OriginModel.
const (
	OriginModel    Origin = iota
	OriginCode            // made by a program that the model wrote
	OriginInertial        // predicted without a model call
	OriginMetaTool        // a step inside a meta-tool
	OriginPrefetch        // read ahead, because of what another call was answered
)

// String returns "model", "code", "inertial", "meta-tool" or "prefetch".
func (o Origin) String() string {
	return [...]string{"model", "code", "inertial", "meta-tool", "prefetch"}[o]
}

// Call is one tool call with its result.
type Call struct {
	ID   string // as recorded; may repeat inside a trajectory
	Tool Name
	Turn int // index into Trajectory.Turns, -1 if no turns are recorded; parallel calls share it

	Args      Raw  // as recorded; ArgsValue gives the object
	Result    Raw  // as recorded
	HasResult bool // false if the trace ends before the answer, or lost it
	Status    Status
	// StatusFrom is what the status was read from where the format has no flag for
	// it: ByRule, or the name of a pattern of package failure; "" as recorded.
	StatusFrom string
	Error      Raw // error text where the format keeps it apart from the result

	Origin Origin
	// By names what made the call where no model did, as far as that is recorded: the
	// meta-tool of a step, the rule of a read made ahead. Such a call stands behind the
	// call that it was made for, in its turn. A call of the model has it after
	// Trajectory.Expand only.
	By string
	// AnsweredBy is who answered in the place of the tool: OriginMetaTool for the call of
	// one, OriginPrefetch or OriginInertial from what was read ahead; else OriginModel.
	AnsweredBy Origin
	Attached   Raw // what a relay put behind the result for the model to read

	AfterUser bool // a user message came between this call and the one before it
	Start     time.Time
	End       time.Time

	// Context is what the agent stood on when it called, such as the current
	// url: name and value, in recorded order.
	Context []ContextValue

	// Parsed is Args and Result as values, where Trajectory.Parse has parsed them for several
	// readers; else nil.
	Parsed *Parsed
}

// ContextValue is one named piece of a call's context.
type ContextValue struct {
	Name  string
	Value string
}

// ArgsMissing reports whether the format recorded that a call was made but not
// its arguments (OpenTelemetry without content, for example).
func (c *Call) ArgsMissing() bool { return c.Args.IsZero() }

// IsParallel reports whether the model made several calls in a turn. What a program of the
// turn calls is none of them.
func (t *Trajectory) IsParallel(turn int) bool {
	n, first := 0, t.Turns[turn].FirstCall
	for i := first; i < first+t.Turns[turn].NumCalls && n < 2; i++ {
		if t.Calls[i].Origin == OriginModel {
			n++
		}
	}
	return n > 1
}

// UserMessages yields the messages of the user, in order.
func (t *Trajectory) UserMessages() iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		for i := range t.Messages {
			if m := &t.Messages[i]; m.Role == RoleUser && !yield(m) {
				return
			}
		}
	}
}

// TaskKey returns what names the task of t, so that all trials of a task are
// known for the same: the recorded task id, else a hash of the first user
// message, else a hash of what was called.
func (t *Trajectory) TaskKey() string {
	if t.Task != "" {
		return t.Task
	}
	for m := range t.UserMessages() {
		if !m.Text.IsZero() {
			sum := sha256.Sum256(m.Text.Content())
			return "user:" + hex.EncodeToString(sum[:8])
		}
	}
	h := sha256.New()
	var room []byte
	for i := range t.Calls {
		c := &t.Calls[i]
		room = append(append(room[:0], textOf(c.Tool)...), 0)
		h.Write(append(c.AppendCanonicalArgs(room), 0))
	}
	return "calls:" + hex.EncodeToString(h.Sum(nil)[:8])
}

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

// Expand reads the calls of meta-tools as if the model had made their steps one by one: a
// call of the model with steps behind it is left out, and each step is a call of the
// model in a turn of its own, with the name of the meta-tool as By. Calls of meta-tools
// that made no step are left out, and so are the definitions of all that the relay
// offered. It returns how many calls were left out.
func (t *Trajectory) Expand() int {
	isMeta := map[Name]bool{}
	if t.Relay != nil {
		for _, name := range t.Relay.MetaTools {
			isMeta[Intern([]byte(name))] = true
		}
	}
	drop := make([]bool, len(t.Calls))
	expanded, model := 0, -1
	for i := range t.Calls {
		c := &t.Calls[i]
		switch {
		case c.Origin == OriginModel:
			model = i
			drop[i] = c.AnsweredBy == OriginMetaTool
		case c.Origin == OriginMetaTool && model >= 0 && t.Calls[model].Turn == c.Turn:
			drop[model] = true
		}
	}
	for i := range drop {
		switch c := &t.Calls[i]; {
		case drop[i]:
			isMeta[c.Tool] = true
			expanded++
		case c.Origin == OriginModel:
			delete(isMeta, c.Tool) // a server has a tool of that name
		}
	}
	if len(isMeta) > 0 {
		t.Tools = slices.DeleteFunc(slices.Clone(t.Tools), func(d ToolDef) bool { return isMeta[d.Name] })
	}
	if expanded > 0 {
		t.unfold(drop)
	}
	return expanded
}

// unfold leaves out calls and gives the steps behind them turns of their own.
func (t *Trajectory) unfold(drop []bool) {
	var (
		calls    = make([]Call, 0, len(t.Calls))
		turns    = make([]Turn, 0, len(t.Turns))
		callAt   = make([]int, len(t.Calls)+1) // where a call goes
		turnAt   = make([]int, len(t.Turns)+1) // where a turn goes
		steps    = false                       // the calls are steps of one that was left out
		of       = ""                          // its name
		lastTurn = -1
		user     = false // the user spoke before a call that was left out

		apart, afterStep bool // the call begins a turn; the one before it was a step
	)
	begin := func(turn Turn) {
		turn.FirstCall, turn.NumCalls = len(calls), 0
		turns = append(turns, turn)
	}
	next := 0 // turn that has not begun
	for i := range t.Calls {
		c := t.Calls[i]
		for next <= c.Turn {
			turnAt[next] = len(turns)
			begin(t.Turns[next])
			next++
		}
		if c.Turn != lastTurn || c.Origin == OriginModel {
			afterStep = afterStep && c.Turn == lastTurn
			steps, lastTurn = false, c.Turn
		}
		callAt[i] = len(calls)
		if drop[i] {
			steps, of, user = true, c.Tool.Value(), user || c.AfterUser
			continue
		}
		c.AfterUser = c.AfterUser || user
		user = false
		if steps && c.Origin == OriginMetaTool {
			c.Origin, c.By = OriginModel, of
			apart = true
		} else if c.Origin == OriginModel {
			apart = afterStep
		}
		if c.Turn >= 0 && apart && turns[len(turns)-1].NumCalls > 0 {
			begin(Turn{})
		}
		apart, afterStep = false, c.By != "" && c.Origin == OriginModel || afterStep && c.Origin != OriginModel
		if c.Turn >= 0 {
			c.Turn = len(turns) - 1
			turns[c.Turn].NumCalls++
		}
		calls = append(calls, c)
	}
	for ; next < len(t.Turns); next++ {
		turnAt[next] = len(turns)
		begin(t.Turns[next])
	}
	turnAt[len(t.Turns)], callAt[len(t.Calls)] = len(turns), len(calls)
	t.Messages = slices.Clone(t.Messages)
	for i := range t.Messages {
		m := &t.Messages[i]
		m.Turn, m.Call = turnAt[min(m.Turn, len(t.Turns))], callAt[min(m.Call, len(t.Calls))]
	}
	t.Calls, t.Turns = calls, turns
}

// Problem codes of anomalies that the Tally reports as figures of their own.
const (
	CodeOrphanResult = "result-orphan"        // a result that answers no call
	CodeRecordingCut = "recording-incomplete" // one that could not be written to its end, as it says itself
	CodeTurnsAssumed = "turns-assumed"        // a turn that is not recorded but assumed from times
)

// Add sums token counts; the sum is known as soon as one part is.
func (u *Usage) Add(v Usage) {
	u.Known = u.Known || v.Known
	u.Input += v.Input
	u.CachedInput += v.CachedInput
	u.CacheWrite += v.CacheWrite
	u.CacheWriteHour += v.CacheWriteHour
	u.Output += v.Output
	u.Reasoning += v.Reasoning
	if v.CostUSD != nil {
		sum := *v.CostUSD
		if u.CostUSD != nil {
			sum += *u.CostUSD
		}
		u.CostUSD = &sum
	}
}

// Span returns the earliest and the latest time recorded in t, zero times if there is
// none.
func (t *Trajectory) Span() (first, last time.Time) {
	note := func(at time.Time) {
		if at.IsZero() {
			return
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	note(t.Start)
	note(t.End)
	for i := range t.Turns {
		note(t.Turns[i].Start)
		note(t.Turns[i].End)
	}
	for i := range t.Messages {
		note(t.Messages[i].Time)
	}
	for i := range t.Calls {
		note(t.Calls[i].Start)
		note(t.Calls[i].End)
	}
	return first, last
}

// Started returns the earliest time recorded in t, the zero time if there is none.
func (t *Trajectory) Started() time.Time {
	first, _ := t.Span()
	return first
}
