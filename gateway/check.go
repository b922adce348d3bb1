package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// State is what a server turned out to be.
type State struct {
	Server    string   `json:"server"` // its name in the configuration
	Ready     bool     `json:"ready"`
	Reason    string   `json:"reason,omitempty"` // why it is not ready
	Name      string   `json:"name,omitempty"`   // what it calls itself
	Version   string   `json:"version,omitempty"`
	Protocol  string   `json:"protocol,omitempty"`
	Tools     int      `json:"tools"`
	Prompts   int      `json:"prompts"`
	Resources int      `json:"resources"`     // templates too
	Dropped   int      `json:"dropped"`       // messages that could not be read
	Odd       []string `json:"odd,omitempty"` // tools whose schema is of no object: many clients refuse these
}

// nobody is the agent of a check.
type nobody struct{}

func (nobody) Read(ctx context.Context) (jsonrpc.Message, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (nobody) Send(jsonrpc.Message, jsonrpc.ID) error { return nil }
func (nobody) Close() error                           { return nil }

// Check connects to every server, reads its lists and ends it. It returns the servers and
// the tools that there are. A server has Options.ConnectWait for that.
func (g *Gateway) Check(ctx context.Context) ([]State, []*Tool) {
	s := g.newSession(nobody{})
	s.setup = &setup{servers: s.setup.servers} // each server is asked itself
	s.initialize = append(append([]byte(`{"protocolVersion":"`+versions[0]+`","capabilities":{},"clientInfo":{"name":"awo","version":`), quoted(g.options.Version)...), "}}"...)
	// A server is kept until all are read: only together do they show which names collide.
	read, enough := context.WithTimeout(ctx, g.options.ConnectWait)
	defer enough()
	kept, end := context.WithCancel(ctx)
	var arrived, ended sync.WaitGroup
	for _, u := range s.ups {
		u.mu.Lock()
		ready := u.ready
		u.mu.Unlock()
		gone := make(chan struct{})
		ended.Go(func() {
			_ = u.once(kept) // why it ended is in u.reason
			close(gone)
		})
		arrived.Go(func() {
			select {
			case <-ready:
			case <-gone:
			case <-read.Done():
			}
		})
	}
	arrived.Wait()
	out := make([]State, len(s.ups))
	definitions, places := s.list("tools/list")
	for i, u := range s.ups {
		out[i] = u.state()
	}
	end()
	ended.Wait()
	return out, toolsOf(definitions, places)
}

func (u *upstream) state() State {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := State{Server: u.server.Name, Reason: u.reason, Dropped: u.dropped}
	select {
	case <-u.ready:
		s.Ready = true
	default:
		if u.result == nil && u.conn != nil {
			s.Reason = "it did not answer initialize in time"
		} else if u.conn != nil {
			s.Reason = "its lists were not read in time"
		}
		return s
	}
	s.Name, s.Version = text(member(u.result, "serverInfo", "name")), text(member(u.result, "serverInfo", "version"))
	s.Protocol = text(member(u.result, "protocolVersion"))
	s.Tools, s.Prompts = len(u.lists["tools/list"]), len(u.lists["prompts/list"])
	s.Resources = len(u.lists["resources/list"]) + len(u.lists["resources/templates/list"])
	for _, tool := range u.lists["tools/list"] {
		name := text(member(tool, "name"))
		if !ofObject(member(tool, "inputSchema")) {
			s.Odd = append(s.Odd, name)
		}
	}
	return s
}

// ofObject reports whether a schema says that what it describes is an object.
func ofObject(schema json.RawMessage) bool {
	return strings.TrimSpace(text(member(schema, "type"))) == "object"
}
