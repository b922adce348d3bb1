package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/world"
	"github.com/awo-dev/awo/trace"
)

// server is the MCP server of one office.
type server struct {
	office *world.World
	tools  map[string]*world.Tool
	list   []*world.Tool
	fail   float64
	random *rand.Rand
}

func newServer(o *office.Office, run int, fail float64) *server {
	s := &server{office: o.World(run), tools: map[string]*world.Tool{}, fail: fail, random: rand.New(rand.NewPCG(uint64(run), 1))}
	for _, t := range o.Edition(run).Tools {
		s.tools[t.Name], s.list = t, append(s.list, t)
	}
	return s
}

// writeConfig writes the file of servers: this program, once more.
func writeConfig(folder string, runs int, fail float64) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"office": map[string]any{
		"command": self, "env": map[string]string{runVariable: "${" + playedVariable + "}", stateVariable: "${" + stateVariable + ":-}", runsVariable: fmt.Sprint(runs), failVariable: fmt.Sprint(fail)},
	}}})
	if err != nil {
		return "", err
	}
	name := filepath.Clean(folder) + ".mcp.json" // beside it: what is in it is traces
	return name, os.WriteFile(name, data, 0o600)
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

// serve answers requests in order until the input ends.
func (s *server) serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return nil
		}
		var r request
		if json.Unmarshal(line, &r) != nil || r.ID == nil {
			continue // a notification
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": r.ID}
		switch r.Method {
		case "initialize":
			answer["result"] = map[string]any{
				"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]string{"name": "office", "version": "1"},
			}
		case "tools/list":
			answer["result"] = map[string]any{"tools": s.definitions()}
		case "tools/call":
			answer["result"] = s.call(r.Params.Name, r.Params.Arguments)
		case "ping":
			answer["result"] = map[string]any{}
		default:
			answer["error"] = map[string]any{"code": -32601, "message": "there is no such method"}
		}
		data, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(data, '\n')); err != nil {
			return err
		}
	}
}

func (s *server) definitions() []map[string]any {
	var out []map[string]any
	for _, t := range s.list {
		var f struct {
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		}
		if err := json.Unmarshal(t.Function, &f); err != nil {
			panic(err) // the office made it
		}
		out = append(out, map[string]any{"name": t.Name, "description": f.Description, "inputSchema": f.Parameters, "annotations": json.RawMessage(t.Annotations)})
	}
	return out
}

func (s *server) call(name string, arguments json.RawMessage) map[string]any {
	t := s.tools[name]
	if t == nil {
		return result("there is no such tool", true)
	}
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	args, err := trace.ParseValue(arguments)
	if err != nil || args.Kind != trace.Object {
		return result("the arguments are no object", true)
	}
	if s.random.Float64() < s.fail {
		r := world.Unavailable(t)
		return result(r.Text(), true)
	}
	r := t.Call(s.office, worldValue(args).Members)
	return result(r.Text(), r.Failed)
}

func result(text string, failed bool) map[string]any {
	return map[string]any{"content": []map[string]string{{"type": "text", "text": text}}, "isError": failed}
}

// worldValue returns a value as the office has it.
func worldValue(v trace.Value) world.Value {
	out := world.Value{Kind: world.Kind(v.Kind), Text: v.Text}
	if v.Kind == trace.Bool {
		out.Text = fmt.Sprint(v.Bool)
	}
	for _, e := range v.Elems {
		out.Items = append(out.Items, worldValue(e))
	}
	for _, m := range v.Members {
		out.Members = append(out.Members, world.Member{Name: m.Name, Value: worldValue(m.Value)})
	}
	return out
}
