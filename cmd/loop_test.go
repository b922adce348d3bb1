package cmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// shop is a server of three tools that follow each other: a user has orders, an order has
// a parcel. What it answers follows from what it is asked.
func shop() int {
	number := func(s string) (n int) {
		for _, r := range s {
			n = (n*31 + int(r)) % 900_001
		}
		return 100_000 + n
	}
	tools := `[`
	for i, t := range [][3]string{
		{"find_user", "name", "Find a user by name."},
		{"get_orders", "user_id", "List the orders of a user."},
		{"get_parcel", "order_id", "Say where the parcel of an order is."},
		{"add_note", "text", "Write a note."},
	} {
		if i > 0 {
			tools += ","
		}
		tools += fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":{%q:{"type":"string"}},"required":[%q]},"annotations":{"readOnlyHint":%v}}`,
			t[0], t[2], t[1], t[1], t[0] != "add_note")
	}
	tools += `]`
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments map[string]string
			}
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"1"}}`
		case "tools/list":
			result = `{"tools":` + tools + `}`
		case "tools/call":
			says := ""
			switch a := m.Params.Arguments; m.Params.Name {
			case "find_user":
				says = fmt.Sprintf(`{"user_id":"usr-%d","name":%q}`, number(a["name"]), a["name"])
			case "get_orders":
				says = fmt.Sprintf(`{"orders":[{"order_id":"ord-%d","total":%d}]}`, number("o"+a["user_id"]), number(a["user_id"])%97)
			case "get_parcel":
				says = fmt.Sprintf(`{"place":"depot %d"}`, number(a["order_id"])%7)
			case "add_note":
				says = `{"written":true}`
			}
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"structuredContent":%s,"isError":false}`, says, says)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// shopper is a scripted agent in a session with awo.
type shopper struct {
	t    *testing.T
	in   io.Writer
	out  *bufio.Reader
	next int
}

// ask makes a request and returns its result.
func (s *shopper) ask(method, params string) json.RawMessage {
	s.t.Helper()
	s.next++
	fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.next, method, params)
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			s.t.Errorf("awo ended: %v", err)
			return nil
		}
		var m struct {
			ID     int
			Method string
			Result json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			s.t.Errorf("%s: %v", line, err)
			return nil
		}
		if m.ID == s.next && m.Method == "" {
			return m.Result
		}
	}
}

// call calls a tool after the time that a model takes, and returns a member of its answer.
func (s *shopper) call(tool, argument, value, member string) string {
	s.t.Helper()
	time.Sleep(15 * time.Millisecond)
	result := s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{%q:%q}}`, tool, argument, value))
	_, rest, _ := strings.Cut(string(result), `"`+member+`":"`)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// runShop plays a session: the chain of three calls, by a meta-tool if one is offered.
func runShop(t *testing.T, n int, args ...string) {
	c := exec.CommandContext(t.Context(), "awo", append([]string{"serve", "--quiet"}, args...)...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Error(err)
		return
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Error(err)
		return
	}
	var complaint strings.Builder
	c.Stderr = &complaint
	if err := c.Start(); err != nil {
		t.Error(err)
		return
	}
	s := &shopper{t: t, in: in, out: bufio.NewReader(out)}
	s.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"shopper","version":"1"}}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	offered := string(s.ask("tools/list", `{}`))
	name := fmt.Sprintf("person-%d", 37*n+11)
	if before, _, ok := strings.Cut(offered, `"find_user_`); ok && n%2 == 0 {
		rest := offered[len(before)+1:]
		tool, _, _ := strings.Cut(rest, `"`)
		s.call(tool, "name", name, "place")
	} else {
		user := s.call("find_user", "name", name, "user_id")
		if n%5 < 4 {
			order := s.call("get_orders", "user_id", user, "order_id")
			s.call("get_parcel", "order_id", order, "place")
		}
	}
	if n%3 == 0 {
		s.call("add_note", "text", fmt.Sprintf("done with %d", n), "written")
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("awo serve: %v\n%s", err, &complaint)
	}
}

// TestLoop records 40 sessions, extracts, serves what came of it to 40 more, and extracts
// from these: the same meta-tools and the same rules of reads ahead.
func TestLoop(t *testing.T) {
	dir := t.TempDir()
	program, err := exec.LookPath("shop")
	if err != nil {
		t.Fatal(err)
	}
	servers := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(servers, fmt.Appendf(nil, `{"mcpServers":{"shop":{"command":%q}}}`, program), 0o600); err != nil {
		t.Fatal(err)
	}
	play := func(record string, args ...string) {
		t.Helper()
		done, slots := make(chan bool), make(chan bool, 4)
		for n := range 40 {
			go func() {
				slots <- true
				runShop(t, n, append([]string{"--servers", servers, "--record", filepath.Join(dir, record)}, args...)...)
				<-slots
				done <- true
			}()
		}
		for range 40 {
			<-done
		}
	}
	type extracted struct {
		Tables struct {
			MetaTools struct {
				Rows []struct {
					Name   string   `json:"name"`
					Tools  []string `json:"tools"`
					Inputs []string `json:"inputs"`
					Status string   `json:"status"`
					Served int      `json:"support_served"`
				}
			} `json:"meta_tools"`
			Prefetch struct {
				Rows []struct {
					ID string `json:"id"`
				}
			}
		}
	}
	extract := func(record, out string) (what string, served int) {
		t.Helper()
		text, err := exec.CommandContext(t.Context(), "awo", "extract", filepath.Join(dir, record), "--turn-gap", "10ms", "--threshold", "5", "--out", filepath.Join(dir, out), "--format", "json", "--quiet").Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var e extracted
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		for _, m := range e.Tables.MetaTools.Rows {
			if m.Status == "emitted" {
				what += fmt.Sprintf("%s of %v with %v\n", m.Name, m.Tools, m.Inputs)
				served += m.Served
			}
		}
		var rules []string // their order follows from counts, which differ
		for _, r := range e.Tables.Prefetch.Rows {
			rules = append(rules, "rule "+r.ID+"\n")
		}
		slices.Sort(rules)
		return what + strings.Join(rules, ""), served
	}
	play("before")
	before, _ := extract("before", "tools")
	if !strings.Contains(before, "find_user_") || !strings.Contains(before, "rule ") {
		t.Fatalf("nothing to serve:\n%s", before)
	}
	play("after", "--tools", filepath.Join(dir, "tools"))
	after, served := extract("after", "tools-again")
	if before != after {
		t.Errorf("from what was recorded\n%s\nfrom what was served\n%s", before, after)
	}
	if served == 0 {
		t.Error("no session has the calls as steps of a meta-tool alone: nothing was served")
	}
	text, err := exec.CommandContext(t.Context(), "awo", "compare", filepath.Join(dir, "after"), "--tools", filepath.Join(dir, "tools"), "--turn-gap", "10ms", "--quiet").CombinedOutput()
	if err != nil || !strings.Contains(string(text), "20 of ") {
		t.Errorf("%v\n%s", err, text)
	}
}
