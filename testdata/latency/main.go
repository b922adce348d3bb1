// Command latency measures `awo serve` against a direct connection, in one run: time of
// calls, calls a second, time to initialize, memory. It is a server of the protocol's SDK
// and its client; the gateway is between them, or is not.
//
//	go run ./testdata/latency -awo bin/awo
//
// Blocks of calls with and without the gateway take turns, so that both see what else the
// machine does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	awo := flag.String("awo", "bin/awo", "the program")
	calls := flag.Int("n", 2000, "calls of each kind")
	part := flag.String("part", "streams,http,start,meta-tool", "what is measured")
	as := flag.String("serve", "", "be the server: on standard streams (\"-\"), at an address, or silent (\"never\")")
	proxy := flag.String("proxy", "", "be a proxy at this address, to that of -serve")
	flag.Parse()
	var err error
	if *proxy != "" {
		to := &url.URL{Scheme: "http", Host: *as}
		server := &http.Server{Addr: *proxy, Handler: httputil.NewSingleHostReverseProxy(to), ReadHeaderTimeout: time.Minute}
		err = server.ListenAndServe()
	} else if *as != "" {
		err = serve(*as)
	} else {
		err = measure(*awo, *calls, strings.Split(*part, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		os.Exit(1)
	}
}

type question struct {
	Key string `json:"key"`
}

// serve is the server: find, owner and mail lead from one to the next, big answers 1 MB.
func serve(at string) error {
	if at == "never" {
		time.Sleep(time.Hour)
		return nil
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "latency", Version: "1"}, nil)
	big := strings.Repeat("0123456789abcdef", 1<<16)
	for name, prefix := range map[string]string{"find": "id-", "owner": "owner-", "mail": "mail-", "big": ""} {
		mcp.AddTool(s, &mcp.Tool{Name: name, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(_ context.Context, _ *mcp.CallToolRequest, q question) (*mcp.CallToolResult, any, error) {
			text := big
			if name != "big" {
				_, digits, found := strings.Cut(q.Key, "-")
				if !found {
					digits = q.Key
				}
				out, err := json.Marshal(map[string]string{"next": prefix + digits})
				if err != nil {
					return nil, nil, err
				}
				text = string(out)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
		})
	}
	if at == "-" {
		return s.Run(context.Background(), &mcp.StdioTransport{})
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{JSONResponse: true})
	server := &http.Server{Addr: at, Handler: h, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}

// side is one way to the server.
type side struct {
	*mcp.ClientSession
	process *exec.Cmd
	began   time.Duration // of initialize
}

func connect(ctx context.Context, t mcp.Transport, version string) (*side, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: "latency", Version: "1"}, nil)
	begin := time.Now()
	s, err := c.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, err
	}
	out := &side{ClientSession: s, began: time.Since(begin)}
	if command, ok := t.(*mcp.CommandTransport); ok {
		out.process = command.Command
	}
	return out, nil
}

func stdio(ctx context.Context, version string, command ...string) (*side, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Stderr = os.Stderr
	return connect(ctx, &mcp.CommandTransport{Command: c}, version)
}

func (s *side) call(ctx context.Context, tool, key string) (time.Duration, error) {
	begin := time.Now()
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: question{key}})
	if err == nil && r.IsError {
		err = fmt.Errorf("%s failed: %v", tool, r.Content)
	}
	return time.Since(begin), err
}

// times are the times of calls, sorted.
type times []time.Duration

func (t times) at(q float64) float64 { // milliseconds
	return float64(t[min(len(t)-1, int(q*float64(len(t))))]) / float64(time.Millisecond)
}

// sequence calls a tool n times on each side, in blocks that take turns.
func sequence(ctx context.Context, tool string, n int, sides ...*side) ([]times, error) {
	out := make([]times, len(sides))
	const blocks = 10
	for block := range blocks + 1 {
		for i, s := range sides {
			for k := range n / blocks {
				took, err := s.call(ctx, tool, fmt.Sprint(k))
				if err != nil {
					return nil, err
				}
				if block > 0 { // the first one warms up
					out[i] = append(out[i], took)
				}
			}
		}
	}
	for i := range out {
		slices.Sort(out[i])
	}
	return out, nil
}

// together makes n calls on each side, 16 at once, in blocks, and returns calls a second.
func together(ctx context.Context, n int, sides ...*side) ([]float64, error) {
	const blocks, width = 10, 16
	spent := make([]time.Duration, len(sides))
	for block := range blocks + 1 {
		for i, s := range sides {
			var work sync.WaitGroup
			failed := make(chan error, width)
			begin := time.Now()
			for w := range width {
				work.Go(func() {
					for k := range n / blocks / width {
						if _, err := s.call(ctx, "find", fmt.Sprint(w, k)); err != nil {
							failed <- err
							return
						}
					}
				})
			}
			work.Wait()
			if block > 0 {
				spent[i] += time.Since(begin)
			}
			select {
			case err := <-failed:
				return nil, err
			default:
			}
		}
	}
	out := make([]float64, len(sides))
	for i, d := range spent {
		out[i] = float64(n/blocks/width*width*blocks) / d.Seconds()
	}
	return out, nil
}

func free() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// memory returns the megabytes that a process has in memory, and those of them that are
// not read from files; 0 where that is not known.
func memory(pid int) (all, own float64) {
	src, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(src)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, _ = fmt.Sscan(rest, &all)
		}
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			_, _ = fmt.Sscan(rest, &own)
		}
	}
	return all / 1024, own / 1024
}

func row(what, direct, gateway, ratio, goal string, met bool) {
	fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", what, direct, gateway, ratio, goal, map[bool]string{true: "yes", false: "no"}[met])
}

func milliseconds(f float64) string { return fmt.Sprintf("%.3f ms", f) }

func measure(awo string, n int, parts []string) error {
	wanted := func(part string) bool { return slices.Contains(parts, part) }
	ctx := context.Background()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "awo-latency-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache")); err != nil {
		return err
	}
	write := func(name string, server map[string]any) string {
		data, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"latency": server}}) // texts
		name = filepath.Join(dir, name)
		if e := os.WriteFile(name, data, 0o600); e != nil {
			err = e
		}
		return name
	}
	local := write("local.json", map[string]any{"command": self, "args": []string{"-serve", "-"}})
	never := write("never.json", map[string]any{"command": self, "args": []string{"-serve", "never"}})
	far, e := free()
	near, e2 := free()
	between, e3 := free()
	if err := errors.Join(err, e, e2, e3); err != nil {
		return err
	}
	remote := write("remote.json", map[string]any{"url": "http://" + far})

	fmt.Println("| | direct | gateway | ratio | goal | met |\n|---|---|---|---|---|---|")
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		if !wanted("streams") {
			break
		}
		if err := streams(ctx, self, awo, local, dir, version, n); err != nil {
			return err
		}
	}
	if wanted("http") {
		if err := overHTTP(ctx, self, awo, remote, far, near, between, n); err != nil {
			return err
		}
	}
	if wanted("start") {
		if err := start(ctx, awo, never); err != nil {
			return err
		}
	}
	if wanted("meta-tool") {
		return metaTool(ctx, self, awo, local, dir)
	}
	return nil
}

// start measures how long initialize takes behind a server that never answers, and what a
// gateway keeps in memory then.
func start(ctx context.Context, awo, never string) error {
	late, err := stdio(ctx, "2025-11-25", awo, "serve", "--servers", never)
	if err != nil {
		return err
	}
	row("`initialize`, the server never answers", "–", fmt.Sprintf("%.0f ms", late.began.Seconds()*1000), "–", "< 1 s", late.began < time.Second)
	if mb, own := memory(late.process.Process.Pid); mb > 0 {
		// Pages of the program's file are shared by all processes, and the system drops them at will.
		row("memory, no server there", "–", fmt.Sprintf("%.0f MB, and %.0f of the program's file", own, mb-own), "–", "30 MB", own <= 30)
	}
	return late.Close()
}

// streams measures a server on standard streams behind a gateway on standard streams.
func streams(ctx context.Context, self, awo, local, dir, version string, n int) error {
	direct, err := stdio(ctx, version, self, "-serve", "-")
	if err != nil {
		return err
	}
	behind, err := stdio(ctx, version, awo, "serve", "--servers", local)
	if err != nil {
		return err
	}
	recording, err := stdio(ctx, version, awo, "serve", "--servers", local, "--record", filepath.Join(dir, "timed"))
	if err != nil {
		return err
	}
	small, err := sequence(ctx, "find", n, direct, behind, recording)
	if err != nil {
		return err
	}
	p50, with, rec := small[0].at(0.5), small[1].at(0.5), small[2].at(0.5)
	row(version+": a call, p50", milliseconds(p50), milliseconds(with), fmt.Sprintf("%.1f", with/p50), "≤ 4 and ≤ +1 ms", with <= 4*p50 && with <= p50+1)
	p99, with99 := small[0].at(0.99), small[1].at(0.99)
	row(version+": a call, p99", milliseconds(p99), milliseconds(with99), fmt.Sprintf("%.1f", with99/p99), "≤ 3", with99 <= 3*p99)
	row(version+": recorded, p50, against not recorded", milliseconds(with), milliseconds(rec), fmt.Sprintf("%.2f", rec/with), "≤ 1.25", rec <= 1.25*with)
	rates, err := together(ctx, 4*n, direct, behind)
	if err != nil {
		return err
	}
	row(version+": 16 at once, calls a second", fmt.Sprintf("%.0f", rates[0]), fmt.Sprintf("%.0f", rates[1]), fmt.Sprintf("%.2f", rates[1]/rates[0]), "≥ 0.2", rates[1] >= 0.2*rates[0])
	large, err := sequence(ctx, "big", n/20, direct, behind)
	if err != nil {
		return err
	}
	one, through := large[0].at(0.5), large[1].at(0.5)
	row(version+": 1 MB, p50", milliseconds(one), milliseconds(through), fmt.Sprintf("%.1f", through/one), "≤ 5", through <= 5*one)
	for _, s := range []*side{direct, behind, recording} {
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// overHTTP measures a server over HTTP behind a gateway over HTTP, and behind a proxy that
// does nothing: what a second hop costs by itself.
func overHTTP(ctx context.Context, self, awo, remote, far, near, between string, n int) error {
	ctx, end := context.WithCancel(ctx)
	var ended []*exec.Cmd
	defer func() {
		end()
		for _, c := range ended {
			_ = c.Wait() // it was told to end
		}
	}()
	for _, args := range [][]string{{self, "-serve", far}, {awo, "serve", "--servers", remote, "--listen", near}, {self, "-proxy", between, "-serve", far}} {
		c := exec.CommandContext(ctx, args[0], args[1:]...)
		if err := c.Start(); err != nil {
			return err
		}
		ended = append(ended, c)
	}
	for _, at := range []string{far, near, between} {
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			c, err := net.Dial("tcp", at)
			if err == nil {
				_ = c.Close() // it is there
				break
			}
			if time.Now().After(deadline) {
				return err
			}
		}
	}
	var sides []*side
	for _, at := range []string{"http://" + far, "http://" + near + "/mcp", "http://" + between} {
		s, err := connect(ctx, &mcp.StreamableClientTransport{Endpoint: at, DisableStandaloneSSE: true}, "2025-11-25")
		if err != nil {
			return err
		}
		sides = append(sides, s)
	}
	took, err := sequence(ctx, "find", n, sides...)
	if err != nil {
		return err
	}
	direct, behind := took[0].at(0.5), took[1].at(0.5)
	row("HTTP to HTTP, p50", milliseconds(direct), milliseconds(behind), fmt.Sprintf("%.2f", behind/direct), "≤ 2", behind <= 2*direct)
	proxied := took[2].at(0.5)
	fmt.Printf("| the same, a bare reverse proxy in the gateway's place | %s | %s | %.2f | – | – |\n", milliseconds(direct), milliseconds(proxied), proxied/direct)
	for _, s := range sides {
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// metaTool measures a meta-tool of three calls against these calls through the gateway.
func metaTool(ctx context.Context, self, awo, local, dir string) error {
	traces, tools := filepath.Join(dir, "traces"), filepath.Join(dir, "tools")
	for session := range 30 {
		s, err := stdio(ctx, "2025-11-25", awo, "serve", "--servers", local, "--record", traces)
		if err != nil {
			return err
		}
		if _, err := s.ListTools(ctx, nil); err != nil { // clients do, and say by that what only reads
			return err
		}
		for _, c := range [][2]string{{"find", fmt.Sprint(1000 + session)}, {"owner", fmt.Sprintf("id-%d", 1000+session)}, {"mail", fmt.Sprintf("owner-%d", 1000+session)}} {
			time.Sleep(120 * time.Millisecond) // calls closer together are taken for one turn
			if _, err := s.call(ctx, c[0], c[1]); err != nil {
				return err
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	if out, err := exec.CommandContext(ctx, awo, "extract", traces, "--out", tools, "--verdict", "never", "--quiet").CombinedOutput(); err != nil {
		return fmt.Errorf("extract: %w: %s", err, out)
	}
	s, err := stdio(ctx, "2025-11-25", awo, "serve", "--servers", local, "--tools", tools)
	if err != nil {
		return err
	}
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	own := []string{"find", "owner", "mail", "big"}
	i := slices.IndexFunc(list.Tools, func(t *mcp.Tool) bool { return !slices.Contains(own, t.Name) })
	if i < 0 {
		return fmt.Errorf("no meta-tool came of %s", traces)
	}
	schema, _ := list.Tools[i].InputSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	var one, whole times
	for k := range 300 {
		begin := time.Now()
		for _, c := range [][2]string{{"find", fmt.Sprint(k)}, {"owner", fmt.Sprintf("id-%d", k)}, {"mail", fmt.Sprintf("owner-%d", k)}} {
			if _, err := s.call(ctx, c[0], c[1]); err != nil {
				return err
			}
		}
		one = append(one, time.Since(begin))
		arguments := map[string]string{}
		for name := range properties {
			arguments[name] = fmt.Sprint(k)
		}
		begin = time.Now()
		r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: list.Tools[i].Name, Arguments: arguments})
		if err == nil && r.IsError {
			err = fmt.Errorf("%s failed", list.Tools[i].Name)
		}
		if err != nil {
			return err
		}
		whole = append(whole, time.Since(begin))
	}
	slices.Sort(one)
	slices.Sort(whole)
	a, b := one.at(0.5), whole.at(0.5)
	row("a meta-tool against its three calls one by one, p50", milliseconds(a), milliseconds(b), fmt.Sprintf("%.2f", b/a), "≤ 1", b <= a)
	return s.Close()
}
