package gateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

// nodeModules returns the folder of packages that `make serve-check` installed. Without
// it there is nothing to compare with.
func nodeModules(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("AWO_NODE_MODULES")
	if dir == "" {
		t.Skip("`make serve-check` runs this, with packages of npm")
	}
	return dir
}

// nodeServer returns a server of npm.
func nodeServer(t *testing.T, name string, args ...string) gateway.Server {
	t.Helper()
	modules := nodeModules(t)
	var about struct{ Bin map[string]string }
	src, err := os.ReadFile(filepath.Join(modules, "@modelcontextprotocol", "server-"+name, "package.json"))
	if err == nil {
		err = json.Unmarshal(src, &about)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range about.Bin {
		program := filepath.Join(modules, "@modelcontextprotocol", "server-"+name, file)
		return gateway.Server{Name: name, Command: filepath.Join(modules, "node", "bin", "node"), Args: append([]string{program}, args...)}
	}
	t.Fatalf("server-%s has no program", name)
	return gateway.Server{}
}

// exchange are requests and what is expected to differ.
type exchange struct{ method, params string }

func call(name, arguments string) exchange {
	return exchange{"tools/call", `{"name":"` + name + `","arguments":` + arguments + `}`}
}

// changing is what differs from one call to the next without a gateway too.
var changing = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|[0-9]{1,2}:[0-9]{2}:[0-9]{2} [AP]M|"lastAccessed[^,]*|(created|modified|accessed): [^\\]*`)

// TestNodeServers compares servers of others behind the gateway with the same servers
// without it, byte for byte.
func TestNodeServers(t *testing.T) {
	for _, c := range []struct {
		name string
		ask  []exchange
	}{
		{"everything", []exchange{
			call("echo", `{"message":"9007199254740993 <&> \u2028"}`), call("get-sum", `{"a":1.5,"b":2}`), call("get-sum", `{"a":"x"}`),
			call("get-tiny-image", `{}`), call("get-annotated-message", `{"messageType":"error","includeImage":true}`),
			call("get-structured-content", `{"location":"Chicago"}`), call("get-resource-reference", `{"resourceType":"Text","resourceId":1}`),
			call("get-resource-links", `{"count":3}`), call("trigger-long-running-operation", `{"duration":0.2,"steps":2}`),
			{"prompts/get", `{"name":"simple-prompt"}`},
			{"prompts/get", `{"name":"args-prompt","arguments":{"city":"Bonn"}}`},
			{"completion/complete", `{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}}`},
			{"resources/read", `{"uri":"demo://resource/dynamic/text/1"}`},
			{"resources/read", `{"uri":"demo://nothing"}`},
			{"ping", `{}`},
		}},
		{"filesystem", []exchange{
			call("write_file", `{"path":"$DIR/a.txt","content":"one\ntwo"}`), call("read_text_file", `{"path":"$DIR/a.txt"}`), call("read_text_file", `{"path":"$DIR/none.txt"}`),
			call("list_directory", `{"path":"$DIR"}`), call("edit_file", `{"path":"$DIR/a.txt","edits":[{"oldText":"one","newText":"1"}]}`),
			call("directory_tree", `{"path":"$DIR"}`), call("search_files", `{"path":"$DIR","pattern":"*.txt"}`), call("list_allowed_directories", `{}`), call("read_text_file", `{}`),
		}},
		{"memory", []exchange{
			call("create_entities", `{"entities":[{"name":"Ann","entityType":"person","observations":["likes 9007199254740993"]}]}`),
			call("read_graph", `{}`), call("search_nodes", `{"query":"Ann"}`), call("add_observations", `{"observations":[{"entityName":"Nobody","contents":["x"]}]}`),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers := func(start func(s gateway.Server) *servetest.Client) []string {
				dir := t.TempDir()
				s := nodeServer(t, c.name)
				if c.name == "filesystem" {
					s.Args = append(s.Args, dir)
				}
				s.Env = []string{"MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.jsonl")}
				client := start(s)
				client.Begin()
				time.Sleep(500 * time.Millisecond) // some servers add tools when they know the client
				var out []string
				for _, e := range append([]exchange{{"tools/list", `{}`}, {"prompts/list", `{}`}, {"resources/list", `{}`}, {"resources/templates/list", `{}`}}, c.ask...) {
					got := client.Request(e.method, strings.ReplaceAll(e.params, "$DIR", dir))
					out = append(out, e.method+" "+e.params+" "+changing.ReplaceAllString(strings.ReplaceAll(got, dir, "$DIR"), "·"))
				}
				return out
			}
			direct := answers(func(s gateway.Server) *servetest.Client { return servetest.Direct(t, &s) })
			behind := answers(func(s gateway.Server) *servetest.Client {
				return servetest.Relay(t, gateway.Options{ConnectWait: 20 * time.Second}, s)
			})
			for i := range direct {
				if strings.HasSuffix(direct[i], `{"code":-32601,"message":"Method not found"}`) && strings.HasSuffix(behind[i], `":[]}`) {
					continue // a list that a server does not have is empty: another one may come that has it
				}
				want(t, "behind the gateway", behind[i], direct[i])
			}
			t.Logf("%d answers compared", len(direct))
		})
	}
}

// TestClients: clients of others get from the gateway what they get from the server.
func TestClients(t *testing.T) {
	modules := nodeModules(t)
	dir := t.TempDir()
	awo := filepath.Join(dir, "awo")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", awo, "github.com/awo-dev/awo").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := nodeServer(t, "everything")
	file := func(name string, of map[string]any) string {
		data, err := json.Marshal(map[string]any{"mcpServers": of, "imports": []string{}})
		if err == nil {
			name = filepath.Join(dir, name)
			err = os.WriteFile(name, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	server := map[string]any{"command": s.Command, "args": s.Args}
	servers := file("servers.json", map[string]any{"everything": server})
	config := file("clients.json", map[string]any{"direct": server, "behind": map[string]any{"command": awo, "args": []string{"serve", "--servers", servers, "--connect-wait", "1m"}}})
	try := func(t *testing.T, program string, args ...string) (string, error) {
		t.Helper()
		c := exec.CommandContext(t.Context(), filepath.Join(modules, "node", "bin", "node"), append([]string{filepath.Join(modules, ".bin", program)}, args...)...)
		c.Dir, c.WaitDelay = dir, 5*time.Second
		c.Env = append(os.Environ(), "HOME="+dir, "MCPC_HOME_DIR="+filepath.Join(dir, "mcpc"), "PATH="+filepath.Join(modules, "node", "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
		var says strings.Builder
		c.Stderr = &says
		out, err := c.Output()
		if err != nil {
			err = fmt.Errorf("%s %q: %w: %s%s", program, args, err, out, says.String())
		}
		return string(out), err
	}
	run := func(t *testing.T, program string, args ...string) string {
		t.Helper()
		out, err := try(t, program, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	own := regexp.MustCompile(`(?m)^  "(name|durationMs|transport)": .*\n`) // what mcporter says of the entry, and of itself
	for client, ask := range map[string]func(t *testing.T, name string) string{
		"inspector": func(t *testing.T, name string) string {
			args := []string{"--cli", "--config", config, "--server", name, "--method"}
			return run(t, "mcp-inspector", append(args, "tools/list")...) + run(t, "mcp-inspector", append(args, "tools/call", "--tool-name", "get-sum", "--tool-arg", "a=2", "b=3")...)
		},
		"mcporter": func(t *testing.T, name string) string {
			return own.ReplaceAllString(run(t, "mcporter", "--config", config, "list", name, "--schema", "--json"), "") +
				run(t, "mcporter", "--config", config, "call", name+".get-sum", "a=2", "b=3", "--output", "json")
		},
		"mcpc": func(t *testing.T, name string) string {
			at := "@" + name
			_, err := try(t, "mcpc", "connect", config+":"+name, at)
			for tries := 0; err != nil && tries < 4; tries++ { // it gives its own helper a few seconds to start
				_, err = try(t, "mcpc", "connect", config+":"+name, at)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer run(t, "mcpc", "close", at)
			return run(t, "mcpc", "--json", at, "tools-list") + run(t, "mcpc", "--json", at, "prompts-list") + run(t, "mcpc", "--json", at, "tools-call", "get-sum", "a:=2", "b:=3")
		},
	} {
		t.Run(client, func(t *testing.T) {
			// The server adds tools a while after it was told that the session has begun, so a
			// client that is quick gets a list without them, with the gateway and without it.
			var direct, behind string
			for range 4 {
				if direct, behind = ask(t, "direct"), ask(t, "behind"); direct == behind {
					break
				}
			}
			if !strings.Contains(direct, "The sum of 2 and 3 is 5.") {
				t.Errorf("without the gateway: %s", direct)
			}
			want(t, "behind the gateway", behind, direct)
		})
	}
}

// known are scenarios that fail without the gateway too: the SDK has no tasks.
var known = regexp.MustCompile(`^tasks-`)

// TestConformance runs the protocol's own tests against the gateway, with the SDK's
// server of everything behind it: those of the protocol with sessions, and those of the
// one without.
func TestConformance(t *testing.T) {
	modules := nodeModules(t)
	program := filepath.Join(t.TempDir(), "everything")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, args := range map[string][]string{"0.1.16": {filepath.Join("@modelcontextprotocol", "conformance")}, "2026-07-28": {"conformance-next", "--requirements", "2026-07-28"}} {
		t.Run(name, func(t *testing.T) {
			url := handle(t, gateway.New([]gateway.Server{{Name: "everything", Command: program}}, gateway.Options{Version: "v1"}), gateway.HTTPOptions{})
			args = append([]string{filepath.Join(modules, args[0], "dist", "index.js"), "server", "--url", url}, args[1:]...)
			c := exec.CommandContext(t.Context(), filepath.Join(modules, "node", "bin", "node"), args...)
			c.Dir = t.TempDir() // it writes its results there
			out, err := c.CombinedOutput()
			if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
				t.Fatalf("%v: %s", err, out)
			}
			_, summary, found := strings.Cut(string(out), "=== SUMMARY ===")
			if !found {
				t.Fatalf("there is no summary: %s", out)
			}
			for line := range strings.Lines(summary) {
				if scenario, failed := strings.CutPrefix(line, "✗ "); failed && !known.MatchString(scenario) {
					t.Error(strings.TrimSpace(line))
				}
			}
			if t.Failed() {
				t.Log(string(out))
			}
			t.Log(summary)
		})
	}
}
