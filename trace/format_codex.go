package trace

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatCodex reads the rollout files of Codex, one event a line: a file is a
// trajectory. The items of a model response stand on lines of their own; a
// response ends at its token count, or else before the next result or message of
// the user. What a command returned says whether it failed where it has an exit
// code. What a session was forked from and what the user took back is left out.
//
// It keeps the lines of a file.
var formatCodex = Format{
	Name:     "codex",
	Doc:      "Rollout files of Codex (~/.codex/sessions), sub-agents and forks included.",
	Spec:     "https://github.com/openai/codex/tree/main/codex-rs/rollout",
	Detect:   detectCodex,
	Decode:   decodeCodex,
	Assemble: assembleCodex,
}

// Oddities of rollout files.
const (
	CodeTurnAborted   = "turn-aborted"   // a turn that the user interrupted
	CodeUsageUnplaced = "usage-unplaced" // token counts of a response that is not recorded: left out
)

// codexLine is a line with what is read of it.
type codexLine struct {
	kind    string // of the line
	item    codexItem
	at      time.Time
	badTime bool
	part    int
}

// codexItem is the payload of a line.
type codexItem struct {
	kind, role, status string
	id, callID         []byte
	name               []byte
	content            Raw // of a message
	args, output       Raw
	thought            Raw
	usage              Usage
	total              string // token counts up to here, as written
	rolledBack         int64
	state              Status // of a call, by an event about it
	session            codexSession
	tools              []byte
}

// codexSession is what the first line says.
type codexSession struct {
	id, session, forkedFrom, parent string
	instructions                    Raw
	model                           string
}

func decodeCodex(r Record) ([]Fragment, error) {
	c := jsonscan.New(r.Data)
	l := readCodexLine(&c)
	if err := c.End(); err != nil {
		return nil, scanError(r, err)
	}
	if !l.matters() {
		return nil, nil
	}
	return []Fragment{{Key: r.File, Data: r.Data, Pos: r.Pos()}}, nil
}

// matters reports whether anything of a line is used.
func (l *codexLine) matters() bool {
	switch l.kind {
	case "session_meta", "turn_context", "compacted":
		return true
	case "response_item":
		return l.item.kind != ""
	case "event_msg":
		switch l.item.kind {
		case "token_count", "turn_aborted", "thread_rolled_back", "task_started", "turn_started", "mcp_tool_call_end", "exec_command_end", "patch_apply_end":
			return true
		}
	}
	return false
}

// readCodexLine reads a line: an item in its envelope, or, of the first versions,
// without one.
func readCodexLine(c *jsonscan.Cursor) (l codexLine) {
	if !c.Object() {
		return l
	}
	enveloped := false
	var bare codexItem
	var stamp []byte
	for c.Member() {
		switch string(c.Key()) {
		case "type":
			text, _ := c.Text()
			l.kind = string(text)
			bare.kind = l.kind
		case "timestamp":
			stamp, _ = c.Text()
		case "payload":
			enveloped = true
			l.item = codexItem{}
			for ok := c.Object(); ok && c.Member(); {
				l.item.member(c)
			}
		default:
			bare.member(c)
		}
	}
	if len(stamp) > 0 {
		l.at, l.badTime = parseStamp(stamp)
	}
	switch {
	case enveloped:
	case l.kind != "":
		l.kind, l.item = "response_item", bare
	case len(bare.id) > 0:
		l.kind, l.item = "session_meta", bare
	}
	return l
}

// member reads a member of a payload.
func (it *codexItem) member(c *jsonscan.Cursor) {
	text := func() string {
		s, _ := c.Text()
		return string(s)
	}
	switch string(c.Key()) {
	case "type":
		it.kind = text()
	case "id":
		it.id, _ = c.Text()
		it.session.id = string(it.id)
	case "session_id":
		it.session.session = text()
	case "forked_from_id":
		it.session.forkedFrom = text()
	case "parent_thread_id":
		if parent := text(); parent != "" {
			it.session.parent = parent
		}
	case "source":
		it.source(c)
	case "base_instructions", "instructions":
		it.instructions(c)
	case "dynamic_tools":
		it.tools = c.Raw()
	case "model":
		it.session.model = text()
	case "turn_id":
		it.callID, _ = c.Text()
	case "role":
		it.role = text()
	case "status":
		it.status = text()
	case "call_id":
		it.callID, _ = c.Text()
	case "name":
		it.name, _ = c.Text()
	case "content", "message":
		it.content = rawContent(c)
	case "summary":
		it.thought = rawContent(c).orAbsent()
	case "arguments", "input", "action":
		it.args = rawArgs(c)
	case "output", "tools":
		it.output = rawContent(c)
	case "result":
		it.output = rawValue(c)
	case "num_turns":
		it.rolledBack, _ = c.Int()
	case "exit_code":
		if code, ok := c.Int(); ok {
			it.state = statusOf(code == 0)
		}
	case "success":
		if ok, is := c.Bool(); is {
			it.state = statusOf(ok)
		}
	case "info":
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "last_token_usage":
				it.usage = readCodexUsage(c)
			case "total_token_usage":
				it.total = string(c.Raw())
			}
		}
	}
}

// source reads where a session comes from: a sub-agent's names its parent.
func (it *codexItem) source(c *jsonscan.Cursor) {
	for ok := c.Object(); ok && c.Member(); {
		if key := string(c.Key()); key != "subagent" && key != "sub_agent" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) != "thread_spawn" {
				continue
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "parent_thread_id" {
					parent, _ := c.Text()
					it.session.parent = string(parent)
				}
			}
		}
	}
}

func (it *codexItem) instructions(c *jsonscan.Cursor) {
	if c.Kind() == jsonscan.String {
		it.session.instructions = rawValue(c)
		return
	}
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "text" {
			it.session.instructions = rawValue(c)
		}
	}
}

// parseStamp reads a time; bad says that there is one that cannot be read.
func parseStamp(stamp []byte) (at time.Time, bad bool) {
	at, ok := ParseTime(stamp)
	if !ok || at.Year() < 1 {
		return time.Time{}, len(stamp) > 0
	}
	return at, false
}

// statusOf returns the status of a call that went well or not.
func statusOf(ok bool) Status {
	if ok {
		return StatusOK
	}
	return StatusFailed
}

// readCodexUsage reads the token counts of one response: the input includes what
// was cached, the output what was thought.
func readCodexUsage(c *jsonscan.Cursor) (u Usage) {
	count := func(n *int64) {
		if v, ok := c.Int(); ok && v >= 0 {
			*n, u.Known = v, true
		}
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "input_tokens":
			count(&u.Input)
		case "cached_input_tokens":
			count(&u.CachedInput)
		case "output_tokens":
			count(&u.Output)
		case "reasoning_output_tokens":
			count(&u.Reasoning)
		}
	}
	return u
}

// codexInjected are the beginnings of messages that the program wrote in the
// user's name.
var codexInjected = [][]byte{
	[]byte("<environment_context>"), []byte("<user_instructions>"), []byte("# AGENTS.md instructions"), []byte("<turn_aborted>"),
	[]byte("<skill>"), []byte("<user_shell_command>"), []byte("<subagent_notification>"), []byte("<permissions instructions>"),
}

// byUser reports whether a line is what the user said.
func (l *codexLine) byUser() bool {
	if l.kind != "response_item" || l.item.kind != "message" || l.item.role != "user" {
		return false
	}
	said := bytes.TrimSpace(l.item.content.AppendText(nil))
	for _, beginning := range codexInjected {
		if bytes.HasPrefix(said, beginning) {
			return false
		}
	}
	return true
}

// codexDecoder puts the lines of a file together.
type codexDecoder struct {
	b       *builder
	inTurn  bool
	model   string // of the responses that follow
	total   string // token counts at the last response
	started bool
	calls   map[string]int // the last call with an id
}

func assembleCodex(file string, parts []Fragment) ([]*Trajectory, error) {
	size := 0
	var lines []codexLine
	lone := 0
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		l := readCodexLine(&c)
		l.part = i
		lone += c.LoneSurrogates()
		lines = append(lines, l)
		size += len(parts[i].Data)
	}
	d := codexDecoder{b: newBuilder(size), calls: map[string]int{}}
	t := d.b.t
	t.Offset, t.Agent = -1, "codex"
	d.b.odd(CodeLoneSurrogate, lone)
	lines, copied := withoutCopies(lines)
	d.b.odd(CodeLineCopied, copied)
	lines, takenBack := withoutRolledBack(lines)
	d.b.odd(CodeBranchAbandoned, takenBack)
	for i := range lines {
		d.line(&lines[i])
	}
	if t.ID == "" {
		t.ID = partName(file, 0)
	}
	t.Source = parts[0].Pos
	clearTurnModels(t)
	return []*Trajectory{d.b.finish()}, nil
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
		d.b.odd(CodeTimeInvalid, 1)
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
			d.b.t.Model = cmp.Or(d.b.t.Model, d.model)
		}
	case "compacted":
		d.inTurn = false
		d.b.message(RoleSystem, l.item.content.orAbsent()).Time = l.at
	case "event_msg":
		d.event(l)
	default:
		d.responseItem(l)
	}
}

// begin reads what the first line says about the session.
func (d *codexDecoder) begin(l *codexLine) {
	t, s := d.b.t, &l.item.session
	t.ID, t.Session, t.Start = s.id, cmp.Or(s.session, s.id), l.at
	t.Model = s.model
	if s.parent != s.id {
		t.Parent.Trajectory = s.parent
	}
	if !s.instructions.isEmpty() {
		d.b.message(RoleSystem, s.instructions).Time = l.at
	}
	if l.item.tools != nil {
		c := jsonscan.New(l.item.tools)
		t.Tools = d.b.readTools(&c)
	}
}

func (d *codexDecoder) event(l *codexLine) {
	it := &l.item
	switch it.kind {
	case "turn_aborted":
		d.inTurn = false
		d.b.odd(CodeTurnAborted, 1)
	case "token_count":
		d.count(it)
	case "mcp_tool_call_end", "exec_command_end", "patch_apply_end":
		status := it.state
		if it.kind == "mcp_tool_call_end" {
			status = statusOfMCP(it.output)
		}
		if call := d.find(it.callID); call != nil && status != StatusUnknown {
			call.Status = status
		}
	}
}

// count gives the response that has ended its token counts. Events that only
// repeat them, as those about limits do, end nothing.
func (d *codexDecoder) count(it *codexItem) {
	if !it.usage.Known || it.total != "" && it.total == d.total {
		return
	}
	d.total = it.total
	turns := d.b.t.Turns
	if len(turns) == 0 || turns[len(turns)-1].Usage.Known {
		d.b.odd(CodeUsageUnplaced, 1)
		return
	}
	turns[len(turns)-1].Usage = it.usage
	d.inTurn = false
}

// find returns the last call with an id.
func (d *codexDecoder) find(id []byte) *Call {
	if i, ok := d.calls[string(id)]; ok && len(id) > 0 {
		return &d.b.t.Calls[i]
	}
	return nil
}

// statusOfMCP reads the result of an MCP tool: {"Ok": {..., "isError": true}} or
// {"Err": ...}.
func statusOfMCP(result Raw) Status {
	if result.Form != FormJSON {
		return StatusUnknown
	}
	status := StatusUnknown
	c := jsonscan.New(result.Data)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "Err":
			status = StatusFailed
		case "Ok":
			status = StatusOK
			for ok := c.Object(); ok && c.Member(); {
				if key := string(c.Key()); key == "isError" || key == "is_error" {
					if failed, _ := c.Bool(); failed {
						status = StatusFailed
					}
				}
			}
		}
	}
	return status
}

// responseItem adds an item of the Responses API.
func (d *codexDecoder) responseItem(l *codexLine) {
	b, it := d.b, &l.item
	switch it.kind {
	case "message":
		switch it.role {
		case "assistant":
			turn := d.turn(l.at)
			if text := it.content.orAbsent(); !text.IsZero() {
				turn.Text = joinTexts(turn.Text, text)
			}
		case "user":
			d.inTurn = false
			role := RoleSystem
			if l.byUser() {
				role = RoleUser
			}
			b.message(role, it.content.orAbsent()).Time = l.at
		case "developer", "system":
			b.message(RoleSystem, it.content.orAbsent()).Time = l.at
		default:
			b.odd(CodeMessageRole, 1)
		}
	case "reasoning":
		turn := d.turn(l.at)
		if thought := recordedThought(it); !thought.IsZero() {
			turn.Thought = joinTexts(turn.Thought, thought)
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
		b.odd(CodeMessageShape, 1)
	}
}

// recordedThought returns the reasoning of an item: its text where that is recorded,
// else the summary.
func recordedThought(it *codexItem) Raw {
	for _, r := range []Raw{it.content, it.thought} {
		if r = r.orAbsent(); !r.IsZero() && r.TextLen() > 0 {
			return r
		}
	}
	return Raw{}
}

// turn returns the response that is going on, or begins one.
func (d *codexDecoder) turn(at time.Time) *Turn {
	if !d.inTurn {
		turn := d.b.turn()
		turn.Model, turn.Start = d.model, at
		d.inTurn = true
	}
	turn := &d.b.t.Turns[len(d.b.t.Turns)-1]
	turn.End = at
	return turn
}

// call adds a call. Calls that the interface answers itself have no output of
// their own, but say how they ended.
func (d *codexDecoder) call(l *codexLine) {
	it := &l.item
	name := it.name
	builtIn := it.kind == "web_search_call" || it.kind == "image_generation_call"
	if len(name) == 0 && it.kind != "function_call" && it.kind != "custom_tool_call" {
		name = []byte(strings.TrimSuffix(it.kind, "_call"))
	}
	d.turn(l.at)
	if len(name) == 0 {
		d.b.odd(CodeCallUnnamed, 1)
		return
	}
	id := it.callID
	if len(id) == 0 {
		id = it.id
	}
	call := d.b.call(d.b.text(id), d.b.names.intern(name), it.args, OriginModel)
	call.Start = l.at
	d.calls[call.ID] = len(d.b.t.Calls) - 1
	if !builtIn {
		return
	}
	call.HasResult, call.Result = !it.output.IsZero() || it.status == "completed" || it.status == "failed", it.output
	switch it.status {
	case "completed":
		call.Status, call.End = StatusOK, l.at
	case "failed":
		call.Status, call.End = StatusFailed, l.at
	}
}

// output adds the result of a call.
func (d *codexDecoder) output(l *codexLine) {
	d.inTurn = false
	it := &l.item
	result, status := codexOutput(it.output)
	call := d.b.result(it.callID, result)
	if call == nil {
		return
	}
	call.End = l.at
	if call.Status == StatusUnknown {
		call.Status = status
	}
}

// codexOutput returns what a call returned and how it ended, if that can be told:
// by an object {content, success}, by {"output", "metadata": {"exit_code"}}, or by
// the lines before the output of a command.
func codexOutput(output Raw) (Raw, Status) {
	if output.Form == FormJSON {
		status := StatusUnknown
		result := output
		c := jsonscan.New(output.Data)
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "content":
				result = rawContent(&c)
			case "success":
				if ok, is := c.Bool(); is {
					status = statusOf(ok)
				}
			}
		}
		return result, status
	}
	text := output.content()
	c := jsonscan.New(text)
	status := StatusUnknown
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "metadata" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "exit_code" {
				if code, ok := c.Int(); ok {
					status = statusOf(code == 0)
				}
			}
		}
	}
	if c.End() == nil {
		return output, status
	}
	return output, statusOfHeader(text)
}

// statusOfHeader reads the exit code in the lines that stand before the output of
// a command.
func statusOfHeader(text []byte) Status {
	n := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if n++; n > 8 || string(line) == "Output:" {
			break
		}
		for _, beginning := range []string{"Process exited with code ", "Exit code: "} {
			if code, ok := bytes.CutPrefix(line, []byte(beginning)); ok {
				return statusOf(string(code) == "0")
			}
		}
	}
	return StatusUnknown
}

// codexKinds are the kinds of lines.
var codexKinds = []string{"session_meta", "response_item", "turn_context", "event_msg", "compacted", "world_state", "inter_agent_communication", "inter_agent_communication_metadata"}

func detectCodex(h Head) Match {
	for i, r := range h.Records {
		kind := strings.Trim(string(r.Members["type"]), `"`)
		for _, known := range codexKinds {
			if kind != known {
				continue
			}
			if r.Has("payload") || r.Truncated {
				return Match{OK: r.Has("payload"), Lacks: ""}
			}
			return Match{Lacks: `the lines have no "payload"`}
		}
		if i == 0 && h.Container == ContainerLines && kind == "" && r.Has("id", "timestamp") && (r.Has("instructions") || r.Has("git")) {
			return Match{OK: true}
		}
		if kind == "thread.started" && r.Has("thread_id") {
			return Match{Lacks: "this is what codex exec --json prints, which records no responses of the model; the rollout file of the session does"}
		}
	}
	return Match{}
}
