package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

// authority is an authorization server and, behind it, a server of MCP.
type authority struct {
	mu         sync.Mutex
	url        string
	behind     http.Handler
	challenge  string
	tokens     int
	registered int
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		answer(map[string]any{"resource": a.url + "/mcp", "authorization_servers": []string{a.url}})
	case "/.well-known/oauth-authorization-server":
		answer(map[string]any{
			"issuer": a.url, "authorization_endpoint": a.url + "/authorize", "token_endpoint": a.url + "/token", "registration_endpoint": a.url + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	case "/register":
		a.registered++
		var m map[string]any
		_ = json.NewDecoder(r.Body).Decode(&m)
		m["client_id"] = "client"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(m)
	case "/authorize":
		q := r.URL.Query()
		a.challenge = q.Get("code_challenge")
		back, err := url.Parse(q.Get("redirect_uri"))
		if err != nil || q.Get("code_challenge_method") != "S256" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		back.RawQuery = url.Values{"code": {"c0de"}, "state": {q.Get("state")}}.Encode()
		http.Redirect(w, r, back.String(), http.StatusFound)
	case "/token":
		_ = r.ParseForm()
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		proved := r.Form.Get("code") == "c0de" && base64.RawURLEncoding.EncodeToString(sum[:]) == a.challenge
		if !proved && r.Form.Get("refresh_token") != "again" {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		a.tokens++
		lives := 3600
		if a.tokens == 1 {
			lives = 1 // it is renewed at once
		}
		answer(map[string]any{"access_token": fmt.Sprintf("token-%d", a.tokens), "token_type": "Bearer", "expires_in": lives, "refresh_token": "again"})
	default:
		if a.tokens == 0 || r.Header.Get("Authorization") != fmt.Sprintf("Bearer token-%d", a.tokens) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+a.url+`/.well-known/oauth-protected-resource/mcp"`)
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		a.mu.Unlock()
		a.behind.ServeHTTP(w, r)
		a.mu.Lock()
	}
}

// TestLogin: a server that asks for a login is logged in to with registration and PKCE, the
// token is kept for the user alone, used by later gateways, and renewed when it expires.
func TestLogin(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	h := gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{}).Handler(ctx, gateway.HTTPOptions{})
	a := &authority{behind: h}
	web := httptest.NewServer(a)
	a.url = web.URL
	t.Cleanup(func() {
		cancel()
		h.Wait()
		web.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	file := filepath.Join(t.TempDir(), "logins.json")
	read := func() *gateway.Logins {
		l, err := gateway.ReadLogins(file)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	s := gateway.Server{Name: "far", URL: web.URL + "/mcp"}
	call := func() string {
		c := servetest.Relay(t, gateway.Options{Logins: read()}, s)
		c.Begin()
		return c.Request("tools/call", `{"name":"empty"}`)
	}
	if got := call(); !strings.Contains(got, "awo serve --login far") {
		t.Errorf("without a login: %s", got)
	}
	err := read().Login(t.Context(), &s, func(url string) {
		r, err := http.Get(url)
		if err != nil {
			t.Error(err)
			return
		}
		_ = r.Body.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", info, err)
	}
	for range 2 {
		want(t, "with a login", call(), `"result":{}`)
	}
	if a.registered != 1 || a.tokens != 2 {
		t.Errorf("%d registrations and %d tokens, not 1 and 2", a.registered, a.tokens)
	}
}
