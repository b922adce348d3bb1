package message

import (
	"cmp"
	"html"
	"regexp"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Elements in the text of a message, and their attributes.
var (
	detailElement   = regexp.MustCompile(`(?s)<details\s+type="(\w+)"([^>]*)>(.*?)</details>`)
	detailAttribute = regexp.MustCompile(`(\w+)="([^"]*)"`)
	detailSummary   = regexp.MustCompile(`(?s)<summary>.*?</summary>`)
)

// detailItems returns what a text of the model says in which Open WebUI keeps thoughts, and
// calls with their results, as elements; nil for any other.
func detailItems(content string) (items []build.Item) {
	found := detailElement.FindAllStringSubmatchIndex(content, -1)
	if found == nil {
		return nil
	}
	var results []build.Item
	flush := func() { items, results = append(items, results...), nil }
	say := func(kind build.ItemKind, said string) {
		if said = strings.TrimSpace(said); said != "" {
			flush()
			items = append(items, build.Item{Kind: kind, Value: trace.TextOf(said)})
		}
	}
	end := 0
	for _, at := range found {
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
			items = append(items, build.Item{Kind: build.ItemCall, Tool: []byte("code_interpreter"), Value: trace.JSONOf(build.Object("code", body))})
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
