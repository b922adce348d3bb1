package trace_test

import (
	"testing"

	"github.com/awo-dev/awo/trace"
)

func TestFailureIn(t *testing.T) {
	for text, want := range map[string]string{
		"Error: 503": "error-text", "Error: user not found": "error-text", "ValueError: no such key": "error-text",
		"error executing tool search": "error-text", "  [ERROR]: no": "error-text", "requests.exceptions.HTTPError: 404": "error-text",
		"Errors are rare in this table": "", "error-free flights: 7": "", "There was no error: fine": "",
		"Traceback (most recent call last):\n  File": "traceback",
		"HTTP 404": "http-status", "HTTP/1.1 502 Bad Gateway": "http-status", "503 Service Unavailable": "http-status",
		"Status code: 401, login first": "http-status", "HTTP/1.1 200 OK": "", "404": "", "500 seats": "",
		"Exit code 1\nls: no such file": "exit-code", "exit code: 127": "exit-code", "Exit code 0\nfine": "", "exited with code 2": "exit-code",
		`{"error":"not found"}`: "error-member", `{"error":"","response":"x"}`: "", `{"error":null}`: "", `{"error":false,"a":1}`: "",
		`{"error":{"code":7}}`: "error-member", `{"error":{}}`: "", `{"content":[],"isError":true}`: "error-flag", `{"isError":false}`: "",
		`{"a":{"error":"inside"}}`: "", `{"exit_code":2,"output":""}`: "exit-code", `{"status_code":404}`: "http-status", `{"status_code":201}`: "",
		`{"error":"cut`: "", "": "", "ok": "", `[{"error":"x"}]`: "",
	} {
		if got := trace.FailureIn(trace.TextOf(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	// JSON strings as recorded, and strings in them.
	if got := trace.FailureIn(trace.Raw{Data: []byte(`"{\"error\":\"no\"}"`), Form: trace.FormString}); got != "error-member" {
		t.Errorf("a quoted object: %q", got)
	}
	if got := trace.FailureIn(trace.JSONOf([]byte(`"Error: no"`))); got != "error-text" {
		t.Errorf("a JSON string: %q", got)
	}
}

func FuzzFailureIn(f *testing.F) {
	for _, seed := range []string{"Error: 503", `{"error":"x"}`, `"{`, `{"error":{"a":[`, "HTTP/1.1 502 x", "\x00\xff"} {
		f.Add(seed)
	}
	names := map[string]bool{"": true}
	for _, p := range trace.FailurePatterns {
		names[p.Name] = true
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := trace.FailureIn(trace.TextOf(text)); !names[got] {
			t.Errorf("%q is no pattern", got)
		}
		if code := trace.FailureCode(trace.TextOf(text)); code != 0 && (code < 400 || code > 599 || trace.FailureIn(trace.TextOf(text)) == "") {
			t.Errorf("code %d", code)
		}
	})
}

func TestReadFailures(t *testing.T) {
	call := func(result string, s trace.Status) trace.Call {
		return trace.Call{Tool: trace.Intern("a"), Turn: -1, Result: trace.TextOf(result), HasResult: true, Status: s}
	}
	one := &trace.Trajectory{Calls: []trace.Call{call("Error: no", trace.StatusUnknown), call("Error: no", trace.StatusOK), call("fine", trace.StatusUnknown), call("x", trace.StatusFailed)}}
	one.ReadFailures()
	want := []trace.Status{trace.StatusFailed, trace.StatusOK, trace.StatusUnknown, trace.StatusFailed}
	for i, c := range one.Calls {
		if c.Status != want[i] {
			t.Errorf("call %d: %s, want %s", i, c.Status, want[i])
		}
	}
	y := &trace.Tally{}
	y.Add(one)
	if got := y.StatusReadings(); len(got) != 1 || got[0] != (trace.StatusReading{By: "error-text", Calls: 1}) {
		t.Errorf("%+v", got)
	}
}

func TestFailureCode(t *testing.T) {
	for text, want := range map[string]int{
		"Error: 503": 503, "Error: HTTP 404": 404, "HTTPError: 429 Too Many Requests": 429, "HTTP/1.1 502 Bad Gateway": 502,
		"503 Service Unavailable": 503, "Status code: 401, login first": 401, `{"status_code":404}`: 404, `{"error":"x","code":500}`: 500,
		"Error: 600": 0, "Error: user 404 not found": 0, "404": 0, "500 seats": 0, `{"code":500}`: 0, `{"error":"x","code":"500"}`: 0, "": 0, "Error: no": 0,
		`"Error: 503"`: 503, `{"error":"x","code":[500]}`: 0,
	} {
		if got := trace.FailureCode(trace.TextOf(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
