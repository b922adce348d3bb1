// Package atif reads and writes the Agent Trajectory Interchange Format, to which awo
// converts every other: Append writes all that a trajectory holds, and reading it
// back gives the same trajectory.
//
// A document comes in and its trajectories go out, or the other way round. It is
// O(record).
package atif

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/maps"
)

// Format reads the Agent Trajectory Interchange Format, versions 1.0 to 1.7
// (Harbor's RFC 0001), which is also what Append writes. A record is one
// trajectory, and one more for each that is embedded in subagent_trajectories,
// whose Parent is the trajectory it is embedded in and the call whose result
// refers to it.
//
//   - An agent step is a turn. One with llm_call_count 0 is none: its calls were
//     made by a program. One with more than 1 stays one turn and is counted.
//   - A result belongs to the call of its own step with the id in source_call_id,
//     else to the oldest unanswered call with it. Results without an id belong to
//     the step's unanswered calls if there are as many, else to none.
//   - Steps with is_copied_context belong to another trajectory and are left out.
//   - The timestamp of an agent step is the start of its turn.
//
// The format has no error flag, no task and no outcome; those that awo writes are
// in members "awo" of the objects "extra".
var Format = trace.Format{
	Name:   "atif",
	Doc:    "Agent Trajectory Interchange Format 1.0 to 1.7 (Harbor); what awo itself writes.",
	Spec:   "https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md",
	Detect: maps.Detect("atif"),
	Decode: decodeATIF,
}

func decodeATIF(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	d := atifDecoder{b: build.NewRecord(r), step: &atifStep{}}
	shape := d.trajectory(&c)
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	if shape != "" {
		return nil, diag.New(r.Pos(), build.CodeRecordShape, "%s", shape)
	}
	d.b.Anomaly(build.CodeLoneSurrogate, c.LoneSurrogates())
	if d.b.Trajectory.ID == "" && len(d.embedded) > 0 {
		// The Reader would name it too late for those that refer to it.
		d.b.Trajectory.ID = r.File + ":" + strconv.Itoa(r.Line) + ":" + strconv.Itoa(max(r.Col, 1))
	}
	return d.appendFragments(nil), nil
}

// appendFragments appends the trajectory of d and those embedded in it.
func (d *atifDecoder) appendFragments(fragments []trace.Fragment) []trace.Fragment {
	t := d.b.Trajectory
	// Reading has found some of what was odd in the original again.
	for code, n := range d.recorded {
		d.b.Anomaly(code, max(0, n-t.Anomalies.ByCode[code]))
	}
	fragments = append(fragments, trace.Fragment{Trajectory: d.b.Finish()})
	starter := map[string]int{}
	for _, s := range slices.Backward(d.started) {
		starter[s.trajectory] = s.call
	}
	for _, sub := range d.embedded {
		if s := sub.b.Trajectory; s.Parent == (trace.Parent{}) {
			s.Parent.Trajectory = t.ID
			if call, ok := starter[s.ID]; ok && s.ID != "" {
				s.Parent.Call = t.Calls[call].ID
			}
		}
		fragments = sub.appendFragments(fragments)
	}
	return fragments
}

// atifDecoder reads one trajectory document.
type atifDecoder struct {
	b        *build.Builder
	step     *atifStep // the current one
	started  []startedBy
	embedded []*atifDecoder
	recorded map[string]int // anomalies that awo wrote down
	steps    int
}

// startedBy says which call refers to a sub-agent.
type startedBy struct {
	trajectory string
	call       int
}

// trajectory passes over a trajectory document, and returns what it lacks if it
// is none. Embedded documents that lack something are counted and left out.
func (d *atifDecoder) trajectory(c *jsonscan.Cursor) (shape string) {
	b, t := d.b, d.b.Trajectory
	if !c.Object() {
		return "this record is no object"
	}
	var seen build.Members
	var stated int64 // how many steps it says that it has
	shape = `this record has no member "schema_version" that begins with "ATIF-"`
	for c.Member() {
		switch string(c.Key()) {
		case "schema_version":
			seen.Note(b, "schema_version")
			if text, _ := c.Text(); bytes.HasPrefix(text, []byte("ATIF-")) {
				shape = ""
			}
		case "session_id":
			seen.Note(b, "session_id")
			t.Session = b.ReadID(c)
		case "trajectory_id":
			seen.Note(b, "trajectory_id")
			t.ID = b.ReadID(c)
		case "continued_trajectory_ref":
			seen.Note(b, "continued_trajectory_ref")
			t.Continued = b.ReadID(c)
		case "agent":
			seen.Note(b, "agent")
			t.Agent, t.Model, t.Tools = "", "", nil
			d.agent(c)
		case "steps":
			if seen.Note(b, "steps") {
				b.Restart()
				d.started, d.steps = nil, 0
			}
			for ok := c.Array(); ok && c.Element(); {
				d.readStep(c)
				d.steps++
			}
		case "final_metrics":
			seen.Note(b, "final_metrics")
			totals := c.Raw()
			b.Stated.Usage = build.ReadUsage(totals, &build.UsageATIF)
			n := jsonscan.New(build.MemberRaw(totals, "total_steps"))
			stated, _ = n.Int()
		case "subagent_trajectories":
			seen.Note(b, "subagent_trajectories")
			d.subagents(c)
		case "extra":
			build.EachOwn(c, func(key string) { d.own(key, c) })
		}
	}
	if shape == "" && !seen.Has("steps") {
		shape = `this trajectory has no list "steps"`
	}
	if t.ID == "" {
		t.ID = t.Session
	}
	if stated > int64(d.steps) {
		b.Anomaly(build.CodeStepsMissing, 1)
	}
	return shape
}

// subagents reads the trajectories that are embedded in this one.
func (d *atifDecoder) subagents(c *jsonscan.Cursor) {
	d.embedded = nil
	for ok := c.Array(); ok && c.Element(); {
		sub := &atifDecoder{b: d.b.Another(), step: d.step}
		if sub.trajectory(c) != "" {
			d.b.Anomaly(build.CodeMessageShape, 1)
			continue
		}
		d.embedded = append(d.embedded, sub)
	}
}

func (d *atifDecoder) agent(c *jsonscan.Cursor) {
	b := d.b
	unnamed := false
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "name":
			b.Trajectory.Agent = b.ReadID(c)
		case "model_name":
			b.Trajectory.Model = b.ReadID(c)
		case "tool_definitions":
			b.Trajectory.Tools = b.ReadTools(c)
		case "extra":
			build.EachOwn(c, func(key string) {
				if key == "unnamed" {
					unnamed, _ = c.Bool()
				}
			})
		}
	}
	if unnamed {
		b.Trajectory.Agent = ""
	}
}

// own reads what awo wrote about a trajectory.
func (d *atifDecoder) own(key string, c *jsonscan.Cursor) {
	b, t := d.b, d.b.Trajectory
	switch key {
	case "task":
		t.Task = b.ReadID(c)
	case "trial":
		t.Trial = b.ReadID(c)
	case "outcome":
		switch text, _ := c.Text(); string(text) {
		case "success":
			t.Outcome = trace.OutcomeSuccess
		case "failure":
			t.Outcome = trace.OutcomeFailure
		}
	case "score":
		if score, ok := c.Float(); ok {
			t.Score = &score
		}
	case "start":
		t.Start = b.ReadTime(c)
	case "end":
		t.End = b.ReadTime(c)
	case "parent":
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "trajectory":
				t.Parent.Trajectory = b.ReadID(c)
			case "call":
				t.Parent.Call = b.ReadID(c)
			}
		}
	case "anomalies":
		for ok := c.Object(); ok && c.Member(); {
			code := c.Key()
			if n, ok := c.Int(); ok && n > 0 && n < 1<<31 && isCode(code) {
				if d.recorded == nil {
					d.recorded = map[string]int{}
				}
				d.recorded[string(code)] = int(n)
			}
		}
	}
}

// isCode reports whether text can be a problem code: these are printed.
func isCode(text []byte) bool {
	for _, b := range text {
		if b != '-' && (b < 'a' || b > 'z') && (b < '0' || b > '9') {
			return false
		}
	}
	return len(text) > 0 && len(text) <= 40
}
