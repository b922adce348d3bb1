package sessions

import (
	"bytes"
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/sessionlog"
)

// WebUI reads chats of Open WebUI, exported or as its interface gives them:
//
//	{"id", "chat": {"models", "history": {"messages": {"<id>": {...}}, "currentId"}}}
//
// Messages are a tree, of which the branch that ends with the current one is the
// trajectory. A message of the model holds several responses with their calls: as items
// of OpenAI's Responses interface under "output", else as elements in its text,
// <details type="tool_calls" name arguments result>. Elements beside each other are calls of
// one turn, because nothing tells whether the model was asked in between.
var WebUI = trace.Format{
	Name:     "open-webui",
	Doc:      "Chats of Open WebUI, as exported.",
	Spec:     "https://docs.openwebui.com/features/chat-conversations/data-controls/import-export/",
	Detect:   detectWebUI,
	Decode:   decoder(func([]byte) bool { return true }, nil),
	Assemble: assembler("", readWebUI),
}

func detectWebUI(h trace.Head) trace.Match {
	for _, r := range h.Records {
		chat := r
		if inner := r.Members["chat"]; build.IsKind(inner, '{') {
			chat = trace.NewHeadRecord(inner, true)
		}
		history := trace.NewHeadRecord(chat.Members["history"], true)
		if build.IsKind(history.Members["messages"], '{') && (history.Has("currentId") || bytes.Contains(history.Members["messages"], []byte(`"childrenIds"`))) {
			return trace.Match{OK: true}
		}
	}
	return trace.Match{}
}

func readWebUI(l *log, record []byte) {
	chat := record
	if inner := sessionlog.Member(record, "chat"); build.IsKind(inner, '{') {
		chat = inner
	}
	t := l.Builder.Trajectory
	t.ID = cmp.Or(sessionlog.Text(record, "id"), sessionlog.Text(chat, "id"))
	t.Session = t.ID
	if system := sessionlog.Raw(first(chat, "system")); system.Form == trace.FormString && !system.IsEmpty() {
		l.Builder.Message(trace.RoleSystem, system)
	} else if system := sessionlog.Raw(sessionlog.Member(chat, "params", "system")); system.Form == trace.FormString && !system.IsEmpty() {
		l.Builder.Message(trace.RoleSystem, system)
	}
	for _, m := range branchOf(chat) {
		readWebMessage(l, m)
	}
}

// branchOf returns the messages of a chat from the first to the current one.
func branchOf(chat []byte) (out [][]byte) {
	byID := map[string][]byte{}
	last := ""
	c := jsonscan.New(sessionlog.Member(chat, "history", "messages"))
	for ok := c.Object(); ok && c.Member(); {
		id := string(c.Key())
		if one := c.Raw(); build.IsKind(one, '{') {
			byID[id], last = one, id
		}
	}
	if current := sessionlog.Text(chat, "history", "currentId"); byID[current] != nil {
		last = current
	}
	for id := last; byID[id] != nil; {
		one := byID[id]
		out = append(out, one)
		delete(byID, id) // circles end
		id = sessionlog.Text(one, "parentId")
	}
	slices.Reverse(out)
	if out != nil {
		return out
	}
	c = jsonscan.New(sessionlog.Member(chat, "messages"))
	for ok := c.Array(); ok && c.Element(); {
		if one := c.Raw(); build.IsKind(one, '{') {
			out = append(out, one)
		}
	}
	return out
}

// readWebMessage adds a message: what the user said, or responses of the model with
// their calls.
func readWebMessage(l *log, m []byte) {
	s := sessionlog.Said{At: sessionlog.Moment(m, "timestamp"), Model: sessionlog.Text(m, "model")}
	if sessionlog.Text(m, "role") != "assistant" {
		items, _ := l.Messages.Read(trace.JSONOf(m), false)
		l.Add(items, s)
		return
	}
	var items []build.Item
	c := jsonscan.New(sessionlog.Member(m, "output"))
	for ok := c.Array(); ok && c.Element(); {
		one, _ := l.Messages.Read(trace.JSONOf(c.Raw()), true)
		items = append(items, one...)
	}
	if len(items) == 0 {
		items = detailItems(sessionlog.Text(m, "content"))
	}
	before := len(l.Builder.Trajectory.Turns)
	l.InTurn = false
	for i := range items {
		if i > 0 && items[i-1].Kind == build.ItemResult && items[i].Kind != build.ItemResult {
			l.InTurn = false // the model was asked again
		}
		items[i].Opens = false
		l.Add(items[i:i+1], s)
	}
	if n := len(l.Builder.Trajectory.Turns); n > before { // the counts are those of the last request
		turn := &l.Builder.Trajectory.Turns[n-1]
		turn.Usage = usageOf(m)
		if !turn.Usage.Known {
			turn.Usage = countedUsage(first(m, "usage", "info"), "prompt_eval_count", "eval_count") // Ollama's
		}
	}
}

// countedUsage returns the tokens that two members of an object count.
func countedUsage(counts []byte, input, output string) (u trace.Usage) {
	for name, to := range map[string]*int64{input: &u.Input, output: &u.Output} {
		c := jsonscan.New(build.MemberRaw(counts, name))
		if n, ok := c.Int(); ok && n >= 0 {
			*to, u.Known = n, true
		}
	}
	return u
}

// Elements in the text of a message, and their attributes.
var (
	detailElement   = regexp.MustCompile(`(?s)<details\s+type="(\w+)"([^>]*)>(.*?)</details>`)
	detailAttribute = regexp.MustCompile(`(\w+)="([^"]*)"`)
	detailSummary   = regexp.MustCompile(`(?s)<summary>.*?</summary>`)
)

// detailItems returns what a text of a message says: texts, thoughts, and calls with
// their results.
func detailItems(content string) (items []build.Item) {
	var results []build.Item
	flush := func() { items, results = append(items, results...), nil }
	say := func(kind build.ItemKind, said string) {
		if said = strings.TrimSpace(said); said != "" {
			flush()
			items = append(items, build.Item{Kind: kind, Value: trace.TextOf(said)})
		}
	}
	end := 0
	for _, at := range detailElement.FindAllStringSubmatchIndex(content, -1) {
		say(build.ItemText, content[end:at[0]])
		end = at[1]
		body := html.UnescapeString(strings.TrimSpace(detailSummary.ReplaceAllString(content[at[6]:at[7]], "")))
		attrs := map[string]string{}
		for _, a := range detailAttribute.FindAllStringSubmatch(content[at[4]:at[5]], -1) {
			attrs[a[1]] = html.UnescapeString(a[2])
		}
		switch content[at[2]:at[3]] {
		case "reasoning":
			say(build.ItemThought, body)
		case "tool_calls":
			call := build.Item{Kind: build.ItemCall, ID: []byte(attrs["id"]), Tool: []byte(attrs["name"]), Value: quoted(attrs["arguments"], build.ReadArgs)}
			items = append(items, call)
			if result := cmp.Or(attrs["result"], body); attrs["done"] != "false" {
				results = append(results, build.Item{Kind: build.ItemResult, ID: call.ID, Tool: call.Tool, Value: quoted(result, build.ReadRaw)})
			}
		case "code_interpreter":
			args := append(jsonscan.AppendQuoted([]byte(`{"code":`), body), '}')
			items = append(items, build.Item{Kind: build.ItemCall, Tool: []byte("code_interpreter"), Value: trace.JSONOf(args)})
			if output := attrs["output"]; output != "" {
				results = append(results, build.Item{Kind: build.ItemResult, Tool: []byte("code_interpreter"), Value: quoted(output, build.ReadRaw)})
			}
		}
	}
	say(build.ItemText, content[end:])
	flush()
	return items
}

// quoted returns a value that was written as JSON, or else as the text that it is.
func quoted(text string, read func(*jsonscan.Cursor) trace.Raw) trace.Raw {
	if c := jsonscan.New([]byte(text)); c.End() != nil || text == "" {
		return trace.TextOf(text).OrAbsent()
	}
	c := jsonscan.New([]byte(text))
	return read(&c)
}
