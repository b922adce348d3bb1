package maps

import (
	"encoding/json"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// divideVSCode returns a session or a replay as its events, and of a journal the line.
func divideVSCode(record []byte) [][]byte {
	if build.HasMember(record, "kind") && (build.HasMember(record, "k") || build.HasMember(record, "v")) {
		return [][]byte{build.Object("journal", "1", "line", record)}
	}
	return [][]byte{eventsOfVSCode(record)}
}

// readVSCode plays the lines of a journal.
func readVSCode(_ *build.Builder, records [][]byte) [][]byte {
	if !build.HasMember(records[0], "journal") {
		return records
	}
	return [][]byte{eventsOfVSCode(playJournal(records))}
}

// playJournal returns the document that the lines of a journal make: the first is a
// document, or none, and others set, extend or delete what is at a path of it.
func playJournal(lines [][]byte) []byte {
	var doc any = map[string]any{}
	for _, line := range lines {
		var change struct {
			Kind int   `json:"kind"`
			K    []any `json:"k"`
			V    any   `json:"v"`
			I    *int  `json:"i"`
		}
		if json.Unmarshal(build.MemberRaw(line, "line"), &change) != nil {
			continue
		}
		if change.Kind == 0 {
			doc = change.V
			continue
		}
		doc = build.Edit(doc, change.K, func(old any) any {
			switch change.Kind {
			case 2:
				list, _ := old.([]any)
				more, _ := change.V.([]any)
				if change.I != nil && *change.I >= 0 && *change.I < len(list) {
					list = list[:*change.I]
				}
				return append(list, more...)
			case 3:
				return nil
			}
			return change.V
		})
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return []byte("{}")
	}
	return out
}

// eventsOfVSCode returns a session or a replay with its events one behind the other: what was
// asked, the rounds of calls or else what the answer shows, and its token counts.
func eventsOfVSCode(record []byte) []byte {
	var events [][]byte
	for request := range build.Elements(build.MemberRaw(record, "requests")) {
		events = append(events, requestOfVSCode(request)...)
	}
	prompts := build.MemberRaw(record, "prompts")
	if !build.IsKind(prompts, '[') {
		prompts = build.List([][]byte{record})
	}
	for prompt := range build.Elements(prompts) {
		if asked := build.MemberRaw(prompt, "prompt"); asked != nil {
			events = append(events, build.Object("kind", "asked", "value", asked))
		}
		for entry := range build.Elements(build.MemberRaw(prompt, "logs")) {
			if said := build.MemberRaw(entry, "response", "message"); build.IsKind(said, '[') {
				entry = build.Object("kind", build.MemberRaw(entry, "kind"), "metadata", build.MemberRaw(entry, "metadata"),
					"response", build.Object("type", build.MemberRaw(entry, "response", "type"), "message", jsonscan.AppendQuoted(nil, trace.Raw{Data: said, Form: trace.FormParts}.Text())))
			}
			events = append(events, entry)
		}
	}
	return build.Object("sessionId", build.MemberRaw(record, "sessionId"), "events", build.List(events))
}

// requestOfVSCode returns the events of a request.
func requestOfVSCode(request []byte) (events [][]byte) {
	metadata := build.MemberRaw(request, "result", "metadata")
	about := build.Object("timestamp", build.MemberRaw(request, "timestamp"), "modelId", build.MemberRaw(request, "modelId"), "resolvedModel", build.MemberRaw(metadata, "resolvedModel"))
	add := func(kind string, value []byte) {
		events = append(events, build.Object("kind", kind, "about", about, "value", value))
	}
	asked := "asked"
	if string(build.MemberRaw(request, "isSystemInitiated")) == "true" {
		asked = "told"
	}
	add(asked, build.MemberRaw(request, "message", "text"))
	results := build.MemberRaw(metadata, "toolCallResults")
	for round := range build.Elements(build.MemberRaw(metadata, "toolCallRounds")) {
		add("round", round)
		for call := range build.Elements(build.MemberRaw(round, "toolCalls")) {
			if text := valuesOf(build.MemberRaw(results, build.TextAt(call, "id"), "content")); !text.IsZero() {
				events = append(events, build.Object("kind", "result", "about", about, "id", build.MemberRaw(call, "id"), "value", jsonscan.AppendQuoted(nil, text.Text())))
			}
		}
	}
	if len(events) == 1 {
		called := false
		for shown := range build.Elements(build.MemberRaw(request, "response")) {
			kind := build.TextAt(shown, "kind")
			isCall := kind == "toolInvocationSerialized"
			said := build.TextAt(shown, "value") + build.TextAt(shown, "content", "value")
			switch {
			case isCall:
				shown = build.Object("call", shown, "output", outputOfVSCode(shown))
			case said == "":
				continue
			case called:
				add("behind", nil)
			}
			called = isCall
			add("shown "+kind, shown)
		}
	}
	if len(events) > 1 {
		add("counts", metadata)
	}
	return events
}

// outputOfVSCode returns what a call that an answer shows gave back, which may be nothing; nil
// while it is not complete.
func outputOfVSCode(call []byte) []byte {
	output := valuesOf(build.MemberRaw(call, "resultDetails", "output"))
	if output.IsZero() {
		output = build.Raw(build.MemberRaw(call, "toolSpecificData", "terminalCommandOutput", "text"))
	}
	if output.IsZero() && string(build.MemberRaw(call, "isComplete")) != "true" {
		return nil
	}
	return jsonscan.AppendQuoted(nil, output.Text())
}

// valuesOf joins the texts of a list of objects that have them as their value.
func valuesOf(list []byte) (text trace.Raw) {
	for one := range build.Elements(list) {
		if value := build.Raw(build.MemberRaw(one, "value")); value.Form == trace.FormString {
			text = build.JoinTexts(text, value)
		}
	}
	return text
}
