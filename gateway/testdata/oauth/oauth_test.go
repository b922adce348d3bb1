// Package oauth tests that the gateway logs in to servers, with an authorization server that
// others have made. It is a module of its own, because the program needs none of that.
package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

// authority serves an authorization server and, at /mcp, a server of MCP that asks for its
// tokens. What the library does not have is added: clients that register themselves.
func authority(t *testing.T) (address string, registered *int) {
	var handler http.Handler
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(web.Close)
	clients := map[string]*storage.Client{}
	provider := exampleop.SetupServer(web.URL, storage.NewStorageWithClients(storage.NewUserStore(web.URL), clients), slog.New(slog.DiscardHandler), false)
	registered = new(int)
	mux := http.NewServeMux()
	mux.Handle("/", provider)
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, r *http.Request) {
		var about map[string]any
		if err := json.NewDecoder(r.Body).Decode(&about); err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		*registered++
		id := fmt.Sprintf("client-%d", *registered)
		var back []string
		for _, uri := range about["redirect_uris"].([]any) {
			back = append(back, uri.(string))
		}
		clients[id] = storage.NativeClient(id, back...)
		about["client_id"] = id
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(about)
	})
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		said := httptest.NewRecorder()
		provider.ServeHTTP(said, httptest.NewRequest(http.MethodGet, "/.well-known/openid-configuration", nil))
		var about map[string]any
		if err := json.Unmarshal(said.Body.Bytes(), &about); err != nil {
			t.Error(err)
		}
		about["registration_endpoint"] = web.URL + "/register"
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(about)
	})
	const metadata = "/.well-known/oauth-protected-resource/mcp"
	mux.HandleFunc("GET "+metadata, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"resource": web.URL + "/mcp", "authorization_servers": []string{web.URL}, "scopes_supported": []string{"openid", "email"}})
	})
	known := func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, web.URL+"/userinfo", nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Expiration: time.Now().Add(time.Minute)}, nil
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "you are in"}}}, nil, nil
	})
	behind := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{JSONResponse: true})
	mux.Handle("/mcp", auth.RequireBearerToken(known, &auth.RequireBearerTokenOptions{ResourceMetadataURL: web.URL + metadata})(behind))
	handler = mux
	return web.URL, registered
}

// requestID is where the page of the library's login says what it is about.
var requestID = regexp.MustCompile(`name="id" value="([^"]+)"`)

// browse does what a user does in a browser: fills in the form and is led back.
func browse(t *testing.T, page string) {
	get := func(r *http.Response, err error) string {
		if err != nil {
			t.Error(err)
			return ""
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s %v", r.Request.URL.Path, r.StatusCode, body, err)
		}
		return string(body)
	}
	form := get(http.Get(page))
	id := requestID.FindStringSubmatch(form)
	if id == nil {
		t.Errorf("no form: %s", form)
		return
	}
	from, err := url.Parse(page)
	if err != nil {
		t.Error(err)
		return
	}
	said := get(http.PostForm(from.Scheme+"://"+from.Host+"/login/username", url.Values{"id": {id[1]}, "username": {"test-user@" + from.Hostname()}, "password": {"verysecure"}}))
	if !strings.Contains(said, "close this page") {
		t.Errorf("the user sees %s", said)
	}
}

// TestLogin: discovery, registration, PKCE; the token is used, renewed once it has expired,
// and asked for again when it cannot be; a token from the environment does without all that.
func TestLogin(t *testing.T) {
	address, registered := authority(t)
	file := filepath.Join(t.TempDir(), "logins.json")
	s := gateway.Server{Name: "far", URL: address + "/mcp"}
	logins := func() *gateway.Logins {
		t.Helper()
		l, err := gateway.ReadLogins(file)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	call := func(s gateway.Server, l *gateway.Logins) (got string) {
		t.Helper()
		t.Run("session", func(t *testing.T) {
			c := servetest.Relay(t, gateway.Options{Logins: l}, s)
			c.Begin()
			got = c.Request("tools/call", `{"name":"ask","arguments":{}}`)
		})
		return got
	}
	const in, out = "you are in", "awo serve --login far"
	if got := call(s, logins()); !strings.Contains(got, out) {
		t.Errorf("without a login: %s", got)
	}
	if err := logins().Login(t.Context(), &s, func(page string) { browse(t, page) }); err != nil {
		t.Fatal(err)
	}
	if got := call(s, logins()); !strings.Contains(got, in) {
		t.Errorf("with a login: %s", got)
	}
	first := token(t, file, nil)
	token(t, file, func(of map[string]any) { of["expiry"] = "2020-01-01T00:00:00Z" })
	if got := call(s, logins()); !strings.Contains(got, in) {
		t.Errorf("renewed: %s", got)
	}
	second := token(t, file, nil)
	if second["access_token"] == first["access_token"] || second["refresh_token"] == first["refresh_token"] {
		t.Error("the token was not renewed, or what renews it not kept")
	}
	if got := call(s, logins()); !strings.Contains(got, in) {
		t.Errorf("with the renewed token: %s", got)
	}
	token(t, file, func(of map[string]any) { of["expiry"], of["refresh_token"] = "2020-01-01T00:00:00Z", first["refresh_token"] })
	if got := call(s, logins()); !strings.Contains(got, "log in again") || strings.Contains(got, fmt.Sprint(first["refresh_token"])) {
		t.Errorf("with a used refresh token: %s", got)
	}
	if *registered != 1 {
		t.Errorf("%d registrations", *registered)
	}
	servers, problems := gateway.ParseServers("mcp.json", fmt.Appendf(nil, `{"mcpServers":{"far":{"url":%q,"headers":{"Authorization":"Bearer ${FAR_TOKEN}"}}}}`, s.URL),
		func(string) (string, bool) { return fmt.Sprint(second["access_token"]), true })
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	if got := call(servers[0], nil); !strings.Contains(got, in) {
		t.Errorf("with a token from the environment: %s", got)
	}
}

// token returns the token in a file of logins; change changes it there.
func token(t *testing.T, file string, change func(of map[string]any)) map[string]any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		of := one["token"].(map[string]any)
		if change == nil {
			return of
		}
		change(of)
	}
	if data, err = json.Marshal(all); err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return nil
}
