package cmd

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/awo-dev/awo/cmd/internal/cli"
)

// TestServeOperates: a gateway that runs is asked how it is, reads its configuration again at
// SIGHUP, keeps what it has where that is broken, follows its policy, and ends at SIGTERM.
func TestServeOperates(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	servers := func(tool string) string {
		file := write(tool+".json", fmt.Sprintf(`{"tools":[{"name":%q,"inputSchema":{"type":"object"}}],"answers":{%q:{"content":[]}}}`, tool, tool))
		return write("mcp.json", fmt.Sprintf(`{"mcpServers":{"stub":{"command":%q,"env":{"MCPSTUB":%q}}}}`, self, file))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	admin := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	g := serveHTTP(t, dir, "--servers", servers("old"), "--admin", admin)
	logged := func(text string) {
		t.Helper()
		for g.log.Scan() {
			if strings.Contains(g.log.Text(), text) {
				return
			}
		}
		t.Fatalf("%q is not logged", text)
	}
	get := func(path, want string) {
		t.Helper()
		r, err := http.Get("http://" + admin + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d %s", path, r.StatusCode, body)
		}
	}
	calls := func(s *mcp.ClientSession, tool string, can bool) {
		t.Helper()
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
		if (err == nil && !r.IsError) != can {
			t.Errorf("%s: %+v %v", tool, r, err)
		}
	}
	before := g.connect(t)
	calls(before, "old", true)
	get("/healthz", "ok")
	get("/readyz", "ok")
	get("/status", `"server":"stub","ready":true`)
	get("/metrics", `awo_call_seconds_count{method="tools/call",outcome="ok",server="stub"} 1`)

	hangUp := func(want string) {
		t.Helper()
		if err := g.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		logged(want)
	}
	servers("new")
	hangUp("reloaded")
	after := g.connect(t)
	calls(after, "new", true)
	calls(before, "old", true) // it keeps what it began with
	write("mcp.json", `{"mcpServers":{"stub":{"comand":"x"}}}`)
	hangUp("nothing was reloaded")
	calls(g.connect(t), "new", true)
	write("awo-serve.yaml", "deny: [new]\n")
	logged("reloaded")
	calls(after, "new", false)
	calls(before, "old", true)

	g.end(t)
}

// served is a gateway over HTTP, a process of its own.
type served struct {
	*exec.Cmd
	endpoint string
	log      *bufio.Scanner
}

// serveHTTP starts a gateway that keeps what it keeps in a folder.
func serveHTTP(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g := &served{Cmd: exec.CommandContext(t.Context(), self, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)}
	g.Args[0] = "awo" // TestMain makes the program awo then
	g.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	stdout, err := g.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := g.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(); err != nil {
		t.Fatal(err)
	}
	g.log = bufio.NewScanner(stderr)
	out := bufio.NewScanner(stdout)
	if !out.Scan() {
		t.Fatal("it does not say where it is")
	}
	g.endpoint = out.Text()
	return g
}

func (g *served) connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: g.endpoint}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// end asks the gateway to end, and waits for that.
func (g *served) end(t *testing.T) {
	t.Helper()
	if err := g.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { _ = g.Process.Kill() })
	defer timer.Stop()
	for g.log.Scan() { // until it has ended
	}
	if err := g.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// TestLazySearchIsAnArm: sessions that search their tools are compared with sessions that
// have them all: tokens of definitions, searches, and calls of tools that were not searched.
func TestLazySearchIsAnArm(t *testing.T) {
	dir := t.TempDir()
	var tools []string
	for _, name := range strings.Fields("find_order cancel_order send_mail read_mail book_room list_rooms pay_bill list_bills add_note read_note") {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"description":"The tool to %s, for those who work in the office and for nobody else.","inputSchema":{"type":"object","properties":{"which":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`, name, strings.ReplaceAll(name, "_", " a ")))
	}
	self, err := os.Executable()
	answers, servers := filepath.Join(dir, "answers.json"), filepath.Join(dir, "mcp.json")
	err = errors.Join(err, os.WriteFile(answers, []byte(`{"tools":[`+strings.Join(tools, ",")+`],"answers":{"find_order":{"content":[]}}}`), 0o600))
	err = errors.Join(err, os.WriteFile(servers, fmt.Appendf(nil, `{"mcpServers":{"stub":{"command":%q,"env":{"MCPSTUB":%q}}}}`, self, answers), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	traces := filepath.Join(dir, "traces")
	g := serveHTTP(t, dir, "--servers", servers, "--record", traces, "--lazy", "search", "--control", "0.5", "--seed", "3")
	arms := [2]int{}
	for range 12 {
		s := g.connect(t)
		list, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		call := func(tool string, arguments map[string]any, can bool) {
			t.Helper()
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
			if (err == nil && !r.IsError) != can {
				t.Errorf("%s: %+v %v", tool, r, err)
			}
		}
		if order := map[string]any{"which": "7"}; len(list.Tools) == 2 {
			arms[0]++
			call("tool_call", map[string]any{"name": "find_order", "arguments": order}, false)
			call("search_tools", map[string]any{"query": "find an order"}, true)
			call("tool_call", map[string]any{"name": "find_order", "arguments": order}, true)
		} else {
			arms[1]++
			call("find_order", order, true)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	g.end(t)
	code, out, problems := runApp(t.Context(), "compare --format json "+traces, &cli.App{})
	var said struct {
		Tables struct {
			Figures struct {
				Rows []struct {
					Figure           string
					Treated, Control float64
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || code != cli.ExitDone || arms[0] == 0 || arms[1] == 0 {
		t.Fatalf("%v, exit code %d, %d and %d sessions\n%s", err, code, arms[0], arms[1], problems)
	}
	found := 0
	for _, row := range said.Tables.Figures.Rows {
		switch row.Figure {
		case "definition_tokens":
			if found++; row.Treated <= 0 || row.Treated >= row.Control {
				t.Errorf("tokens of definitions: %v searched, %v listed", row.Treated, row.Control)
			}
		case "lookups", "unregistered_calls":
			if found++; row.Treated != 1 || row.Control != 0 {
				t.Errorf("%s: %v and %v", row.Figure, row.Treated, row.Control)
			}
		}
	}
	if found != 3 {
		t.Errorf("%d of three figures in\n%s", found, out)
	}
}

// TestServersEndWithTheGateway: a server that does not read its input ends all the same when
// the gateway is killed.
func TestServersEndWithTheGateway(t *testing.T) {
	dir := t.TempDir()
	servers := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(servers, []byte(`{"mcpServers":{"deaf":{"command":"sleep","args":["600"]}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "serve", "--servers", servers)
	c.Args[0], c.Env = "awo", append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir)
	// The server inherits the end of this pipe, so that it is open as long as one of both runs.
	both, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = end
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err = errors.Join(err, end.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // the server runs by now
		t.Fatal(err)
	}
	_ = c.Process.Kill()
	_ = c.Wait() // it was killed
	if err := both.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, both); err != nil {
		t.Errorf("the server still runs: %v", err)
	}
}
