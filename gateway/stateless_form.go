package gateway

import (
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// statelessVersion is the version of the protocol that has no sessions: each request says by
// itself who asks.
const statelessVersion = "2026-07-28"

// What a request or a result of that version says in its _meta.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaClient       = metaPrefix + "clientInfo"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaLogLevel     = metaPrefix + "logLevel"
	metaServer       = metaPrefix + "serverInfo"
	metaSubscription = metaPrefix + "subscriptionId"
)

// Errors that came with it.
const (
	codeHeader  = -32020 // headers and message disagree
	codeVersion = -32022 // a version that is not spoken here
)

// checked returns what is wrong with what a request says of itself, nil if nothing is.
func checked(params json.RawMessage) *jsonrpc.Error {
	meta := member(params, "_meta")
	version := member(meta, metaVersion)
	switch client := member(meta, metaClient); {
	case text(version) == "":
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "_meta has no " + metaVersion}
	case text(version) != statelessVersion:
		supported, _ := json.Marshal(append([]string{statelessVersion}, versions...)) // texts
		return &jsonrpc.Error{
			Code: codeVersion, Message: "this version of the protocol is not spoken here",
			Data: append(append(append(append([]byte(`{"supported":`), supported...), `,"requested":`...), version...), '}'),
		}
	case !isObject(member(meta, metaCapabilities)):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "_meta has no object " + metaCapabilities}
	case len(client) > 0 && (!isObject(client) || text(member(client, "name")) == ""):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: metaClient + " in _meta is no object with a name"}
	}
	return nil
}

// removed are requests that the protocol without sessions has no more.
var removed = []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}

// kept are the methods whose results say how long they may be kept.
var kept = []string{"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}

// complete adds to a result what this version of the protocol wants, where the server does
// not say it.
func (a *stateless) complete(method string, result json.RawMessage) json.RawMessage {
	if !isObject(result) {
		return result
	}
	add := func(name, value string) {
		if member(result, name) == nil {
			result = with(result, name, []byte(value))
		}
	}
	add("resultType", `"complete"`)
	if slices.Contains(kept, method) && text(member(result, "resultType")) == "complete" {
		add("ttlMs", "0")
		add("cacheScope", `"private"`)
	}
	if meta := member(result, "_meta"); meta == nil || isObject(meta) && member(meta, metaServer) == nil {
		if meta == nil {
			meta = []byte(`{}`)
		}
		result = with(result, "_meta", with(meta, metaServer, a.server))
	}
	return result
}
