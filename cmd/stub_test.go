package cmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// stub is an MCP server for stories: `mcpstub FILE` answers with what the file has, an
// object of "tools" and, by name of the tool, "answers".
func stub(file string) int {
	src, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var has struct {
		Tools   json.RawMessage
		Answers map[string]json.RawMessage
	}
	if err := json.Unmarshal(src, &has); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var tools bytes.Buffer
	if err := json.Compact(&tools, has.Tools); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"stub","version":"1"}}`
		case "tools/list":
			result = `{"tools":` + tools.String() + `}`
		case "tools/call":
			result = string(has.Answers[m.Params.Name])
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// stubServers writes a file of servers with a stub.
func stubServers(t *testing.T, file string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	answers := file + ".answers"
	if err := os.WriteFile(answers, []byte(`{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"answers":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"stub": map[string]any{"command": program, "env": map[string]string{"MCPSTUB": answers}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, servers, 0o600); err != nil {
		t.Fatal(err)
	}
}
