package emit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// Tools answer with what they like: objects as they were recorded, texts, blocks.
var answersOfTools = []string{
	`{}`, `"a text"`, `[]`, `null`, `7`, `[{"type":"image","data":"aGk=","mimeType":"image/png"}]`,
	`{"content":[{"type":"text","text":"{\"contacts\":\"none\"}"}]}`, `{"content":[],"structuredContent":{"results":1}}`,
	`{"contacts":{"0":[]},"events":"none","messages":[7],"results":null}`,
}

// anyCaller answers every call with one of answersOfTools, and with lists where these
// are looked for.
func anyCaller(n int) execute.Caller {
	return execute.CallerFunc(func(_ context.Context, _ string, _ trace.Value) (execute.Result, error) {
		n++
		return execute.Result{Value: parsed(answersOfTools[n%len(answersOfTools)])}, nil
	})
}

// metaToolServer is a server of the official Go SDK that offers metatools.mcp.json and
// answers as metatools that call tools of any kind do.
func metaToolServer(t *testing.T, tools []*bind.Definition) *mcp.Server {
	t.Helper()
	files, err := emit.MCP.Emit(emit.Results{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Tools []*mcp.Tool }
	if err := json.Unmarshal(files[0].Data, &list); err != nil {
		t.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "meta-tools", Version: "1"}, nil)
	for i, tool := range list.Tools {
		if tool.OutputSchema == nil {
			t.Errorf("%s has no output schema", tool.Name)
		}
		made := tools[i]
		n := 0
		server.AddTool(tool, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			n++
			answer := answerOfAnything(t, made, n)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(answer)}}, StructuredContent: answer}, nil
		})
	}
	return server
}

// answerOfAnything runs a meta-tool whose arguments are not bound to what the calls
// return, so that the calls may return anything.
func answerOfAnything(t *testing.T, d *bind.Definition, n int) json.RawMessage {
	tool := d.Tool
	tool.Inputs, tool.Steps = nil, slices.Clone(d.Steps)
	for i := range tool.Steps {
		s := &tool.Steps[i]
		s.Args, s.Expect = nil, nil
		if s.Each != nil {
			each := *s.Each
			each.Kind, each.Const = 0, parsed(`["a",{"b":1}]`)
			s.Each = &each
		}
	}
	out := execute.Run(t.Context(), &tool, trace.NewObject(), anyCaller(n), execute.Options{})
	if out.State != execute.Done {
		t.Errorf("%s: %v", d.Name, out.Failure)
	}
	return out.AppendAnswer(nil, &tool, execute.AnswerOptions{Steps: n%2 == 0, MaxBytes: n % 3 * 100})
}

// TestClientAcceptsAnswers: what a client of the official Go SDK gets fits what the
// server announced, whatever the tools answer.
func TestClientAcceptsAnswers(t *testing.T) {
	_, tools := office(t, compile.Patterns)
	server := metaToolServer(t, tools)
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	session, err := client.Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != len(tools) || len(tools) < 20 {
		t.Fatalf("%d of %d tools are listed", len(list.Tools), len(tools))
	}
	for _, tool := range list.Tools {
		text, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 * len(answersOfTools) {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: map[string]any{}})
			if err != nil {
				t.Fatalf("%s: %v", tool.Name, err)
			}
			if err := resolved.Validate(result.StructuredContent); err != nil {
				t.Errorf("%s: %v", tool.Name, err)
			}
		}
		if resolved.Validate(map[string]any{"results": "none"}) == nil {
			t.Errorf("%s: anything fits %s", tool.Name, text)
		}
	}
}

// nodeModules names a folder with the official TypeScript SDK (npm install
// @modelcontextprotocol/sdk there); without it the test is skipped.
const nodeModules = "AWO_TEST_NODE_MODULES"

// TestTypeScriptClientAcceptsAnswers is the same with the client of the official
// TypeScript SDK, which validates by itself. The server is this process, over HTTP.
func TestTypeScriptClientAcceptsAnswers(t *testing.T) {
	folder := os.Getenv(nodeModules)
	if folder == "" {
		t.Skipf("%s does not name a folder with the TypeScript SDK", nodeModules)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	_, tools := office(t, compile.Patterns)
	url := serveHTTP(t, metaToolServer(t, tools))
	script := filepath.Join(folder, "awo_client.mjs")
	if err := os.WriteFile(script, []byte(typeScriptClient), 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(script) }()
	out, err := exec.CommandContext(t.Context(), "node", script, url, fmt.Sprint(2*len(answersOfTools))).CombinedOutput()
	var failed *exec.ExitError
	if errors.As(err, &failed) || err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := fmt.Sprintf("%d tools, %d answers\n", len(tools), 2*len(answersOfTools)*len(tools)); string(out) != want {
		t.Errorf("%s, want %s", out, want)
	}
}

const typeScriptClient = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
const client = new Client({ name: "client", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const { tools } = await client.listTools();
let answers = 0;
for (const { name } of tools) {
  for (let i = 0; i < Number(process.argv[3]); i++) {
    const { structuredContent } = await client.callTool({ name, arguments: {} }); // throws if it does not fit
    if (!Array.isArray(structuredContent?.results)) throw new Error("no results");
    answers++;
  }
}
console.log(tools.length + " tools, " + answers + " answers");
await client.close();
process.exit(0);
`

func serveHTTP(t *testing.T, server *mcp.Server) string {
	t.Helper()
	s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(s.Close)
	return s.URL
}
