package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var question = []Message{{"system", "You write rules."}, {"user", "Which?"}}

// serve starts a server that gives these answers in turn.
func serve(t *testing.T, answers ...http.HandlerFunc) *Server {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[min(n, len(answers)-1)](w, r)
		n++
	}))
	t.Cleanup(server.Close)
	return &Server{URL: server.URL + "/v1", Name: "tiny", Key: "k-1", Retries: 2, Wait: time.Millisecond}
}

func says(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, text)
	}
}

func TestServer(t *testing.T) {
	var got request
	var key, path string
	s := serve(t, says(503, "later"), func(w http.ResponseWriter, r *http.Request) {
		json.NewDecoder(r.Body).Decode(&got)
		key, path = r.Header.Get("Authorization"), r.URL.Path
		io.WriteString(w, `{"choices":[{"message":{"content":"these"}}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`)
	})
	answer, err := s.Ask(context.Background(), question)
	if err != nil || answer != (Answer{"these", 7, 2}) {
		t.Fatalf("%+v, %v", answer, err)
	}
	if got.Model != "tiny" || len(got.Messages) != 2 || got.Messages[1] != question[1] || key != "Bearer k-1" || path != "/v1/chat/completions" {
		t.Errorf("%+v to %s with %q", got, path, key)
	}
}

func TestServerErrors(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"refused":   {says(401, `{"error":{"message":"no such key"}}`), "status 401: no such key"},
		"busy":      {says(429, ""), "status 429"},
		"no JSON":   {says(200, "<html>"), "no JSON"},
		"no choice": {says(200, `{}`), "no choice"},
		"too long":  {says(200, strings.Repeat("x", maxAnswer+1)), "more than 1 MiB"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.example/", http.StatusFound)
		}, "status 302"},
	} {
		_, err := serve(t, test.handler).Ask(context.Background(), question)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "k-1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for url, want := range map[string]string{
		"http://localhost:8000/v1":                 "http://localhost:8000/v1/chat/completions",
		"https://api.example/v1/":                  "https://api.example/v1/chat/completions",
		"https://api.example/v1/chat/completions":  "https://api.example/v1/chat/completions",
		"http://api.example/v1":                    "",
		"localhost:8000":                           "",
		"ftp://api.example":                        "",
		"https://user:secret@api.example/v1":       "",
		"https://api.example/v1?deployment=rules1": "https://api.example/v1/chat/completions?deployment=rules1",
	} {
		got, err := (&Server{URL: url, Key: "k"}).Endpoint()
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", url, got, err)
		}
	}
}

func TestCommand(t *testing.T) {
	ask := func(line string, timeout time.Duration) (Answer, error) {
		return (&Command{Shell: []string{"sh", "-c"}, Line: line, Timeout: timeout}).Ask(context.Background(), question)
	}
	if a, err := ask("cat", 0); err != nil || a.Text != "--- system ---\nYou write rules.\n--- user ---\nWhich?\n" || a.OutputTokens == 0 || a.InputTokens == 0 {
		t.Errorf("%+v, %v", a, err)
	}
	for line, want := range map[string]string{
		"echo no >&2; exit 3":                "exit status 3: no",
		"exec sleep 10":                      "no answer in",
		"yes | head -c 2000000":              "more than 1 MiB",
		"yes no | head -c 10000 >&2; exit 1": "exit status 1",
	} {
		if _, err := ask(line, 300*time.Millisecond); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestRecordAndReplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recording")
	r, err := NewRecorder(&Command{Shell: []string{"sh", "-c"}, Line: "echo yes"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.Ask(context.Background(), question)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewRecorder(nil, dir); err == nil {
		t.Error("a recording is written over")
	}
	p := &Replayer{Dir: dir}
	if got, err := p.Ask(context.Background(), question); got != want || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := p.Ask(context.Background(), question); err == nil {
		t.Error("there is a second answer")
	}
	if _, err := (&Replayer{Dir: dir}).Ask(context.Background(), question[:1]); !errors.Is(err, ErrOtherQuestion) {
		t.Errorf("another question: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, exchangeFile(1)), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Replayer{Dir: dir}).Ask(context.Background(), question); err == nil {
		t.Error("half a file is an answer")
	}
}
