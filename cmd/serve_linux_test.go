package cmd

import (
	"bufio"
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
	c := exec.CommandContext(t.Context(), self, "serve", "--servers", servers("old"), "--listen", "127.0.0.1:0", "--admin", admin)
	c.Args[0] = "awo" // TestMain makes the program awo then
	c.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	out, log := bufio.NewScanner(stdout), bufio.NewScanner(stderr)
	if !out.Scan() {
		t.Fatal("it does not say where it is")
	}
	endpoint := out.Text()
	logged := func(text string) {
		t.Helper()
		for log.Scan() {
			if strings.Contains(log.Text(), text) {
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
	connect := func() *mcp.ClientSession {
		t.Helper()
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: endpoint}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	calls := func(s *mcp.ClientSession, tool string, can bool) {
		t.Helper()
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
		if (err == nil && !r.IsError) != can {
			t.Errorf("%s: %+v %v", tool, r, err)
		}
	}
	before := connect()
	calls(before, "old", true)
	get("/healthz", "ok")
	get("/readyz", "ok")
	get("/status", `"server":"stub","ready":true`)
	get("/metrics", `awo_call_seconds_count{method="tools/call",outcome="ok",server="stub"} 1`)

	hangUp := func(want string) {
		t.Helper()
		if err := c.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		logged(want)
	}
	servers("new")
	hangUp("reloaded")
	after := connect()
	calls(after, "new", true)
	calls(before, "old", true) // it keeps what it began with
	write("mcp.json", `{"mcpServers":{"stub":{"comand":"x"}}}`)
	hangUp("nothing was reloaded")
	calls(connect(), "new", true)
	write("awo-serve.yaml", "deny: [new]\n")
	logged("reloaded")
	calls(after, "new", false)
	calls(before, "old", true)

	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	for log.Scan() { // until it has ended
	}
	if err := c.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
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
