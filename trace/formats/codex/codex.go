// Package codex reads the rollout files that Codex records.
//
// A line comes in as a fragment; a session is joined from them. It is O(session).
package codex

import (
	"cmp"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/maps"
)

// Format reads the rollout files of Codex, one event a line: a file is a
// trajectory. The items of a model response stand on lines of their own; a
// response ends at its token count, or else before the next result or message of
// the user. What a command returned says whether it failed where it has an exit
// code. What a session was forked from and what the user took back is left out.
//
// It keeps the lines of a file.
var Format = trace.Format{
	Name:     "codex",
	Doc:      "Rollout files of Codex (~/.codex/sessions), sub-agents and forks included.",
	Spec:     "https://github.com/openai/codex/tree/main/codex-rs/rollout",
	Detect:   maps.Detect("codex"),
	Decode:   decodeCodex,
	Assemble: assembleCodex,
}

// codexSession is what the first line says.
type codexSession struct {
	id, session, forkedFrom, parent string
	instructions                    trace.Raw
	model, folder                   string
}

func decodeCodex(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	l := readCodexLine(&c)
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	if !l.matters() {
		return nil, nil
	}
	return []trace.Fragment{{Key: r.File, Data: r.Data, Pos: r.Pos()}}, nil
}

// codexDecoder puts the lines of a file together.
type codexDecoder struct {
	b       *build.Builder
	inTurn  bool
	model   string      // of the responses that follow
	total   string      // token counts at the last response, as written
	so      trace.Usage // the same, read
	started bool
	calls   map[string]int     // the last call with an id
	printed map[int]*codexLine // by call: the event with what it put out
	// before says that the counts of a response stand before what it says, as before
	// version 0.101; waiting are those whose response has not begun.
	before  bool
	waiting trace.Usage
}

func assembleCodex(file string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	var lines []codexLine
	lone := 0
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		l := readCodexLine(&c)
		l.part = i
		lone += c.LoneSurrogates()
		lines = append(lines, l)
	}
	d := codexDecoder{b: build.NewJoined("codex", parts), calls: map[string]int{}, printed: map[int]*codexLine{}}
	t := d.b.Trajectory
	d.b.Anomaly(build.CodeLoneSurrogate, lone)
	lines, copied := withoutCopies(lines)
	d.b.Anomaly(build.CodeLineCopied, copied)
	lines, takenBack := withoutRolledBack(lines)
	d.b.Anomaly(build.CodeBranchAbandoned, takenBack)
	d.before = countsBefore(lines)
	for i := range lines {
		d.line(&lines[i])
	}
	d.fill()
	if d.waiting.Known {
		d.b.Anomaly(build.CodeUsageUnplaced, 1)
	}
	if t.ID == "" {
		t.ID = trace.PartName(file, 0)
	}
	build.ClearTurnModels(t)
	return []*trace.Trajectory{d.b.Finish()}, nil
}

// withoutCopies leaves out what a forked session has copied from another: all
// before its first turn. Turns and sessions have ids that begin with their time,
// so that a turn of another session is older than this one.
func withoutCopies(lines []codexLine) ([]codexLine, int) {
	first := -1
	for i := range lines {
		if lines[i].kind == "session_meta" {
			first = i
			break
		}
	}
	if first < 0 || lines[first].item.session.forkedFrom == "" {
		return lines, 0
	}
	id := lines[first].item.session.id
	for i := first + 1; i < len(lines); i++ {
		l := &lines[i]
		begins := l.kind == "turn_context" || l.item.kind == "task_started" || l.item.kind == "turn_started"
		if begins && len(l.item.callID) == len(id) && string(l.item.callID) > id {
			return append(lines[:first+1:first+1], lines[i:]...), i - first - 1
		}
	}
	return lines, 0
}

// countsBefore reports whether the token counts of a response stand before what it says.
// The first of them does then, and most of the others do not follow anything that the
// model said or called.
func countsBefore(lines []codexLine) bool {
	total, first, said, last := "", true, false, false // last: the line before is the model's
	votes := 0
	for i := range lines {
		switch it := &lines[i].item; {
		case lines[i].kind == "event_msg" && it.kind == "token_count":
			if !it.usage.Known || it.total != "" && it.total == total {
				continue
			}
			if total = it.total; first && said {
				return false
			}
			first = false
			if votes++; last {
				votes -= 2
			}
		case lines[i].kind == "response_item":
			last = it.kind == "reasoning" || it.kind == "message" && it.role == "assistant" || strings.HasSuffix(it.kind, "_call")
			said = said || last
		}
	}
	return votes > 0
}

// withoutRolledBack leaves out the turns of the user that were taken back.
func withoutRolledBack(lines []codexLine) ([]codexLine, int) {
	kept := lines[:0:0]
	takenBack := 0
	var users []int // where the user spoke, in kept
	for i := range lines {
		l := lines[i]
		if l.kind == "event_msg" && l.item.kind == "thread_rolled_back" {
			n := min(max(l.item.rolledBack, 0), int64(len(users)))
			if n > 0 {
				at := users[len(users)-int(n)]
				users = users[:len(users)-int(n)]
				takenBack += len(kept) - at
				kept = kept[:at]
			}
			continue
		}
		if l.byUser() {
			users = append(users, len(kept))
		}
		kept = append(kept, l)
	}
	return kept, takenBack
}

// line adds a line to the trajectory.
func (d *codexDecoder) line(l *codexLine) {
	if l.badTime {
		d.b.Anomaly(build.CodeTimeInvalid, 1)
	}
	switch l.kind {
	case "session_meta":
		if !d.started {
			d.started = true
			d.begin(l)
		}
	case "turn_context":
		if l.item.session.model != "" {
			d.model = l.item.session.model
			d.b.Trajectory.Model = cmp.Or(d.b.Trajectory.Model, d.model)
		}
	case "compacted":
		d.inTurn = false
		d.b.Message(trace.RoleSystem, l.item.content.OrAbsent()).Time = l.at
	case "event_msg":
		d.event(l)
	default:
		d.responseItem(l)
	}
}

// begin reads what the first line says about the session.
func (d *codexDecoder) begin(l *codexLine) {
	t, s := d.b.Trajectory, &l.item.session
	t.ID, t.Session, t.Start = s.id, cmp.Or(s.session, s.id), l.at
	t.Model, t.Folder = s.model, s.folder
	if s.parent != s.id {
		t.Parent.Trajectory = s.parent
	}
	if !s.instructions.IsEmpty() {
		d.b.Message(trace.RoleSystem, s.instructions).Time = l.at
	}
	if l.item.tools != nil {
		c := jsonscan.New(l.item.tools)
		t.Tools = d.b.ReadTools(&c)
	}
}

func (d *codexDecoder) event(l *codexLine) {
	it := &l.item
	switch it.kind {
	case "turn_aborted":
		d.inTurn = false
		d.b.Anomaly(build.CodeTurnAborted, 1)
	case "token_count":
		d.count(it)
	case "mcp_tool_call_end", "exec_command_end", "patch_apply_end":
		d.ran(l)
	}
}

// count gives the response that has ended its token counts. Events that only
// repeat them, as those about limits do, end nothing.
func (d *codexDecoder) count(it *codexItem) {
	if !it.usage.Known || it.total != "" && it.total == d.total {
		return
	}
	d.total = it.total
	d.compare(it)
	if d.before {
		if d.waiting.Known {
			d.b.Anomaly(build.CodeUsageUnplaced, 1)
		}
		d.waiting, d.inTurn = it.usage, false
		return
	}
	turns := d.b.Trajectory.Turns
	if len(turns) == 0 || turns[len(turns)-1].Usage.Known {
		d.b.Anomaly(build.CodeUsageUnplaced, 1)
		return
	}
	turns[len(turns)-1].Usage = it.usage
	d.inTurn = false
}

// compare compares the token counts of a response with what the session's total grew by.
func (d *codexDecoder) compare(it *codexItem) {
	total := build.ReadUsage([]byte(it.total), &build.UsageResponses)
	input, output := total.Input-d.so.Input, total.Output-d.so.Output
	if d.so.Known && total.Known && min(input, output) >= 0 && (input != it.usage.Input || output != it.usage.Output) {
		d.b.Anomaly(build.CodeUsageSum, 1)
	}
	d.so = total
}

// responseItem adds an item of the Responses API.
func (d *codexDecoder) responseItem(l *codexLine) {
	b, it := d.b, &l.item
	switch it.kind {
	case "message":
		switch it.role {
		case "assistant":
			turn := d.turn(l.at)
			if text := it.content.OrAbsent(); !text.IsZero() {
				turn.Text = build.JoinTexts(turn.Text, text)
			}
		case "user":
			d.inTurn = false
			role := trace.RoleSystem
			if l.byUser() {
				role = trace.RoleUser
			}
			b.Message(role, it.content.OrAbsent()).Time = l.at
		case "developer", "system":
			b.Message(trace.RoleSystem, it.content.OrAbsent()).Time = l.at
		default:
			b.Anomaly(build.CodeMessageRole, 1)
		}
	case "reasoning":
		turn := d.turn(l.at)
		if thought := recordedThought(it); !thought.IsZero() {
			turn.Thought = build.JoinTexts(turn.Thought, thought)
		}
	case "compaction", "compaction_summary", "context_compaction", "ghost_snapshot", "other":
	default:
		if strings.HasSuffix(it.kind, "_output") {
			d.output(l)
			return
		}
		if strings.HasSuffix(it.kind, "_call") {
			d.call(l)
			return
		}
		b.Anomaly(build.CodeMessageShape, 1)
	}
}

// recordedThought returns the reasoning of an item: its text where that is recorded,
// else the summary.
func recordedThought(it *codexItem) trace.Raw {
	for _, r := range []trace.Raw{it.content, it.thought} {
		if r = r.OrAbsent(); !r.IsZero() && r.TextLen() > 0 {
			return r
		}
	}
	return trace.Raw{}
}

// turn returns the response that is going on, or begins one.
func (d *codexDecoder) turn(at time.Time) *trace.Turn {
	if !d.inTurn {
		turn := d.b.Turn()
		turn.Model, turn.Start, turn.Usage = d.model, at, d.waiting
		d.inTurn, d.waiting = true, trace.Usage{}
	}
	turn := &d.b.Trajectory.Turns[len(d.b.Trajectory.Turns)-1]
	turn.End = at
	return turn
}
