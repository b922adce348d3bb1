package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/sessionlog"
)

// VSCode reads sessions of Copilot Chat in VS Code: what it exports, the journals in
// which it keeps them, and logs for a replay.
//
//	{"sessionId", "requests": [{"message", "response", "result"}]}   an export
//	{"kind": 0, "v": {...}}, {"kind": 2, "k": ["requests"], "v": []} a journal, a change a line
//	{"prompts": [{"prompt", "logs": [{"kind": "toolCall", "tool"}]}]} a replay
//
// The rounds of calls that stand in the metadata of a result are turns; without them
// what the response shows is all that is known: what is said behind a call is a turn of
// its own.
var VSCode = trace.Format{
	Name:     "vscode-copilot",
	Doc:      "Copilot Chat in VS Code: exports, session journals, replay logs.",
	Spec:     "https://code.visualstudio.com/docs/copilot/chat/chat-sessions",
	Detect:   detectVSCode,
	Decode:   decoder(func(record []byte) bool { return !inJournal(trace.NewHeadRecord(record, false)) }, nil),
	Assemble: assembleVSCode,
}

func detectVSCode(h trace.Head) trace.Match {
	for _, r := range h.Records {
		if isVSCode(r) || isJournal(r) || isReplay(r) {
			return trace.Match{OK: true}
		}
	}
	return trace.Match{}
}

func isVSCode(r trace.HeadRecord) bool {
	return r.Has("requests") && (r.Has("responderUsername") || r.Has("requesterUsername") || r.Has("sessionId"))
}

// isJournal reports whether a record is a line of a journal.
func isJournal(r trace.HeadRecord) bool {
	if string(r.Members["kind"]) == "0" {
		return r.Has("kind", "v") && !r.Has("k") && isVSCode(trace.NewHeadRecord(r.Members["v"], r.Truncated))
	}
	return r.Has("kind", "k") && build.IsKind(r.Members["k"], '[') && bytes.HasPrefix(bytes.TrimSpace(r.Members["k"][1:]), []byte(`"requests"`))
}

// inJournal reports whether a record of a file is a line of a journal.
func inJournal(r trace.HeadRecord) bool { return r.Has("kind", "k") || r.Has("kind", "v") }

// isReplay reports whether a record is a log for a replay, or a prompt of one.
func isReplay(r trace.HeadRecord) bool {
	if r.Has("prompt", "logs") {
		return true
	}
	list := r.Members["prompts"]
	return build.IsKind(list, '[') && bytes.Contains(list, []byte(`"logs"`)) && bytes.Contains(list, []byte(`"prompt"`))
}

func assembleVSCode(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	if len(parts) == 0 || !inJournal(trace.NewHeadRecord(parts[0].Data, false)) {
		return assembler("copilot-chat", readVSCode)(key, parts)
	}
	lines := make([][]byte, len(parts))
	for i := range parts {
		lines[i] = parts[i].Data
	}
	whole := trace.Fragment{Key: key, Data: playJournal(lines), Pos: parts[0].Pos}
	return assembler("copilot-chat", readVSCode)(key, []trace.Fragment{whole})
}

// playJournal returns the document that the lines of a journal make: the first is a
// document, or none, and others set, extend or delete what is at a path of it.
func playJournal(lines [][]byte) []byte {
	var doc any = map[string]any{}
	for _, line := range lines {
		var change struct {
			Kind int             `json:"kind"`
			K    []any           `json:"k"`
			V    json.RawMessage `json:"v"`
			I    *int            `json:"i"`
		}
		if json.Unmarshal(line, &change) != nil {
			continue
		}
		var value any
		if len(change.V) > 0 {
			in := json.NewDecoder(bytes.NewReader(change.V))
			in.UseNumber()
			if in.Decode(&value) != nil {
				continue
			}
		}
		if change.Kind == 0 {
			doc = value
			continue
		}
		if len(change.K) > maxJournalDepth {
			continue
		}
		doc = changeAt(doc, change.K, func(old any) any {
			switch change.Kind {
			case 2:
				list, _ := old.([]any)
				more, _ := value.([]any)
				if change.I != nil && *change.I >= 0 && *change.I < len(list) {
					list = list[:*change.I]
				}
				return append(list, more...)
			case 3:
				return nil
			}
			return value
		})
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return []byte("{}")
	}
	return out
}

// maxJournalIndex is how far behind the end of a list a change may be, and
// maxJournalDepth how long its path.
const (
	maxJournalIndex = 1 << 10
	maxJournalDepth = 64
)

// changeAt returns a value with what is at a path of it changed.
func changeAt(value any, path []any, change func(any) any) any {
	if len(path) == 0 {
		return change(value)
	}
	switch at := path[0].(type) {
	case string:
		object, ok := value.(map[string]any)
		if !ok {
			object = map[string]any{}
		}
		object[at] = changeAt(object[at], path[1:], change)
		return object
	case float64:
		list, _ := value.([]any)
		i := int(at)
		if i < 0 || i > len(list)+maxJournalIndex {
			return value
		}
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = changeAt(list[i], path[1:], change)
		return list
	}
	return value
}

func readVSCode(l *log, record []byte) {
	if isReplay(trace.NewHeadRecord(record, false)) {
		readReplay(l, record)
		return
	}
	l.Builder.Trajectory.ID = cmp.Or(sessionlog.Text(record, "sessionId"), l.Builder.Trajectory.ID)
	c := jsonscan.New(build.MemberRaw(record, "requests"))
	for ok := c.Array(); ok && c.Element(); {
		readVSCodeRequest(l, c.Raw())
	}
}

func readVSCodeRequest(l *log, request []byte) {
	metadata := sessionlog.Member(request, "result", "metadata")
	s := sessionlog.Said{At: sessionlog.Moment(request, "timestamp"), Model: cmp.Or(sessionlog.Text(metadata, "resolvedModel"), strings.TrimPrefix(sessionlog.Text(request, "modelId"), "copilot/"))}
	asked := build.Item{Kind: build.ItemUser, Value: sessionlog.Raw(sessionlog.Member(request, "message", "text"))}
	if string(sessionlog.Member(request, "isSystemInitiated")) == "true" {
		asked.Kind = build.ItemSystem
	}
	l.Add([]build.Item{asked}, s)
	l.InTurn = false
	before := len(l.Builder.Trajectory.Turns)
	results := build.MemberRaw(metadata, "toolCallResults")
	rounds, read := jsonscan.New(build.MemberRaw(metadata, "toolCallRounds")), 0
	for ok := rounds.Array(); ok && rounds.Element(); {
		readRound(l, rounds.Raw(), results, s)
		read++
	}
	if read == 0 {
		readShown(l, build.MemberRaw(request, "response"), s)
	}
	if n := len(l.Builder.Trajectory.Turns); n > before { // those of the last response of a request
		turn := &l.Builder.Trajectory.Turns[n-1]
		if usage := build.ReadUsage(metadata, &build.UsageVSCode); usage.Known && !turn.Usage.Known {
			turn.Usage = usage
		}
	}
}

// readRound adds a response of the model, with its calls and their results.
func readRound(l *log, round, results []byte, s sessionlog.Said) {
	items := []build.Item{{Kind: build.ItemText, Value: sessionlog.Raw(sessionlog.Member(round, "response")), Opens: true}}
	if thought := sessionlog.Raw(sessionlog.Member(round, "thinking", "text")); !thought.IsEmpty() {
		items = append(items, build.Item{Kind: build.ItemThought, Value: thought})
	}
	var answers []build.Item
	c := jsonscan.New(build.MemberRaw(round, "toolCalls"))
	for ok := c.Array(); ok && c.Element(); {
		one := c.Raw()
		id := sessionlog.Text(one, "id")
		items = append(items, build.Item{Kind: build.ItemCall, ID: []byte(id), Tool: []byte(sessionlog.Text(one, "name")), Value: sessionlog.Raw(sessionlog.Member(one, "arguments"))})
		var answer trace.Raw
		in := jsonscan.New(sessionlog.Member(results, id, "content"))
		for ok := in.Array(); ok && in.Element(); {
			answer = build.JoinTexts(answer, sessionlog.Raw(sessionlog.Member(in.Raw(), "value")))
		}
		if !answer.IsZero() {
			answers = append(answers, build.Item{Kind: build.ItemResult, ID: []byte(id), Value: answer})
		}
	}
	l.Add(items, s)
	l.Add(answers, s)
}

// readShown adds what a response shows: texts, thoughts and calls in their order.
func readShown(l *log, response []byte, s sessionlog.Said) {
	called := false
	c := jsonscan.New(response)
	for ok := c.Array(); ok && c.Element(); {
		one := c.Raw()
		kind := sessionlog.Text(one, "kind")
		it := build.Item{Value: sessionlog.Raw(sessionlog.Member(one, "value"))}
		if inner := sessionlog.Raw(sessionlog.Member(one, "content", "value")); kind == "markdownContent" {
			kind, it.Value = "", inner
		}
		switch {
		case kind == "thinking" && !it.Value.IsEmpty():
			it.Kind = build.ItemThought
		case kind == "" && it.Value.Form == trace.FormString && !it.Value.IsEmpty():
			it.Kind = build.ItemText
		case kind == "toolInvocationSerialized":
			it = shownCall(one)
			called = true
		default:
			continue
		}
		if it.Kind != build.ItemCall && called {
			l.InTurn, called = false, false
		}
		l.Add([]build.Item{it}, s)
	}
}

// shownCall returns a call as a response shows it.
func shownCall(one []byte) build.Item {
	it := build.Item{Kind: build.ItemCall, ID: []byte(sessionlog.Text(one, "toolCallId")), Tool: []byte(sessionlog.Text(one, "toolId"))}
	data := sessionlog.Member(one, "toolSpecificData")
	it.Value = sessionlog.Raw(data)
	if command := cmpText(sessionlog.Member(data, "commandLine"), "userEdited", "original"); command != "" {
		it.Value = trace.JSONOf(append(jsonscan.AppendQuoted([]byte(`{"command":`), command), '}'))
	}
	if input := build.InnerJSON(sessionlog.Raw(sessionlog.Member(one, "resultDetails", "input"))); build.IsKind(input, '{') {
		it.Value = trace.JSONOf(input)
	}
	result := sessionlog.Raw(sessionlog.Member(data, "terminalCommandOutput", "text"))
	c := jsonscan.New(sessionlog.Member(one, "resultDetails", "output"))
	for ok := c.Array(); ok && c.Element(); {
		if value := sessionlog.Raw(sessionlog.Member(c.Raw(), "value")); value.Form == trace.FormString {
			result = build.JoinTexts(result, value)
		}
	}
	if string(sessionlog.Member(one, "isComplete")) != "true" && result.IsZero() {
		return it
	}
	it.Answered, it.Result = true, result
	exit := string(sessionlog.Member(data, "terminalCommandState", "exitCode"))
	switch {
	case exit == "0":
		it.Status = trace.StatusOK
	case exit != "" && exit != "null", string(sessionlog.Member(one, "resultDetails", "isError")) == "true":
		it.Status = trace.StatusFailed
	}
	return it
}

// readReplay adds a log for a replay: the requests to the model with their answers, and
// the calls that were made. The calls behind a request are those of its answer.
func readReplay(l *log, record []byte) {
	prompts := [][]byte{record}
	if list := sessionlog.Member(record, "prompts"); build.IsKind(list, '[') {
		prompts = nil
		c := jsonscan.New(list)
		for ok := c.Array(); ok && c.Element(); {
			prompts = append(prompts, c.Raw())
		}
	}
	for _, prompt := range prompts {
		l.Add([]build.Item{{Kind: build.ItemUser, Value: sessionlog.Raw(sessionlog.Member(prompt, "prompt"))}}, sessionlog.Said{})
		c := jsonscan.New(sessionlog.Member(prompt, "logs"))
		for ok := c.Array(); ok && c.Element(); {
			readReplayEntry(l, c.Raw())
		}
	}
}

func readReplayEntry(l *log, entry []byte) {
	s := sessionlog.Said{At: sessionlog.Moment(entry, "metadata.startTime", "time"), End: sessionlog.Moment(entry, "metadata.endTime"), Model: sessionlog.Text(entry, "metadata", "model")}
	s.Usage = usageOf(sessionlog.Member(entry, "metadata"))
	switch sessionlog.Text(entry, "kind") {
	case "request":
		if sessionlog.Text(entry, "response", "type") != "success" {
			return
		}
		answer := sessionlog.Raw(sessionlog.Member(entry, "response", "message"))
		if answer.Form == trace.FormParts || answer.Form == trace.FormJSON {
			var joined trace.Raw
			c := jsonscan.New(answer.Data)
			for ok := c.Array(); ok && c.Element(); {
				joined = build.JoinTexts(joined, build.ReadRaw(&c))
			}
			answer = joined
		}
		l.Answered = false
		l.Add([]build.Item{{Kind: build.ItemText, Value: answer, Opens: true}}, s)
	case "toolCall":
		it := build.Item{Kind: build.ItemCall, ID: []byte(sessionlog.Text(entry, "id")), Tool: []byte(sessionlog.Text(entry, "tool")), Value: sessionlog.Raw(sessionlog.Member(entry, "args"))}
		if response := sessionlog.Raw(sessionlog.Member(entry, "response")); !response.IsZero() {
			it.Answered, it.Result = true, response
		}
		if thought := sessionlog.Raw(sessionlog.Member(entry, "thinking", "text")); !thought.IsEmpty() && l.InTurn {
			l.Say(&build.Item{Kind: build.ItemThought, Value: thought}, s)
		}
		l.Answered = false
		l.Add([]build.Item{it}, s)
	}
}
