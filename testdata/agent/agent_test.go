package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
)

// TestServerDoesWhatTheRunSaw plays the calls of runs against the server of their office:
// where the run's call succeeded, so does the server's, with the same answer.
func TestServerDoesWhatTheRunSaw(t *testing.T) {
	o, err := offices(40)
	if err != nil {
		t.Fatal(err)
	}
	calls, same := 0, 0
	for run := range 40 {
		s := newServer(o, run, 0)
		x, err := script(o, run)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Calls {
			c := &x.Calls[i]
			args, _ := c.ArgsValue()
			got := s.call(c.Tool.Value(), args.AppendCanonical(nil))
			text := got["content"].([]map[string]string)[0]["text"]
			want, _ := c.ResultValue()
			v, err := trace.ParseValue([]byte(text))
			if err != nil {
				v = trace.NewString(text)
			}
			calls++
			if got["isError"] == (c.Status == trace.StatusFailed) && v.Equal(want) {
				same++
			}
		}
	}
	if calls < 200 || same < calls*97/100 {
		t.Errorf("%d of %d calls are answered as they were", same, calls)
	}
}

// TestServerSpeaks asks as a gateway does, and once what makes no sense.
func TestServerSpeaks(t *testing.T) {
	o, err := offices(4)
	if err != nil {
		t.Fatal(err)
	}
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`no JSON`,
		`{"jsonrpc":"2.0","id":"two","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nobody"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"nothing"}`,
	}, "\n") + "\n"
	var out bytes.Buffer
	if err := newServer(o, 0, 0).serve(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID     json.RawMessage
			Error  *struct{ Code int }
			Result struct {
				Tools   []json.RawMessage
				IsError bool
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s tools %v failed %v error %v", m.ID, len(m.Result.Tools) > 10, m.Result.IsError, m.Error != nil))
	}
	want := []string{"1 tools false failed false error false", `"two" tools true failed false error false`, "3 tools false failed true error false", "4 tools false failed false error true"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("answers\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
