package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/sealed"
)

// Logins are the tokens of servers, by their addresses, in a file of mode 0600.
type Logins struct {
	mu      sync.Mutex
	file    string
	Servers map[string]*login
}

// login is what renews a token.
type login struct {
	Client oauth2.Config `json:"client"`
	Token  *oauth2.Token `json:"token"`

	source oauth2.TokenSource
}

// ReadLogins reads a file of logins; one that is not there has none.
func ReadLogins(file string) (*Logins, error) {
	l := &Logins{file: file, Servers: map[string]*login{}}
	src, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return nil, err
	case json.Unmarshal(src, &l.Servers) != nil || l.Servers == nil:
		return nil, diag.New(diag.Pos{File: file}, "logins-unread", "this is not a file that `awo serve --login` wrote")
	}
	return l, nil
}

// write writes the file; l.mu is held.
func (l *Logins) write() error {
	data, err := json.MarshalIndent(l.Servers, "", "  ")
	if err != nil {
		return err
	}
	return sealed.Replace(l.file, data) // of mode 0600
}

// header returns the header of requests to a server, "" without a login. A token that has
// expired is renewed, and kept.
func (l *Logins) header(server string) (string, error) {
	if l == nil {
		return "", nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.Servers[server]
	if one == nil || one.Token == nil {
		return "", nil
	}
	if one.source == nil {
		ctx := context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Timeout: discoverWait * 10})
		one.source = one.Client.TokenSource(ctx, one.Token)
	}
	token, err := one.source.Token()
	if err != nil {
		return "", errors.New("the token cannot be renewed: log in again with `awo serve --login`") // an error of the library may hold the answer
	}
	if token.AccessToken != one.Token.AccessToken {
		one.Token = token
		if err := l.write(); err != nil {
			return "", err
		}
	}
	return token.Type() + " " + token.AccessToken, nil
}

// Login gets a token for a server from its authorization server, with discovery, dynamic
// registration and PKCE. show is given the address that the user is to open in a browser,
// which ends at an address of this machine.
func (l *Logins) Login(ctx context.Context, s *Server, show func(url string)) error {
	back, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	codes := make(chan *auth.AuthorizationResult, 1)
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		select {
		case codes <- &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}:
		default: // somebody else came first
		}
		_, _ = w.Write([]byte("awo has what it needs: close this page.\n"))
	}), ReadHeaderTimeout: endWait}
	go func() { _ = web.Serve(back) }() // until it is closed
	defer web.Close()
	own := fmt.Sprintf("http://%s/", back.Addr())
	made := &login{}
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "awo", RedirectURIs: []string{own}, GrantTypes: []string{"authorization_code", "refresh_token"}, TokenEndpointAuthMethod: "none",
		}},
		RedirectURL: own, RequestRefreshToken: true,
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			show(a.URL)
			select {
			case code := <-codes:
				return code, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			made.Client, made.Token = *c, t
			return oauth2.StaticTokenSource(t), nil // what renews it may be used once
		},
	})
	if err != nil {
		return err
	}
	// The server says where to log in when it is asked without a token.
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusUnauthorized {
		return errors.Join(fmt.Errorf("server %s asks for no login: it answers %d", s.Name, response.StatusCode), response.Body.Close())
	}
	if err := handler.Authorize(ctx, request, response); err != nil { // which closes the body
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Servers[s.URL] = made
	return l.write()
}
