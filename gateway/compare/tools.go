package compare

import (
	"regexp"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// Tool is what became of one meta-tool.
type Tool struct {
	Name       string         `json:"name"`
	Advice     Advice         `json:"advice"`
	Reason     string         `json:"reason"`
	Sessions   int            `json:"sessions"`        // of the treated arm
	Used       int            `json:"used_sessions"`   // of these, with a use
	Wanted     int            `json:"wanted_sessions"` // with a use or a place: an agent had reason to call it
	Uses       int            `json:"uses"`
	Completed  int            `json:"completed"`
	Completion stat.Interval  `json:"completion_interval"`
	HandBacks  map[string]int `json:"hand_backs"`     // uses that ended early, by code
	Repeated   int            `json:"repeated_uses"`  // uses after which the agent made a call again that the use had made
	Repeats    int            `json:"repeated_calls"` // such calls
	Saved      int            `json:"turns_saved"`    // the steps of completed uses less one, less Repeats; an upper bound

	// Places are where the calls were made one by one; 0 without a function that finds
	// them. Control is those of the control arm, in ControlSessions.
	Places          int `json:"places"`
	ControlSessions int `json:"control_sessions"`
	Control         int `json:"control_places"`
	// OverUse is by how much a session with the meta-tool has more uses and places
	// together than one of control has places.
	OverUse stat.Interval `json:"over_use_interval"`

	byUnit map[*session][2]int // uses and places
}

// handedBack finds the code in the words of the gateway.
var handedBack = regexp.MustCompile(`^Handed back (?:before the first step|at step \d+ of \d+ \([^\n]{0,200}?\)): ([a-z-]{1,40})`)

// codes are those that a meta-tool is handed back with.
var codes = []string{
	execute.CodeBadInput, execute.CodeNothingBound, execute.CodeCallFailed, execute.CodeNoAnswer, execute.CodeDeadline,
	execute.CodeUnexpected, execute.CodeTooManyCalls, "denied",
}

// otherCode stands for what no code is known for.
const otherCode = "other"

func codeOf(c *trace.Call) string {
	text := c.Result.Text()
	if m := handedBack.FindStringSubmatch(text[:min(len(text), 512)]); m != nil && slices.Contains(codes, m[1]) {
		return m[1]
	}
	return otherCode
}

// use is one call of a meta-tool in a session.
type use struct {
	tool  *Tool
	steps map[string]bool // calls that it made, but for those that failed
	again bool
}

// key is what equal calls have in common.
func key(c *trace.Call) string {
	args, _ := c.ArgsValue()
	return string(args.AppendCanonical([]byte(c.Tool.Value() + "\x00")))
}

// addUses counts the uses of meta-tools in a session of the treated arm.
func (c *Comparison) addUses(t *trace.Trajectory, s *session) {
	var uses []*use
	for i := 0; i < len(t.Calls); i++ {
		call := &t.Calls[i]
		if call.Origin != trace.OriginModel {
			continue
		}
		end := i + 1
		for end < len(t.Calls) && t.Calls[end].Origin != trace.OriginModel && t.Calls[end].Turn == call.Turn {
			end++
		}
		steps := t.Calls[i+1 : end]
		isStep := func(c trace.Call) bool { return c.Origin == trace.OriginMetaTool }
		if call.AnsweredBy != trace.OriginMetaTool && !slices.ContainsFunc(steps, isStep) {
			k := key(call)
			for _, u := range uses {
				if !u.steps[k] {
					continue
				}
				delete(u.steps, k) // once is enough
				u.tool.Repeats++
				u.tool.Saved--
				if !u.again {
					u.tool.Repeated++
					u.again = true
				}
			}
			continue
		}
		u := &use{tool: c.tool(call.Tool.Value()), steps: map[string]bool{}}
		made := 0
		for k := range steps {
			if isStep(steps[k]) {
				if steps[k].Status != trace.StatusFailed { // what failed may well be tried again
					u.steps[key(&steps[k])] = true
				}
				made++
			}
		}
		uses = append(uses, u)
		s.uses[u.tool.Name]++
		u.tool.Uses++
		if call.Status == trace.StatusFailed || !call.HasResult {
			u.tool.HandBacks[codeOf(call)]++
		} else {
			u.tool.Completed++
			u.tool.Saved += max(made-1, 0)
		}
	}
}

// Rule is what became of one rule of reads ahead. Of reads that are attached to an answer
// nobody sees whether they were used; of the others, a call that asks for the same says so.
type Rule struct {
	ID       string `json:"id"`
	Advice   Advice `json:"advice"`
	Reason   string `json:"reason"`
	Sessions int    `json:"sessions"` // of the treated arm
	Reads    int    `json:"reads"`
	Failed   int    `json:"failed"`
	Attached int    `json:"attached"`
	InVain   int    `json:"asked_again"` // of Attached: the agent asked all the same
	Held     int    `json:"held_back"`   // not attached
	Asked    int    `json:"asked_for"`   // of Held: the agent asked for it later
	// Precision is how often reads that were not attached are asked for, Promised how
	// often they should be.
	Precision stat.Figure   `json:"precision"`
	Interval  stat.Interval `json:"precision_interval"`
	Promised  stat.Figure   `json:"promised"`
}

// addReads counts reads that were made ahead in a session.
func (c *Comparison) addReads(t *trace.Trajectory) {
	type ahead struct {
		rule     *Rule
		attached bool
	}
	open := map[string]ahead{}
	for i := range t.Calls {
		call := &t.Calls[i]
		k := key(call)
		if call.Origin == trace.OriginModel {
			if a, ok := open[k]; ok {
				delete(open, k)
				if a.attached {
					a.rule.InVain++
				} else {
					a.rule.Asked++
				}
			}
			continue
		}
		if call.Origin != trace.OriginPrefetch {
			continue
		}
		r := c.rule(call.By)
		r.Reads++
		if call.Status == trace.StatusFailed || !call.HasResult {
			r.Failed++
			continue
		}
		a := ahead{rule: r, attached: isAttached(t, i)}
		if a.attached {
			r.Attached++
		} else {
			r.Held++
		}
		open[k] = a
	}
}

// isAttached reports whether the read at i was put behind the answer of the call that it
// was made for.
func isAttached(t *trace.Trajectory, i int) bool {
	read, of := &t.Calls[i], i
	for of >= 0 && t.Calls[of].Origin != trace.OriginModel {
		of--
	}
	if of < 0 || t.Calls[of].Attached.IsZero() {
		return false
	}
	text, err := trace.ParseValue([]byte(t.Calls[of].Attached.Text()))
	if err != nil {
		return false
	}
	args, _ := read.ArgsValue()
	for _, e := range text.Member("read_ahead").Elems {
		if e.Member("tool").Text == read.Tool.Value() && e.Member("arguments").Equal(args) {
			return true
		}
	}
	return false
}
