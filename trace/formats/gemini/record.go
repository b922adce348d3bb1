package gemini

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// record is a record with what is read of it.
type record struct {
	messages *message.Reader
	odd      *build.Builder // what is odd about it
	request  bool           // there are contents, so that the record stands for itself
	asked    []build.Item
	answered bool
	parts    [][]byte // of the answer
	response build.Response
	id       []byte // of the response
	tools    []byte
}

// read reads a record: a request, an answer or pieces of one, contents, or a request with
// its answer.
func read(data []byte) *record {
	g := &record{odd: build.New(0)}
	g.messages = message.NewReader(g.odd)
	g.messages.Once = true
	request := data
	for _, name := range []string{"request", "body"} {
		if inner := build.MemberRaw(data, name); build.IsKind(inner, '{') {
			request = inner
		}
	}
	g.answers(build.MemberRaw(data, "response"))
	g.answers(data)
	if build.IsKind(request, '[') {
		if g.request = !g.answered; g.request {
			g.contents(request)
		}
		return g
	}
	for _, object := range [][]byte{request, build.MemberRaw(request, "config")} { // as the SDK writes requests
		if tools := build.MemberRaw(object, "tools"); tools != nil {
			g.tools = tools
		}
	}
	if system := message.System(request); !system.IsEmpty() {
		g.asked = []build.Item{{Kind: build.ItemSystem, Value: system}}
	}
	if g.response.Model == "" {
		g.response.Model = strings.TrimPrefix(string(build.MemberText(request, "model")), "models/")
	}
	for _, name := range []string{"contents", "history"} {
		if contents := build.MemberRaw(request, name); contents != nil {
			g.request = true
			g.contents(contents)
		}
	}
	if build.HasMember(request, "parts") {
		g.contents(request)
	}
	return g
}

// contents reads a list of contents, one content, or a text.
func (g *record) contents(value []byte) {
	if build.IsKind(value, '[') {
		for one := range build.Elements(value) {
			g.contents(one)
		}
		return
	}
	if string(build.MemberText(value, "role")) == "model" {
		value = join(g.odd, slices.Collect(build.Elements(build.MemberRaw(value, "parts"))))
	} else if !build.IsKind(value, '{') && !build.IsKind(value, '"') {
		g.odd.Anomaly(build.CodeMessageShape, 1)
		return
	}
	g.asked = append(g.asked, g.said(build.Raw(value), false)...)
}

// said reads a content, whose parts are one text.
func (g *record) said(content trace.Raw, answer bool) []build.Item {
	items, _ := g.messages.Read(content, answer)
	for i := range items {
		if it := &items[i]; it.Value.Form == trace.FormParts {
			it.Value = trace.TextOf(it.Value.Text())
		}
	}
	return items
}

// answers reads an answer, or a list of the pieces of one.
func (g *record) answers(value []byte) {
	for piece := range build.Elements(value) {
		g.answers(piece)
	}
	var answer bool
	c := jsonscan.New(value)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "candidates":
			answer = true
			for i, candidate := range slices.Collect(build.Elements(c.Raw())) {
				if i > 0 {
					g.odd.Anomaly(build.CodeChoiceIgnored, 1)
					continue
				}
				g.parts = append(g.parts, slices.Collect(build.Elements(build.MemberRaw(candidate, "content", "parts")))...)
			}
		case "usageMetadata", "usage_metadata":
			answer = true
			if u := build.ReadUsage(c.Raw(), &build.UsageGemini); u.Known {
				g.response.Usage = u
			}
		case "modelVersion", "model_version":
			if text, ok := c.Text(); ok {
				g.response.Model = string(text)
			}
		case "createTime", "create_time":
			g.response.End = g.odd.ReadTime(&c)
		case "responseId", "response_id":
			g.id, _ = c.Text()
		}
	}
	g.answered = g.answered || answer
}

// add adds a further piece of the same response, whose token counts are the latest.
func (g *record) add(piece *record) {
	g.parts = append(g.parts, piece.parts...)
	if piece.response.Usage.Known {
		g.response.Usage = piece.response.Usage
	}
	if !piece.response.End.IsZero() {
		g.response.End = piece.response.End
	}
	for code, n := range piece.odd.Trajectory.Anomalies.ByCode {
		g.odd.Anomaly(code, n)
	}
}

// items returns what was asked, and behind it what was answered.
func (g *record) items() (items []build.Item, answer int) {
	items, answer = g.asked, len(g.asked)
	if g.answered {
		items = append(items[:answer:answer], g.said(trace.JSONOf(join(g.odd, g.parts)), true)...)
	}
	return items, answer
}
