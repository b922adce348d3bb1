// Package mcp reads the messages between a client and a server of the Model Context
// Protocol.
//
// A line comes in as a fragment; the calls of a session are joined from them. No
// model takes part in these messages: which calls one response of the model made is
// assumed from the time between them. What a relay called by itself, for a meta-tool or
// ahead of the agent, stands behind the call that it was made for. It is O(session).
package mcp

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/maps"
)

// Format reads logs of the Model Context Protocol: its JSON-RPC messages, one
// a line (or a batch), bare or in an object of the logger's with the time, the
// direction and the session. A connection is a trajectory: that of a session, or
// of a file; two files that differ by .client and .server in their names are the
// directions of one.
//
// The protocol knows tool calls and no model: turns are assumed, see WithTurnGap, and
// only where every call has a time. A response answers the oldest request of the other
// side with its id. IDs begin again with every initialize; both sides count their own,
// and so does every peer of a relay.
var Format = WithTurnGap(DefaultTurnGap)

// DefaultTurnGap is the time from which on a call is taken for one of another turn.
const DefaultTurnGap = 100 * time.Millisecond

// WithTurnGap returns the format with a time of its own: a call that starts before those
// of the last turn were answered, or less than gap after that, is of the same turn.
func WithTurnGap(gap time.Duration) trace.Format {
	return trace.Format{
		Name:   "mcp",
		Doc:    "Logs of the Model Context Protocol: JSON-RPC messages, bare or wrapped.",
		Spec:   "https://modelcontextprotocol.io/specification",
		Detect: maps.Detect("mcp"),
		Decode: decodeMCP,
		Assemble: func(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
			return assembleMCP(key, parts, gap)
		},
	}
}

// mcpLine is what a logger says about the message in it.
type mcpLine struct {
	at            []byte
	side, session string
	peer          []byte // of the relay that wrote the line; nil if none did
	within, relay []byte // JSON
	by            []byte // who answered in the place of a server
	attached      []byte // JSON: content behind that of the result
	messages      [][]byte
}

// readMCPLine reads a line.
func readMCPLine(data []byte) (l mcpLine) {
	c := jsonscan.New(data)
	if c.Kind() == jsonscan.Array {
		l.messages = slices.Collect(build.Elements(data))
		return l
	}
	bare := false
	var wrapped []byte
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "jsonrpc":
			bare = true
		case "timestamp", "time", "ts":
			l.at, _ = c.Text()
		case "direction", "dir", "from", "sender", "source":
			text, _ := c.Text()
			l.side = mcpSide(string(text))
		case "sessionId", "session_id", "mcpSessionId", "connectionId", "connection_id", "connection", "session":
			text, _ := c.Text()
			l.session = cmp.Or(string(text), l.session)
		case "peer":
			if peer, _ := c.Text(); isPeer(string(peer)) {
				l.peer = peer
			}
		case "within":
			l.within = c.Raw()
		case "answered_by":
			l.by, _ = c.Text()
		case "attached":
			l.attached = c.Raw()
		case "awo":
			l.relay = c.Raw()
		case "message", "data", "payload", "body", "msg":
			if c.Kind() == jsonscan.String {
				wrapped, _ = c.Text()
			} else {
				wrapped = c.Raw()
			}
		}
	}
	switch {
	case bare:
		return mcpLine{messages: [][]byte{data}}
	case wrapped != nil && trace.ArgsStateOf(wrapped) == trace.ArgsObject:
		l.messages = [][]byte{wrapped}
	case wrapped != nil:
		if in := jsonscan.New(wrapped); in.End() == nil {
			l.messages = slices.Collect(build.Elements(wrapped))
		}
	}
	return l
}

// Who a relay speaks with: agentPeer, or upstreamPeer and the name of a server.
const (
	agentPeer    = "agent"
	upstreamPeer = "upstream:"
)

func isPeer(name string) bool { return name == agentPeer || strings.HasPrefix(name, upstreamPeer) }

// mcpSide returns who sends in a direction, "" if its name does not say.
func mcpSide(direction string) string {
	d := strings.ToLower(direction)
	switch {
	case strings.HasPrefix(d, "client"), d == "send", d == "sent", d == "out", d == "outgoing", d == "outbound", d == "request", d == "->", d == ">":
		return "client"
	case strings.HasPrefix(d, "server"), d == "recv", d == "receive", d == "received", d == "in", d == "incoming", d == "inbound", d == "response", d == "<-", d == "<":
		return "server"
	}
	return ""
}

func decodeMCP(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	c.Skip()
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	l := readMCPLine(r.Data)
	name := trace.UnpackedName(r.File)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	for _, side := range []string{"client", "server"} {
		if base, ok := strings.CutSuffix(name, "."+side); ok {
			name, l.side = base, cmp.Or(l.side, side)
			break
		}
	}
	key := "file:" + name
	if l.session != "" {
		key = "session:" + l.session
	}
	order := int64(0) // a relay writes in order, whatever its clock does
	if at, ok := trace.ParseTime(l.at); ok && l.peer == nil {
		order = at.UnixMicro()
	}
	var out []trace.Fragment
	for _, message := range l.messages {
		if !build.HasMember(message, "jsonrpc") {
			continue
		}
		relay := l.relay
		if len(out) > 0 {
			relay = nil
		}
		part := build.Object(
			"at", string(l.at), "side", string(l.side), "peer", string(l.peer), "within", l.within, "by", string(l.by), "attached", l.attached,
			"awo", relay, "message", message,
		)
		out = append(out, trace.Fragment{Key: key, Order: order, Data: part, Pos: r.Pos()})
	}
	if len(out) == 0 {
		return build.New(0).FinishRecord(r, &c, "this record holds no JSON-RPC message")
	}
	return out, nil
}
