// Package claudecode reads the sessions that Claude Code records.
//
// A line comes in as a fragment; a session with its resumed parts and its sub-agents
// is joined from them. It is O(session).
package claudecode

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/maps"
)

// Format reads the session files of Claude Code, one event a line, and
// what `claude -p --output-format stream-json` prints.
//
// A model response stands on several lines, one a content block, with the same
// message id and usage: they are one turn. Lines are a tree by parentUuid, because
// a conversation can be taken back; the branch that ends last is the trajectory,
// with the results that hang beside it. Lines that a resumed session has copied
// count once. Sub-agents, in the same file or in files of their own, are
// trajectories that know their parent and, where the parent's result names them,
// the call that started them. What a compaction or a command put into the
// conversation is a system message.
var Format = trace.Format{
	Name:     "claude-code",
	Doc:      "Claude Code session files and the stream-json output of claude -p, sub-agents included.",
	Spec:     "https://docs.anthropic.com/en/docs/claude-code",
	Detect:   maps.Detect("claude-code"),
	Decode:   decodeClaudeCode,
	Assemble: assembleClaudeCode,
}

// claudeLine is a line with what is read of it.
type claudeLine struct {
	kind, uuid, parent  string
	logicalParent       string
	session, agent      string
	toolParent          string // of stream-json: the call that started a sub-agent
	sidechain           bool
	meta, summary, fake bool
	folder              string
	startedAgent        string // by the call that this line has the result of
	timestamp           []byte
	message             []byte
	request             string
	hasParent           bool         // the line has a member for its parent, null or not
	totals              build.Totals // of a result, which states them

	order int // in input
	part  int
}

// readClaudeLine reads a line. It returns false if it is no object.
func readClaudeLine(c *jsonscan.Cursor) (l claudeLine, ok bool) {
	text := func() string {
		s, _ := c.Text()
		return string(s)
	}
	if !c.Object() {
		return l, false
	}
	for c.Member() {
		switch string(c.Key()) {
		case "type":
			l.kind = text()
		case "uuid":
			l.uuid = text()
		case "parentUuid":
			l.hasParent = true
			l.parent = text()
		case "logicalParentUuid":
			l.logicalParent = text()
		case "sessionId", "session_id":
			l.session = text()
		case "agentId":
			l.agent = text()
		case "parent_tool_use_id":
			l.toolParent = text()
		case "isSidechain":
			l.sidechain, _ = c.Bool()
		case "isMeta":
			l.meta, _ = c.Bool()
		case "isCompactSummary":
			l.summary, _ = c.Bool()
		case "isApiErrorMessage":
			l.fake, _ = c.Bool()
		case "origin":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "kind" {
					origin := text()
					l.meta = l.meta || origin != "" && origin != "human" && origin != "user" && origin != "channel"
				}
			}
		case "timestamp":
			l.timestamp, _ = c.Text()
		case "cwd":
			l.folder = text()
		case "usage":
			l.totals.Usage = build.UsageAnthropic.Read(c)
		case "num_turns":
			n, _ := c.Int()
			l.totals.Turns = int(n)
		case "requestId":
			l.request = text()
		case "message":
			l.message = c.Raw()
		case "toolUseResult":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "agentId" {
					l.startedAgent = text()
				}
			}
		}
	}
	return l, true
}

func decodeClaudeCode(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	l, ok := readClaudeLine(&c)
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	if !ok || l.session == "" && (l.uuid != "" || l.message == nil) {
		return nil, nil // a snapshot or a summary, which belongs to no conversation
	}
	data := r.Data
	if l.kind != "user" && l.kind != "assistant" && l.kind != "result" {
		// Other lines matter as links of the chain alone.
		if l.uuid == "" {
			return nil, nil
		}
		data = claudeLink(&l)
	}
	key, aliases := l.session, claudeRoots(&l)
	if l.uuid == "" { // of stream-json, some of which name the session in some lines alone
		file := "file:" + r.File
		key, aliases = cmp.Or(key, file), append(aliases, file)
	}
	return []trace.Fragment{{Key: key, Aliases: aliases, Data: data, Pos: r.Pos()}}, nil
}

// claudeLink returns what the chain needs of a line that holds no message.
func claudeLink(l *claudeLine) []byte {
	return build.Object(
		"type", "link", "uuid", l.uuid, "parentUuid", l.parent, "logicalParentUuid", l.logicalParent, "sessionId", l.session,
		"agentId", l.agent, "timestamp", string(l.timestamp), "isSidechain", strconv.AppendBool(nil, l.sidechain),
	)
}

func assembleClaudeCode(session string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	lines, copied := readClaudeParts(parts)
	var out []*trace.Trajectory
	for i, s := range claudeSessions(session, lines) {
		if i > 0 {
			copied = 0
		}
		out = append(out, claudeTrajectories(s, parts, copied)...)
	}
	return out, nil
}

// claudeTrajectories returns the trajectories of a session, its own and those of
// sub-agents.
func claudeTrajectories(s claudeSession, parts []trace.Fragment, copied int) []*trace.Trajectory {
	session := s.id
	starter := map[string]string{} // the call that started an agent
	var out []*trace.Trajectory
	for _, chain := range claudeChains(s.lines) {
		active, abandoned := activeLines(chain.lines)
		var stated build.Totals
		if chain.agent == "" {
			stated = s.totals()
		}
		t := claudeTrajectory(session, chain.agent, active, starter, stated)
		t.Anomalies.AddN(build.CodeBranchAbandoned, abandoned)
		if len(out) == 0 {
			t.Anomalies.AddN(build.CodeLineCopied, copied)
			if s.forked {
				t.Anomalies.AddN(build.CodeHistoryForked, 1)
			}
		}
		if len(active) > 0 {
			t.Source = parts[active[0].part].Pos
		} else {
			t.Source = parts[0].Pos
		}
		out = append(out, t)
	}
	// Links from the parent are known once all of it was read.
	for _, t := range out {
		if agent, ok := strings.CutPrefix(t.ID, session+"/"); ok {
			t.Parent = trace.Parent{Trajectory: session, Call: starter[agent]}
			if t.Parent.Call == "" {
				t.Anomalies.AddN(build.CodeParentCallUnknown, 1)
			}
		}
	}
	return out
}

// readClaudeParts reads the lines again, those that stand twice once: with the
// same id, or with another in another session, at the same time and with the same
// content. Lines that go on from a copy go on from the first.
func readClaudeParts(parts []trace.Fragment) (lines []*claudeLine, copied int) {
	session := "" // of the line before
	seen := map[string]bool{}
	content := map[string]*claudeLine{}
	first := map[string]string{} // id of the line that a copy is of
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		l, ok := readClaudeLine(&c)
		if !ok {
			continue
		}
		if l.uuid != "" {
			if seen[l.uuid] {
				copied++
				continue
			}
			seen[l.uuid] = true
		}
		if key := claudeContent(&l); key != "" {
			if same := content[key]; same == nil {
				content[key] = &l
			} else if same.session != l.session {
				copied++
				first[l.uuid] = same.uuid
				continue
			}
		}
		if l.session == "" {
			l.session = session
		}
		session = l.session
		l.order, l.part = len(lines), i
		lines = append(lines, &l)
	}
	for _, l := range lines {
		if id, ok := first[l.parent]; ok {
			l.parent = id
		}
		if id, ok := first[l.logicalParent]; ok {
			l.logicalParent = id
		}
	}
	return lines, copied
}

// responseID identifies the model response that a line is a piece of.
func responseID(l *claudeLine) string {
	c := jsonscan.New(l.message)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "id" {
			if id, ok := c.Text(); ok && len(id) > 0 {
				return string(id)
			}
		}
	}
	return cmp.Or(l.request, l.uuid)
}

// blockIDs returns the members of that name of the content blocks of a message.
func blockIDs(message []byte, member string) []string {
	var ids []string
	for block := range build.Elements(build.MemberRaw(message, "content")) {
		if id := build.MemberText(block, member); id != nil {
			ids = append(ids, string(id))
		}
	}
	return ids
}

// claudeTrajectory builds the trajectory of one agent. Calls of its that started
// agents are noted in starter.
func claudeTrajectory(session, agent string, lines []*claudeLine, starter map[string]string, stated build.Totals) *trace.Trajectory {
	size := 0
	for _, l := range lines {
		size += len(l.message)
	}
	b := build.New(size)
	t := b.Trajectory
	t.ID, t.Session, t.Offset = session, session, -1
	t.Agent = "claude-code"
	if agent != "" {
		t.ID = session + "/" + agent
		if strings.HasPrefix(agent, "toolu_") { // of stream-json, where the call is the name
			starter[agent] = agent
		}
	}
	response := "" // that the current turn is
	for _, l := range lines {
		t.Folder = cmp.Or(t.Folder, l.folder)
		d := message.Anthropic{Builder: b}
		c := jsonscan.New(l.message)
		m, ok := d.Message(&c)
		if !ok {
			continue
		}
		at, _ := trace.ParseTime(l.timestamp)
		d.At = at
		if l.kind == "user" {
			if l.startedAgent != "" {
				for i := range d.Blocks {
					if d.Blocks[i].Kind == build.ItemResult {
						starter[l.startedAgent] = string(d.Blocks[i].ID)
					}
				}
			}
			addClaudeUser(&d, m, l, at)
			continue
		}
		if l.fake || string(m.Model) == "<synthetic>" {
			b.Anomaly(build.CodeMessageSynthetic, 1)
			continue
		}
		if id := responseID(l); id != response || len(t.Turns) == 0 {
			response = id
			turn := d.AddTurn(m)
			turn.Start, turn.End = at, at
		} else {
			d.ExtendTurn(m)
			t.Turns[len(t.Turns)-1].End = at
		}
		if len(m.Model) > 0 {
			t.Model = b.Text(m.Model)
		}
	}
	build.ClearTurnModels(t)
	results := 0
	for i := range t.Calls {
		if t.Calls[i].HasResult {
			results++
		}
	}
	if b.Stated = stated; stated.Turns <= 1+results { // it counts the first message and each result
		b.Stated.Turns = 0
	}
	return b.Finish()
}

// totals returns what the result of a session states. Of several it is not known which of
// them count those before.
func (s *claudeSession) totals() (stated build.Totals) {
	n := 0
	for _, l := range s.lines {
		if l.kind == "result" {
			stated = l.totals
			n++
		}
	}
	if n > 1 {
		return build.Totals{}
	}
	return stated
}

// addClaudeUser adds a line of the user: results, what the user said, or what the
// program said in the user's name.
func addClaudeUser(d *message.Anthropic, m message.AnthropicMessage, l *claudeLine, at time.Time) {
	d.AddBlocks()
	if m.Text.IsEmpty() {
		return
	}
	role := trace.RoleUser
	if l.meta || l.summary {
		role = trace.RoleSystem
	}
	d.Builder.Message(role, m.Text).Time = at
}
