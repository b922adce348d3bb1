package gemini

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// geminiRecord is a record with what is read of it.
type geminiRecord struct {
	items     []build.Item // those of the answer behind the others
	answer    int          // where the answer begins
	answered  bool
	request   bool // there are contents, so that the record stands for itself
	response  build.Response
	id        []byte // of the response
	tools     []byte
	system    trace.Raw
	anomalies map[string]int
}

func readGeminiRecord(c *jsonscan.Cursor) *geminiRecord {
	g := &geminiRecord{anomalies: map[string]int{}}
	var answer geminiAnswer
	switch c.Kind() {
	case jsonscan.Array:
		for c.Array(); c.Element(); {
			g.element(c, &answer)
		}
		g.request = !answer.some
	case jsonscan.Object:
		g.object(c, &answer, true)
	}
	g.answer = len(g.items)
	if !g.system.IsEmpty() {
		g.items = append([]build.Item{{Kind: build.ItemSystem, Value: g.system}}, g.items...)
		g.answer++
	}
	if answer.some {
		g.items = append(g.items, mergeTexts(answer.items)...)
		g.answered, g.response = true, answer.response
	}
	if g.response.Model == "" {
		g.response.Model = answer.response.Model
	}
	return g
}

// element reads an element of an array: a content, or a piece of an answer.
func (g *geminiRecord) element(c *jsonscan.Cursor, answer *geminiAnswer) {
	if !c.Object() {
		g.anomalies[build.CodeMessageShape]++
		return
	}
	g.members(c, answer, false)
}

func (g *geminiRecord) object(c *jsonscan.Cursor, answer *geminiAnswer, outer bool) {
	if c.Object() {
		g.members(c, answer, outer)
	}
}

// members reads a request, an answer, a content, or a pair of a request and an
// answer; outer says that it may be a pair.
func (g *geminiRecord) members(c *jsonscan.Cursor, answer *geminiAnswer, outer bool) {
	var role, parts []byte
	var usage, stamp, candidates []byte
	for c.Member() {
		switch string(c.Key()) {
		case "contents", "history":
			g.contents(c)
		case "systemInstruction", "system_instruction":
			g.system = build.ReadGeminiText(c)
		case "tools":
			g.tools = c.Raw()
		case "config": // as the SDK writes requests
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "systemInstruction", "system_instruction":
					g.system = build.ReadGeminiText(c)
				case "tools":
					g.tools = c.Raw()
				}
			}
		case "model":
			if model, ok := c.Text(); ok && g.response.Model == "" {
				g.response.Model = strings.TrimPrefix(string(model), "models/")
			}
		case "request", "body":
			if outer {
				g.object(c, answer, false)
			}
		case "response":
			switch {
			case !outer:
			case c.Kind() == jsonscan.Array:
				for c.Array(); c.Element(); {
					g.object(c, answer, false)
				}
			default:
				g.object(c, answer, false)
			}
		case "role":
			role, _ = c.Text()
		case "parts":
			parts = c.Raw()
		case "candidates":
			candidates = c.Raw()
		case "usageMetadata", "usage_metadata":
			usage = c.Raw()
		case "modelVersion", "model_version":
			if model, ok := c.Text(); ok {
				answer.response.Model = string(model)
			}
		case "createTime", "create_time":
			stamp, _ = c.Text()
		case "responseId", "response_id":
			g.id, _ = c.Text()
		}
	}
	if parts != nil {
		g.content(role, parts)
	}
	if candidates == nil && usage == nil {
		return
	}
	answer.some = true
	if candidates != nil {
		scan := jsonscan.New(candidates)
		answer.candidates(&scan, g)
	}
	if usage != nil {
		scan := jsonscan.New(usage)
		if u := build.UsageGemini.Read(&scan); u.Known {
			answer.response.Usage = u
		}
	}
	if len(stamp) > 0 {
		at, bad := build.ParseStamp(stamp)
		if bad {
			g.anomalies[build.CodeTimeInvalid]++
		}
		answer.response.End = at
	}
}

// contents reads a list of contents, one content, or a text.
func (g *geminiRecord) contents(c *jsonscan.Cursor) {
	g.request = true
	switch c.Kind() {
	case jsonscan.String:
		g.items = append(g.items, build.Item{Kind: build.ItemUser, Value: build.ReadRaw(c)})
	case jsonscan.Object:
		g.oneContent(c)
	case jsonscan.Array:
		for c.Array(); c.Element(); {
			g.oneContent(c)
		}
	}
}

func (g *geminiRecord) oneContent(c *jsonscan.Cursor) {
	if !c.Object() {
		g.anomalies[build.CodeMessageShape]++
		return
	}
	var role, parts []byte
	for c.Member() {
		switch string(c.Key()) {
		case "role":
			role, _ = c.Text()
		case "parts":
			parts = c.Raw()
		}
	}
	g.content(role, parts)
}

// content adds a content of the history.
func (g *geminiRecord) content(role, parts []byte) {
	model := string(role) == "model"
	switch string(role) {
	case "model", "user", "function", "tool", "":
	case "system":
		g.items = append(g.items, build.Item{Kind: build.ItemSystem, Value: trace.Raw{Data: parts, Form: trace.FormParts}})
		return
	default:
		g.anomalies[build.CodeMessageRole]++
		return
	}
	items := mergeTexts(readGeminiParts(parts, model, g.anomalies))
	for i := range items {
		items[i].Opens = i == 0 && model
	}
	g.items = append(g.items, items...)
}

// geminiAnswer is an answer, put together from its pieces.
type geminiAnswer struct {
	some     bool
	items    []build.Item
	response build.Response
}

// candidates reads the first of several answers.
func (a *geminiAnswer) candidates(c *jsonscan.Cursor, g *geminiRecord) {
	first := true
	for ok := c.Array(); ok && c.Element(); {
		if !first {
			g.anomalies[build.CodeChoiceIgnored]++
			continue
		}
		first = false
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) != "content" {
				continue
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "parts" {
					a.items = append(a.items, readGeminiParts(c.Raw(), true, g.anomalies)...)
				}
			}
		}
	}
}

// readGeminiTools reads the functions that a request offers.
func readGeminiTools(b *build.Builder, data []byte) []trace.ToolDef {
	var tools []trace.ToolDef
	c := jsonscan.New(data)
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			if key := string(c.Key()); key != "functionDeclarations" && key != "function_declarations" {
				continue
			}
			for ok := c.Array(); ok && c.Element(); {
				if !c.Object() {
					b.Anomaly(build.CodeMessageShape, 1)
					continue
				}
				var tool trace.ToolDef
				var name []byte
				for c.Member() {
					switch string(c.Key()) {
					case "name":
						name, _ = c.Text()
					case "description":
						tool.Description = build.ReadRaw(&c)
					case "parameters", "parametersJsonSchema", "parameters_json_schema":
						tool.Input = build.ReadRaw(&c)
					case "response", "responseJsonSchema", "response_json_schema":
						tool.Output = build.ReadRaw(&c)
					}
				}
				if len(name) == 0 {
					b.Anomaly(build.CodeCallUnnamed, 1)
					continue
				}
				tool.Name = b.Names.Intern(name)
				tools = append(tools, tool)
			}
		}
	}
	return tools
}
