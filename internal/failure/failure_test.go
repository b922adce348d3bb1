package failure_test

import (
	"testing"

	"github.com/awo-dev/awo/internal/failure"
)

func name(p *failure.Pattern) string {
	if p == nil {
		return ""
	}
	return p.Name
}

func sure(text string) string { return name(failure.Sure([]byte(text))) }

func TestSure(t *testing.T) {
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
		if got := sure(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{"Error: 503", `{"error":"x"}`, `"{`, `{"error":{"a":[`, "HTTP/1.1 502 x", "\x00\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, narrow := failure.Find([]byte(text)), failure.Sure([]byte(text))
		if p != nil && !p.In([]byte(text)) {
			t.Errorf("found %s, which the text does not fit", p.Name)
		}
		if narrow != nil && narrow != p {
			t.Errorf("%s is sure, and not the first", narrow.Name)
		}
		if code := failure.Code([]byte(text)); code != 0 && (code < 400 || code > 599 || narrow == nil) {
			t.Errorf("code %d", code)
		}
	})
}

func TestCode(t *testing.T) {
	for text, want := range map[string]int{
		"Error: 503": 503, "Error: HTTP 404": 404, "HTTPError: 429 Too Many Requests": 429, "HTTP/1.1 502 Bad Gateway": 502,
		"503 Service Unavailable": 503, "Status code: 401, login first": 401, `{"status_code":404}`: 404, `{"error":"x","code":500}`: 500,
		"Error: 600": 0, "Error: user 404 not found": 0, "404": 0, "500 seats": 0, `{"code":500}`: 0, `{"error":"x","code":"500"}`: 0, "": 0, "Error: no": 0,
		`"Error: 503"`: 503, `{"error":"x","code":[500]}`: 0,
	} {
		if got := failure.Code([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestFind has what fits only patterns that are not sure: nothing reads them unasked.
func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"Failed to open the page": "failed-to", "Unable to find it": "failed-to", "He failed to open it": "",
		`{"id":3,"success":false}`: "failure-member", `{"ok":true}`: "", `{"status":"Failed"}`: "failure-member", `{"status":503}`: "failure-member",
		`{"status":"open"}`: "", `{"errors":[]}`: "", `{"errors":[{"a":1}]}`: "failure-member", `{"code":17}`: "",
		"bash: foo: command not found": "shell-message", "no tests (exit code 1)": "shell-message", "done (exit code 0)": "",
	} {
		if got := name(failure.Find([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := sure(text); got != "" {
			t.Errorf("%q is sure: %q", text, got)
		}
	}
	// The sure pattern counts, wherever its member stands.
	if got := name(failure.Find([]byte(`{"success":false,"error":"no seats"}`))); got != "error-member" {
		t.Errorf("an error behind a flag: %q", got)
	}
}
