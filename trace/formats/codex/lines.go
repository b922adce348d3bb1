package codex

import (
	"bytes"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
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
	content            trace.Raw // of a message
	args, output       trace.Raw
	printed            trace.Raw // by a command, as an event tells
	thought            trace.Raw
	usage              trace.Usage
	total              string // token counts up to here, as written
	rolledBack         int64
	state              trace.Status // of a call, by an event about it
	session            codexSession
	tools              []byte
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
		l.at, l.badTime = build.ParseStamp(stamp)
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
	case "cwd":
		it.session.folder = text()
	case "forked_from_id":
		it.session.forkedFrom = text()
	case "parent_thread_id":
		if parent := text(); parent != "" {
			it.session.parent = parent
		}
	case "source":
		it.source(c.Raw())
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
		it.content = build.ReadContent(c)
	case "summary":
		it.thought = build.ReadContent(c).OrAbsent()
	case "arguments", "input", "action":
		it.args = build.ReadArgs(c)
	case "output", "tools":
		it.output = build.ReadContent(c)
	case "result":
		it.output = build.ReadRaw(c)
	case "aggregated_output", "stdout":
		if printed := build.ReadRaw(c); it.printed.IsEmpty() {
			it.printed = printed
		}
	case "num_turns":
		it.rolledBack, _ = c.Int()
	case "exit_code":
		if code, ok := c.Int(); ok {
			it.state = build.StatusOf(code == 0)
		}
	case "success":
		if ok, is := c.Bool(); is {
			it.state = build.StatusOf(ok)
		}
	case "info":
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "last_token_usage":
				it.usage = build.UsageResponses.Read(c)
			case "total_token_usage":
				it.total = string(c.Raw())
			}
		}
	}
}

// source reads where a session comes from: a sub-agent's names its parent.
func (it *codexItem) source(source []byte) {
	for _, name := range []string{"subagent", "sub_agent"} {
		if spawn := build.MemberRaw(source, name, "thread_spawn"); build.HasMember(spawn, "parent_thread_id") {
			it.session.parent = string(build.MemberText(spawn, "parent_thread_id"))
		}
	}
}

func (it *codexItem) instructions(c *jsonscan.Cursor) {
	if c.Kind() == jsonscan.String {
		it.session.instructions = build.ReadRaw(c)
		return
	}
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "text" {
			it.session.instructions = build.ReadRaw(c)
		}
	}
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
	if build.ByProgram(l.item.content) {
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
