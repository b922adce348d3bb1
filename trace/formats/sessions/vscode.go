package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
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
	l.b.Trajectory.ID = cmp.Or(text(record, "sessionId"), l.b.Trajectory.ID)
	c := jsonscan.New(build.MemberRaw(record, "requests"))
	for ok := c.Array(); ok && c.Element(); {
		readVSCodeRequest(l, c.Raw())
	}
}

func readVSCodeRequest(l *log, request []byte) {
	metadata := member(request, "result", "metadata")
	s := said{at: moment(request, "timestamp"), model: cmp.Or(text(metadata, "resolvedModel"), strings.TrimPrefix(text(request, "modelId"), "copilot/"))}
	asked := build.Item{Kind: build.ItemUser, Value: raw(member(request, "message", "text"))}
	if string(member(request, "isSystemInitiated")) == "true" {
		asked.Kind = build.ItemSystem
	}
	l.add([]build.Item{asked}, s)
	l.inTurn = false
	before := len(l.b.Trajectory.Turns)
	results := build.MemberRaw(metadata, "toolCallResults")
	rounds, read := jsonscan.New(build.MemberRaw(metadata, "toolCallRounds")), 0
	for ok := rounds.Array(); ok && rounds.Element(); {
		readRound(l, rounds.Raw(), results, s)
		read++
	}
	if read == 0 {
		readShown(l, build.MemberRaw(request, "response"), s)
	}
	if n := len(l.b.Trajectory.Turns); n > before { // those of the last response of a request
		turn := &l.b.Trajectory.Turns[n-1]
		if usage := build.ReadUsage(metadata, &build.UsageVSCode); usage.Known && !turn.Usage.Known {
			turn.Usage = usage
		}
	}
}

// readRound adds a response of the model, with its calls and their results.
func readRound(l *log, round, results []byte, s said) {
	items := []build.Item{{Kind: build.ItemText, Value: raw(member(round, "response")), Opens: true}}
	if thought := raw(member(round, "thinking", "text")); !thought.IsEmpty() {
		items = append(items, build.Item{Kind: build.ItemThought, Value: thought})
	}
	var answers []build.Item
	c := jsonscan.New(build.MemberRaw(round, "toolCalls"))
	for ok := c.Array(); ok && c.Element(); {
		one := c.Raw()
		id := text(one, "id")
		items = append(items, build.Item{Kind: build.ItemCall, ID: []byte(id), Tool: []byte(text(one, "name")), Value: raw(member(one, "arguments"))})
		var answer trace.Raw
		in := jsonscan.New(member(results, id, "content"))
		for ok := in.Array(); ok && in.Element(); {
			answer = build.JoinTexts(answer, raw(member(in.Raw(), "value")))
		}
		if !answer.IsZero() {
			answers = append(answers, build.Item{Kind: build.ItemResult, ID: []byte(id), Value: answer})
		}
	}
	l.add(items, s)
	l.add(answers, s)
}

// readShown adds what a response shows: texts, thoughts and calls in their order.
func readShown(l *log, response []byte, s said) {
	called := false
	c := jsonscan.New(response)
	for ok := c.Array(); ok && c.Element(); {
		one := c.Raw()
		kind := text(one, "kind")
		it := build.Item{Value: raw(member(one, "value"))}
		if inner := raw(member(one, "content", "value")); kind == "markdownContent" {
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
			l.inTurn, called = false, false
		}
		l.add([]build.Item{it}, s)
	}
}

// shownCall returns a call as a response shows it.
func shownCall(one []byte) build.Item {
	it := build.Item{Kind: build.ItemCall, ID: []byte(text(one, "toolCallId")), Tool: []byte(text(one, "toolId"))}
	data := member(one, "toolSpecificData")
	it.Value = raw(data)
	if command := cmpText(member(data, "commandLine"), "userEdited", "original"); command != "" {
		it.Value = trace.JSONOf(append(jsonscan.AppendQuoted([]byte(`{"command":`), command), '}'))
	}
	if input := build.InnerJSON(raw(member(one, "resultDetails", "input"))); build.IsKind(input, '{') {
		it.Value = trace.JSONOf(input)
	}
	result := raw(member(data, "terminalCommandOutput", "text"))
	c := jsonscan.New(member(one, "resultDetails", "output"))
	for ok := c.Array(); ok && c.Element(); {
		if value := raw(member(c.Raw(), "value")); value.Form == trace.FormString {
			result = build.JoinTexts(result, value)
		}
	}
	if string(member(one, "isComplete")) != "true" && result.IsZero() {
		return it
	}
	it.Answered, it.Result = true, result
	exit := string(member(data, "terminalCommandState", "exitCode"))
	switch {
	case exit == "0":
		it.Status = trace.StatusOK
	case exit != "" && exit != "null", string(member(one, "resultDetails", "isError")) == "true":
		it.Status = trace.StatusFailed
	}
	return it
}

// readReplay adds a log for a replay: the requests to the model with their answers, and
// the calls that were made. The calls behind a request are those of its answer.
func readReplay(l *log, record []byte) {
	prompts := [][]byte{record}
	if list := member(record, "prompts"); build.IsKind(list, '[') {
		prompts = nil
		c := jsonscan.New(list)
		for ok := c.Array(); ok && c.Element(); {
			prompts = append(prompts, c.Raw())
		}
	}
	for _, prompt := range prompts {
		l.add([]build.Item{{Kind: build.ItemUser, Value: raw(member(prompt, "prompt"))}}, said{})
		c := jsonscan.New(member(prompt, "logs"))
		for ok := c.Array(); ok && c.Element(); {
			readReplayEntry(l, c.Raw())
		}
	}
}

func readReplayEntry(l *log, entry []byte) {
	s := said{at: moment(entry, "metadata.startTime", "time"), end: moment(entry, "metadata.endTime"), model: text(entry, "metadata", "model")}
	s.usage = usageOf(member(entry, "metadata"))
	switch text(entry, "kind") {
	case "request":
		if text(entry, "response", "type") != "success" {
			return
		}
		answer := raw(member(entry, "response", "message"))
		if answer.Form == trace.FormParts || answer.Form == trace.FormJSON {
			var joined trace.Raw
			c := jsonscan.New(answer.Data)
			for ok := c.Array(); ok && c.Element(); {
				joined = build.JoinTexts(joined, build.ReadRaw(&c))
			}
			answer = joined
		}
		l.answered = false
		l.add([]build.Item{{Kind: build.ItemText, Value: answer, Opens: true}}, s)
	case "toolCall":
		it := build.Item{Kind: build.ItemCall, ID: []byte(text(entry, "id")), Tool: []byte(text(entry, "tool")), Value: raw(member(entry, "args"))}
		if response := raw(member(entry, "response")); !response.IsZero() {
			it.Answered, it.Result = true, response
		}
		if thought := raw(member(entry, "thinking", "text")); !thought.IsEmpty() && l.inTurn {
			l.say(&build.Item{Kind: build.ItemThought, Value: thought}, s)
		}
		l.answered = false
		l.add([]build.Item{it}, s)
	}
}
