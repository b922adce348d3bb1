package mapped

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Names of members that say what they are, the clearest first.
var (
	toolNames      = words("tool_name toolName tool function_name functionName function api_name api action_name action method fn operation op skill command_name cmd name")
	argumentNames  = words("arguments args tool_input toolInput tool_args toolArgs action_input actionInput parameters params kwargs input inputs payload options body request data")
	resultNames    = words("result tool_result toolResult output tool_output observation response return_value returned return outcome answer out")
	answersNames   = words("tool_call_id toolCallId call_id callId action_id in_reply_to reply_to for request_id parent_id")
	idNames        = words("call_id callId tool_call_id toolCallId id uuid")
	failureNames   = words("error err exception failure is_error isError failed error_message")
	goodNames      = words("success ok succeeded")
	roleNames      = words("role speaker from author sender actor who source type kind event event_type")
	textNames      = words("content text message utterance value msg said body completion reply")
	thoughtNames   = words("thought reasoning thinking rationale")
	timeNames      = words("timestamp time ts t created_at createdAt at start_time startTime started_at start date when")
	endNames       = words("end_time endTime ended_at finished_at end")
	modelNames     = words("model model_name modelName model_id llm engine")
	turnNames      = words("turn turn_id turnId step step_id stepId response_id message_id iteration round")
	trajectoryName = words("trajectory_id trajectoryId run_id runId session_id sessionId session conversation_id conversationId conversation trace_id traceId thread_id threadId chat_id episode_id episode rollout_id run request_group dialog_id chat chatId dialog thread interaction_id workflow_id job_id case_id ticket ticket_id conv conv_id convId convo convo_id")
	taskNames      = words("task_id taskId instance_id question_id problem_id test_id case_id task scenario")
	userNames      = words("question query prompt instruction goal user_input userInput request problem task input")
	answerNames    = words("final_answer finalAnswer answer final_output final_response response output completion")
	outcomeNames   = words("success solved passed reward outcome score")
	inNames        = words("prompt_tokens input_tokens promptTokens inputTokens tokens_in in_tokens in")
	outNames       = words("completion_tokens output_tokens completionTokens outputTokens tokens_out out_tokens out")
	usageNames     = words("usage tokens token_usage metrics")
	sessionLists   = regexp.MustCompile(`(?i)session|run|traj|conversation|episode|trace|dialog|thread|task|sample|rollout|record|item|result`)
	callLists      = regexp.MustCompile(`(?i)call|action|tool|invocation|step|event|function`)
	notCalls       = regexp.MustCompile(`(?i)definition|schema|available|^tools$|^functions$|catalog`)
	plainPath      = regexp.MustCompile(`^\$[\w.\[\]*'-]*$`)
)

// isIdentifier reports whether a text can be the name of something: up to 80 letters,
// digits and marks, a letter first. It is no regular expression, because one that counts to
// 80 takes 3 MB and 7 ms to compile, in every start of the program.
func isIdentifier(s string) bool {
	n := 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r), r == '_':
		case n > 0 && (unicode.IsNumber(r) || strings.ContainsRune(".:/-", r)):
		default:
			return false
		}
		if n++; n > 80 {
			return false
		}
	}
	return n > 0
}

func words(s string) []string { return strings.Fields(s) }

const (
	draftDepth   = 10    // how deep objects are looked at
	draftObjects = 20000 // how many
	draftValues  = 24    // different values of a member that are kept
)

// proposal is a draft before it is written down.
type proposal struct {
	fields [][2]string // in the order in which they are printed
	roles  [][2]string
	tokens [][2]string
	notes  []string
}

func (p *proposal) set(field string, path []string) {
	p.fields = append(p.fields, [2]string{field, pathText(path)})
}

// pathText writes a path.
func pathText(path []string) string {
	text := make(jsonpath.Path, 0, len(path))
	for _, name := range path {
		if name == "*" {
			text = append(text, jsonpath.Step{Kind: jsonpath.Each})
		} else {
			text = append(text, jsonpath.Step{Kind: jsonpath.Member, Name: name})
		}
	}
	return text.String()
}

// Draft proposes a map for records whose layout is not known: which members look like
// calls, by their names and what they hold, and what stands around them. It returns
// false if nothing looks like a call. No value of the records is in it but the names of
// roles.
func Draft(records []trace.Value) (string, bool) {
	d := &drafter{shapes: map[string]*shape{}}
	for _, r := range records {
		d.look(r, nil)
	}
	c := d.calls()
	if c.shape == nil || c.score < callScore {
		return "", false
	}
	best, text := reading0, ""
	all, calls := c.made()
	for _, roles := range []bool{true, false} { // what looks like a role may be none
		p := &proposal{}
		p.notes = append(p.notes, fmt.Sprintf("%s at %s look like calls: the tool in %q, the arguments in %s", counted(all, "object"), pathText(c.path), c.tool, quotedOr(c.arguments, "no member that awo knows")))
		d.propose(p, c, records, roles)
		read := p.check(records)
		p.notes = append(p.notes, fmt.Sprintf("Read with this map: %s of %d, %s of %d.", counted(read.calls, "call"), calls, counted(read.records, "record"), len(records)))
		if read.calls > calls {
			p.notes = append(p.notes, "Calls are read more than once: say with \"once\" or \"again\" which of those with one id counts.")
		}
		if 10*read.calls < 9*calls || 10*read.records < 9*len(records) {
			p.notes = append(p.notes, "It explains less than 90 %: look where the others stand before you use it.")
		}
		if read.betterThan(best, calls) {
			best, text = read, p.text()
		}
	}
	return text, true
}

// draftReading is what a draft reads of the records that it was made from.
type draftReading struct{ calls, records int }

// reading0 is worse than any.
var reading0 = draftReading{-1, -1}

// betterThan reports whether a draft finds more of the calls, each once, and then of the
// records.
func (r draftReading) betterThan(o draftReading, calls int) bool {
	apart := func(n int) int { return max(n-calls, calls-n) }
	return o.calls < 0 || cmp.Or(cmp.Compare(apart(o.calls), apart(r.calls)), cmp.Compare(r.records, o.records)) > 0
}

// check reads the records with the draft: how many calls it finds, and in how many records
// everything is known.
func (p *proposal) check(records []trace.Value) (read draftReading) {
	m, problems := Parse("draft", []byte(p.text()))
	if problems.Err() != nil {
		return read
	}
	parts := map[string][]trace.Fragment{}
	count := func(t *trace.Trajectory, records int) {
		read.calls += len(t.Calls)
		read.records += max(0, records-t.Anomalies.ByCode[build.CodeMessageRole])
	}
	for _, v := range records {
		found, _ := m.decode(trace.Record{Data: v.AppendCanonical(nil), File: "draft", Line: 1, Col: 1})
		for _, f := range found {
			if f.Trajectory != nil {
				count(f.Trajectory, 1)
			} else {
				parts[f.Key] = append(parts[f.Key], f)
			}
		}
	}
	for key, fragments := range parts {
		all, _ := m.assemble(key, fragments)
		for _, t := range all {
			count(t, len(fragments))
		}
	}
	read.records = min(read.records, len(records))
	return read
}

// made returns how many objects have the name of a tool, and how many different calls these
// are, by their ids where all have one.
func (c *callShape) made() (all, distinct int) {
	name, ids := c.member(idNames, isScalar), map[string]bool{}
	for _, o := range c.objects {
		if o.Member(c.tool).Kind != trace.String {
			continue
		}
		all++
		if id := o.Member(name); name != "" && id.Text != "" {
			ids[id.Text] = true
		} else {
			name = "" // by no id, then
		}
	}
	if name == "" {
		return all, all
	}
	return all, len(ids)
}

// counted returns a number with a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func quotedOr(name, other string) string {
	if name == "" {
		return other
	}
	return fmt.Sprintf("%q", name)
}

// at returns the shape at a path, one without members if there is none.
func (d *drafter) at(path []string) *shape {
	if s := d.shapes[strings.Join(path, "\x00")]; s != nil {
		return s
	}
	return &shape{path: path, members: map[string]*memberShape{}}
}

// propose fills in what the place of the calls and what is around it tells.
func (d *drafter) propose(p *proposal, c callShape, records []trace.Value, roles bool) {
	call, inner := c.path, []string(nil) // inner: from the call to its tool and arguments
	if n := len(call); n > 0 && call[n-1] != "*" && (n == 1 || call[n-2] == "*") && len(d.at(call[:n-1]).objects) <= 2*len(c.objects) && callLists.MatchString(call[n-1]) && d.at(call[:n-1]).member(idNames, isScalar) != "" {
		call, inner = call[:n-1], call[n-1:]
	}
	events, calls := d.split(call)
	record := []string{}
	if first := slices.Index(events, "*"); first >= 0 && slices.Contains(events[first+1:], "*") {
		record, events = events[:first+1], events[first+1:]
		p.set("records", record)
	}
	around, event := d.at(record), d.at(append(slices.Clone(record), events...))
	of := d.at(call)
	rows := len(events) == 0
	d.session(p, around, event, rows, len(records))
	if !rows {
		p.set("events", events)
	}
	role := roles && d.role(p, event, c, len(calls) > 0)
	if name := event.member(turnNames, isScalar); name != "" && len(calls) == 0 {
		p.set("turn", []string{name})
	}
	if name := event.member(textNames, isText); name != "" {
		p.set("text", []string{name})
	}
	if name := event.member(thoughtNames, isText); name != "" {
		p.set("thought", []string{name})
	}
	if len(calls) > 0 {
		p.set("calls", calls)
	}
	p.set("tool", append(slices.Clone(inner), c.tool))
	if c.arguments != "" {
		p.set("arguments", append(slices.Clone(inner), c.arguments))
	}
	from := func(field string, names []string, wanted func(*memberShape) bool, except ...string) bool {
		for _, place := range []struct {
			s    *shape
			path []string
		}{{of, nil}, {c.shape, inner}} {
			name := place.s.member(names, func(m *memberShape) bool { return wanted(m) })
			if name != "" && !slices.Contains(except, name) && !(len(place.path) == len(inner) && (name == c.tool || name == c.arguments)) {
				p.set(field, append(slices.Clone(place.path), name))
				return true
			}
		}
		return false
	}
	made, distinct := c.made()
	if from("id", idNames, isScalar); rows && !role && distinct < made {
		p.set("once", append(slices.Clone(inner), c.member(idNames, isScalar)))
	}
	if !from("result", resultNames, anyKind) && role {
		if name := event.member(resultNames, anyKind); name != "" {
			p.set("result", []string{name})
		}
	}
	from("error", failureNames, anyKind)
	from("ok", goodNames, func(m *memberShape) bool { return m.kinds[trace.Bool] > 0 })
	if role {
		if name := event.member(answersNames, isScalar); name != "" {
			p.set("answers", []string{name})
		}
	}
	for _, f := range []struct {
		field  string
		names  []string
		wanted func(*memberShape) bool
	}{{"time", timeNames, isScalar}, {"end", endNames, isScalar}, {"model", modelNames, isText}} {
		if name := event.member(f.names, f.wanted); name != "" {
			p.set(f.field, []string{name})
		} else if name := of.member(f.names, f.wanted); name != "" {
			p.set(f.field, []string{name})
		}
	}
	d.tokens(p, event)
}

// split divides the path of calls into that of events and that from an event to its
// calls.
func (d *drafter) split(call []string) (events, calls []string) {
	last := -1
	for i, name := range call {
		if name == "*" {
			last = i
		}
	}
	if last < 0 {
		return nil, call
	}
	if last < len(call)-1 {
		return call[:last+1], call[last+1:]
	}
	before := -1 // the list around the list
	for i, name := range call[:last] {
		if name == "*" {
			before = i
		}
	}
	if d.at(call).roleName() != "" {
		return call, nil
	}
	if before >= 0 {
		if list := call[max(before-1, 0)]; before > 0 && d.at(call[:before+1]).roleName() == "" && sessionLists.MatchString(list) && !callLists.MatchString(list) {
			return call, nil
		}
		return call[:before+1], call[before+1:]
	}
	if s := d.at(call[:0]); s.roleName() != "" && len(s.objects) > 1 { // a record is an event with calls
		return nil, call
	}
	return call, nil
}

// roleName returns the member that says whose an event is, "" if none does.
func (s *shape) roleName() string {
	for _, name := range roleNames {
		m := s.members[name]
		if m == nil || !isName(m) || 10*m.n < 9*len(s.objects) || len(m.values) >= draftValues {
			continue
		}
		known := 0
		for value, n := range m.values {
			if guess(value) != speakerUnknown {
				known += n
			}
		}
		if 2*known >= m.n {
			return name
		}
	}
	return ""
}

// role proposes whose an event is: what it holds tells before its name does.
func (d *drafter) role(p *proposal, event *shape, c callShape, apart bool) bool {
	name := event.roleName()
	if name == "" {
		return false
	}
	p.set("role", []string{name})
	type kind struct{ n, called, result int }
	kinds := map[string]*kind{}
	for _, o := range event.objects {
		value, _ := o.Lookup(name)
		k := kinds[value.Text]
		if k == nil {
			k = &kind{}
			kinds[value.Text] = k
		}
		k.n++
		if c.arguments != "" && !apart {
			if args, ok := o.Lookup(c.arguments); ok && args.Kind != trace.Null && o.Member(c.tool).Kind == trace.String {
				k.called++
			}
		}
		for _, r := range resultNames {
			if v, ok := o.Lookup(r); ok && v.Kind != trace.Null {
				k.result++
				break
			}
		}
	}
	for _, value := range slices.Sorted(maps.Keys(kinds)) {
		k, who := kinds[value], guess(value)
		switch {
		case !isIdentifier(value):
			continue
		case 2*k.called > k.n:
			who = speakerModel
		case 2*k.result > k.n && (who == speakerUnknown || strings.Contains(strings.ToLower(value), "tool")):
			who = speakerTool
		}
		word := "ignore"
		for name, s := range speakerNames {
			if s == who {
				word = name
			}
		}
		p.roles = append(p.roles, [2]string{value, word})
	}
	return true
}

// session proposes what a session is and says.
func (d *drafter) session(p *proposal, around, event *shape, rows bool, records int) {
	repeats := func(m *memberShape) bool { return isScalar(m) && m.n > 1 }
	name := around.member(trajectoryName, isScalar)
	if rows {
		name = around.member(trajectoryName, repeats)
	}
	if name != "" {
		p.set("trajectory", []string{name})
	} else if !rows {
		if m := around.members["id"]; m != nil && isScalar(m) {
			p.set("trajectory", []string{"id"})
		}
	}
	used := ""
	if !rows && event.roleName() == "" || !rows && !event.hasUser() {
		if used = around.member(userNames, isText); used != "" {
			p.set("user", []string{used})
		}
		if name := around.member(answerNames, isText); name != "" {
			p.set("answer", []string{name})
		}
	}
	if name := around.member(taskNames, isScalar); name != "" && name != used && (!rows || records > 1) {
		p.set("task", []string{name})
	}
	if name := around.member(outcomeNames, func(m *memberShape) bool { return m.kinds[trace.Bool] > 0 || isNumber(m) }); name != "" && !rows {
		p.set("outcome", []string{name})
	}
}

// hasUser reports whether an event is the user's.
func (s *shape) hasUser() bool {
	name := s.roleName()
	if name == "" {
		return false
	}
	for value := range s.members[name].values {
		if guess(value) == speakerUser {
			return true
		}
	}
	return false
}

// tokens proposes where token counts are.
func (d *drafter) tokens(p *proposal, event *shape) {
	places := [][]string{nil}
	for _, name := range usageNames {
		places = append(places, []string{name})
	}
	for _, place := range places {
		s := d.at(append(slices.Clone(event.path), place...))
		in, out := s.member(inNames, isNumber), s.member(outNames, isNumber)
		if in == "" || out == "" {
			continue
		}
		p.tokens = [][2]string{{"input", pathText(append(slices.Clone(place), in))}, {"output", pathText(append(slices.Clone(place), out))}}
		return
	}
}

// fieldOrder is the order in which fields are printed.
var fieldOrder = words("records trajectory session task outcome system user answer events role roles turn text thought calls tool arguments id result error ok answers once time end model")

// text writes the draft.
func (p *proposal) text() string {
	var b strings.Builder
	b.WriteString("# A draft: look whether it says what the traces mean, then read them with --map.\n")
	for _, note := range p.notes {
		fmt.Fprintf(&b, "# %s\n", note)
	}
	slices.SortStableFunc(p.fields, func(x, y [2]string) int {
		return cmp.Compare(slices.Index(fieldOrder, x[0]), slices.Index(fieldOrder, y[0]))
	})
	for _, f := range p.fields {
		path := f[1]
		if !plainPath.MatchString(path) {
			path = string(jsonscan.AppendQuoted(nil, path))
		}
		fmt.Fprintf(&b, "%s: %s\n", f[0], path)
		if f[0] == "role" && len(p.roles) > 0 {
			b.WriteString("roles:\n")
			for _, r := range p.roles {
				fmt.Fprintf(&b, "  %s: %s\n", jsonscan.AppendQuoted(nil, r[0]), r[1])
			}
		}
	}
	if len(p.tokens) > 0 {
		b.WriteString("tokens:\n")
		for _, t := range p.tokens {
			fmt.Fprintf(&b, "  %s: %s\n", t[0], t[1])
		}
	}
	return b.String()
}
