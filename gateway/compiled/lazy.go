package compiled

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/trace"
)

// Lazy says how tools are listed.
type Lazy string

// The choices (EcoAct: tools are registered when they are needed).
const (
	LazyOff    Lazy = "off"    // all
	LazyCall   Lazy = "call"   // pinned ones; others are looked up by name and called by another tool
	LazyList   Lazy = "list"   // pinned ones; what is looked up is listed from then on
	LazySearch Lazy = "search" // pinned ones; others are found by a query and called by another tool
)

// The tools that stand for those that are not listed.
const (
	registerTool = "tool_register"
	callTool     = "tool_call"
	searchTool   = "search_tools"
)

// A Searcher finds tools for a query.
type Searcher interface {
	// Index prepares for tools. traced returns the name of the tool that traces call by a
	// name, "" if there is none.
	Index(definitions []json.RawMessage, traced func(name string) string) func(query string) Hits
}

// Hits are names of tools: those that fit a query, best first, and others that have to be
// called before these.
type Hits struct{ Found, First []string }

// CodeNames is the code of a problem with a list of names.
const CodeNames = "names-unread"

// maxNames is how many names a list may have.
const maxNames = 10_000

// ReadSubset reads the names of tools that a list has: what `awo tools subset --out`
// writes for gateways, or an array of names.
func ReadSubset(file string) ([]string, error) {
	data, err := (&Artefacts{}).file(filepath.Dir(file), filepath.Base(file))
	if err != nil {
		return nil, err
	}
	var list struct {
		Tools []string `json:"allowed_tools"`
	}
	if json.Unmarshal(data, &list.Tools) != nil && json.Unmarshal(data, &list) != nil || len(list.Tools) == 0 || len(list.Tools) > maxNames {
		return nil, diag.New(diag.Pos{File: filepath.ToSlash(file)}, CodeNames, "this is no list of tools: `awo tools subset --out` writes one as subset.*.allow.json")
	}
	return list.Tools, nil
}

// Definitions are definitions that awo register wrote, by name of the tool.
type Definitions map[string]trace.Value

// ReadDefinitions reads the folder that `awo register --out` wrote.
func ReadDefinitions(dir string) (Definitions, error) {
	files, err := os.ReadDir(filepath.Join(dir, "definitions"))
	if err != nil || len(files) > maxNames {
		return nil, problem(dir, "definitions", CodeUnread, "there is no such folder: `awo register --out` writes it")
	}
	out := Definitions{}
	for _, f := range files {
		data, err := (&Artefacts{}).file(filepath.Join(dir, "definitions"), f.Name())
		if err != nil {
			return nil, err
		}
		v, err := trace.ParseValue(data)
		if err != nil || v.Member("name").Text == "" {
			return nil, problem(dir, "definitions/"+f.Name(), CodeNotAwo, "this is no definition of a tool")
		}
		out[v.Member("name").Text] = v
	}
	return out, nil
}

// listing is what a session lists of the servers' tools; s.mu guards it.
type listing struct {
	all        map[string]*gateway.Tool       // by the name that they are shown by
	registered map[string]bool                // whose definition was answered
	pinned     map[*gateway.Tool]bool         // by options
	search     func() func(query string) Hits // for LazySearch
}

// shown returns the definitions of the servers' tools that are listed.
func (s *session) shown(tools []*gateway.Tool, n *names, complete bool) (out []json.RawMessage) {
	o := &s.l.o
	resolve := func(names []string) map[*gateway.Tool]bool {
		set := map[*gateway.Tool]bool{}
		for _, name := range names {
			t, why := n.find(name)
			if t != nil {
				set[t] = true
			}
			s.say("tool", Verdict{Name: name, Offered: t != nil, Reason: why}, complete)
		}
		return set
	}
	hidden, pinned := resolve(o.Hide), resolve(slices.Concat(o.Pin, o.Subset))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list.all, s.list.pinned = map[string]*gateway.Tool{}, pinned
	if o.Lazy == LazySearch {
		s.list.search = sync.OnceValue(func() func(string) Hits {
			definitions := make([]json.RawMessage, len(tools))
			for i, t := range tools {
				definitions[i] = t.Definition
			}
			return o.Search.Index(definitions, func(name string) string {
				if t, _ := n.find(name); t != nil {
					return t.Shown
				}
				return ""
			})
		})
	}
	for _, t := range tools {
		s.list.all[t.Shown] = t
		switch {
		case hidden[t]:
		case o.Lazy == LazyOff && o.Subset == nil, pinned[t]:
			d := t.Definition
			if o.Mark && pinned[t] {
				d = marked(d)
			}
			out = append(out, d)
		case o.Lazy == LazyList && s.list.registered[t.Shown]:
			out = append(out, t.Definition)
		}
	}
	return out
}

// marked returns a definition that says that it is to be loaded always.
func marked(definition json.RawMessage) json.RawMessage {
	empty := bytes.HasSuffix(bytes.TrimSpace(bytes.TrimSuffix(definition, []byte("}"))), []byte("{"))
	var meta struct {
		Meta json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(definition, &meta) != nil || meta.Meta != nil || len(definition) == 0 || definition[len(definition)-1] != '}' || empty {
		return definition // what it says of itself stays
	}
	return append(slices.Clone(definition[:len(definition)-1]), `,"_meta":{"anthropic/alwaysLoad":true}}`...)
}

// lazyTools returns the definitions of the tools that stand for others.
func (s *session) lazyTools(taken func(name string) bool) (out []json.RawMessage) {
	if s.l.o.Lazy == LazyOff || taken(s.l.o.lookUp()) || taken(callTool) {
		return nil
	}
	call := fmt.Appendf(nil, `{"name":%q,"description":%s,"inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"the name of the tool"},"arguments":{"type":"object","description":"its arguments, by its definition"}},"required":["name","arguments"],"additionalProperties":false}}`, callTool, quoted("Calls a tool whose definition "+s.l.o.lookUp()+" has answered."))
	s.mu.Lock()
	if s.l.o.Lazy == LazySearch {
		n := len(s.list.all)
		s.mu.Unlock()
		text := fmt.Sprintf("Searches %d tools that are not listed and answers the definitions of those that fit best, and of tools to call before them. Describe the task in a few words; then call tools with %s.", n, callTool)
		search := fmt.Appendf(nil, `{"name":%q,"description":%s,"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"what is to be done"}},"required":["query"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`, searchTool, quoted(text))
		return []json.RawMessage{search, call}
	}
	var unlisted []string
	for name, t := range s.list.all {
		if !s.list.pinned[t] && !(s.l.o.Lazy == LazyList && s.list.registered[name]) {
			unlisted = append(unlisted, name)
		}
	}
	s.mu.Unlock()
	slices.Sort(unlisted)
	then := "call it with " + callTool
	if s.l.o.Lazy == LazyList {
		then = "from then on it can be called like any other, or with " + callTool + " where it is not listed"
	}
	text := "Answers the full definition of a tool; " + then + ". Call this with the name of the tool that is most useful now. Tools: " + strings.Join(unlisted, ", ")
	register := fmt.Appendf(nil, `{"name":%q,"description":%s,"inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"the name of the tool"}},"required":["name"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`, registerTool, quoted(text))
	return []json.RawMessage{register, call}
}

// stands says what becomes of a call of one of the tools that stand for others; false if
// it is none.
func (s *session) stands(c *gateway.ToolCall) (gateway.Handling, bool) {
	if s.l.o.Lazy == LazyOff || c.Name != s.l.o.lookUp() && c.Name != callTool {
		return gateway.Handling{}, false
	}
	var given struct {
		Name      string          `json:"name"`
		Query     string          `json:"query"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(c.Arguments(), &given) != nil {
		return gateway.Handling{By: "awo", Answer: refusal("A name of a tool is needed.")}, true
	}
	if c.Name == searchTool {
		return gateway.Handling{By: "awo", Answer: func(context.Context) (json.RawMessage, error) { return s.searched(given.Query), nil }}, true
	}
	s.mu.Lock()
	t, meta := s.list.all[given.Name], s.tools[given.Name]
	var names []string
	for name := range s.list.all {
		names = append(names, name)
	}
	s.mu.Unlock()
	if t == nil && meta == nil {
		slices.Sort(names)
		text := "There is no tool " + given.Name + "."
		if near := diag.Nearest(given.Name, names); near != "" {
			text += " Did you mean " + near + "?"
		}
		return gateway.Handling{By: "awo", Answer: refusal(text)}, true
	}
	if c.Name == registerTool {
		return s.register(given.Name, t, meta), true
	}
	if h, refused := s.unregistered(given.Name, t); refused {
		return h, true
	}
	params := append([]byte(`{"name":`), quoted(given.Name)...)
	if len(given.Arguments) > 0 {
		params = append(append(params, `,"arguments":`...), given.Arguments...)
	}
	if token := c.ProgressToken(); token != nil {
		params = append(append(append(params, `,"_meta":{"progressToken":`...), token...), '}')
	}
	inner := &gateway.ToolCall{ID: c.ID, Name: given.Name, Params: append(params, '}'), Tool: t}
	h := s.Handle(inner)
	h.Params, h.To = inner.Params, t
	if t == nil {
		h.Name = given.Name
	}
	return h, true
}

// register answers the definition of a tool.
func (s *session) register(name string, t *gateway.Tool, meta *offered) gateway.Handling {
	definition := s.written(name, t, meta)
	return gateway.Handling{By: "awo", Answer: func(context.Context) (json.RawMessage, error) {
		if s.known(name) && s.l.o.Lazy == LazyList && t != nil {
			s.h.Changed()
		}
		return textResult(definition, nil, nil, false), nil
	}}
}

// written returns the definition that a model gets of a tool as a result.
func (s *session) written(name string, t *gateway.Tool, meta *offered) (definition []byte) {
	if meta != nil {
		definition = s.l.definition(meta)
	} else {
		d := definitionOf(t)
		v := trace.NewObject(
			trace.Member{Name: "name", Value: trace.NewString(name)}, trace.Member{Name: "description", Value: d.parsed.Member("description")},
			trace.Member{Name: "parameters", Value: d.parsed.Member("inputSchema")})
		if written, ok := s.l.o.Definitions[t.Name]; ok && written.Member("parameters").Equal(d.parsed.Member("inputSchema")) {
			v = written // its words are those that the traces show
		}
		definition = v.AppendCanonical(nil)
	}
	return definition
}

// lookUp is the tool that answers definitions.
func (o *Options) lookUp() string {
	if o.Lazy == LazySearch {
		return searchTool
	}
	return registerTool
}

// known notes that the definition of a tool was answered; true if it was not before.
func (s *session) known(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.list.registered[name]
	s.list.registered[name] = true
	if !before {
		s.l.o.Metrics.Count("lazy", name, "registered")
	}
	return !before
}

// unregistered refuses a call of a tool of a server whose definition the model has not
// been given: its arguments would be guesses.
func (s *session) unregistered(name string, t *gateway.Tool) (gateway.Handling, bool) {
	s.mu.Lock()
	is := t == nil || s.l.o.Lazy == LazyOff || s.list.pinned[t] || s.list.registered[name]
	s.mu.Unlock()
	if is {
		return gateway.Handling{}, false
	}
	s.l.o.Metrics.Count("lazy", name, "unregistered")
	text := fmt.Sprintf("The tool %s is not registered, and was not called. Call %s with {\"name\": %s} first: it answers the definition.", name, registerTool, quoted(name))
	if s.l.o.Lazy == LazySearch {
		text = fmt.Sprintf("The tool %s was not found yet, and was not called. Call %s with a query first: it answers definitions.", name, searchTool)
	}
	return gateway.Handling{By: "awo", Answer: refusal(text)}, true
}

// searched answers a query with definitions.
func (s *session) searched(query string) json.RawMessage {
	s.mu.Lock()
	search := s.list.search
	s.mu.Unlock()
	hits := search()(query)
	list := func(names []string) []byte {
		var out []byte
		for _, name := range names {
			s.mu.Lock()
			t := s.list.all[name]
			s.mu.Unlock()
			if t == nil {
				continue
			}
			s.known(name)
			if out != nil {
				out = append(out, ',')
			}
			out = append(out, s.written(name, t, nil)...)
		}
		return out
	}
	out := append([]byte(`{"tools":[`), list(hits.Found)...)
	out = append(append(out, `],"may_come_first":[`...), list(hits.First)...)
	return textResult(append(out, `]}`...), nil, nil, false)
}
