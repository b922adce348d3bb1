package main

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// message is one of JSON-RPC, as far as it is looked at here.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string `json:"name"`
		Arguments struct {
			Key string `json:"key"`
		} `json:"arguments"`
	} `json:"params"`
	Result *struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// reply is what the server says to a request. The tool get only reads and put does not;
// both answer the key that they are asked for, after a moment.
func reply(m *message) string {
	switch m.Method {
	case "initialize":
		return `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"soak","version":"1"}}`
	case "tools/list":
		return `{"tools":[{"name":"get","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"put","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		time.Sleep(mathrand.N(20 * time.Millisecond))
		return fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, m.Params.Arguments.Key)
	}
	return `{}`
}

// serveLines is a server on standard streams. A file that is named after it and its process
// says that it runs, for whoever kills it.
func serveLines(folder, name string) error {
	if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d", name, os.Getpid())), nil, 0o600); err != nil {
		return err
	}
	var mu sync.Mutex
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		m := &message{}
		if json.Unmarshal(line, m) != nil || m.Method == "" || m.ID == nil {
			continue
		}
		go func() {
			result := reply(m)
			mu.Lock()
			defer mu.Unlock()
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		}()
	}
}

// serveHTTP is a server over HTTP with sessions. One that has started again knows none of
// the sessions before, and says so with status 400, as the TypeScript SDK does.
func serveHTTP(at string) error {
	var sessions sync.Map
	h := func(w http.ResponseWriter, r *http.Request) {
		m := &message{}
		switch {
		case r.Method == http.MethodDelete:
			sessions.Delete(r.Header.Get("Mcp-Session-Id"))
			return
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case json.NewDecoder(r.Body).Decode(m) != nil:
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		session := r.Header.Get("Mcp-Session-Id")
		if m.Method == "initialize" {
			session = rand.Text()
			sessions.Store(session, true)
			w.Header().Set("Mcp-Session-Id", session)
		}
		if _, known := sessions.Load(session); !known {
			http.Error(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: no valid session"},"id":null}`, http.StatusBadRequest)
			return
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, reply(m))
	}
	return (&http.Server{Addr: at, Handler: http.HandlerFunc(h), ReadHeaderTimeout: time.Minute}).ListenAndServe()
}
