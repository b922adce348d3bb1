package anthropic

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Bedrock reads the log of invocations that Amazon Bedrock keeps, a request with its
// response a record:
//
//	{"schemaType": "ModelInvocationLog", "modelId", "input": {"inputBodyJson"}, "output": {"outputBodyJson"}}
//
// The bodies are those of the Converse interface, or Anthropic's where the model was
// invoked with them. Converse has the same blocks under other names, so it becomes a log
// of Anthropic's interface, and its requests are joined as those are.
var Bedrock = trace.Format{
	Name:   "bedrock",
	Doc:    "Logs of model invocations of Amazon Bedrock: Converse, and Anthropic's messages.",
	Spec:   "https://docs.aws.amazon.com/bedrock/latest/userguide/model-invocation-logging.html",
	Detect: detectBedrock,
	Decode: func(r trace.Record) ([]trace.Fragment, error) {
		if err := build.CheckRecord(r); err != nil {
			return nil, err
		}
		r.Data, r.Log = asMessages(r.Data), true
		return read.Decode(r)
	},
	Assemble: read.Assemble,
}

func detectBedrock(h trace.Head) trace.Match {
	for _, r := range h.Records {
		if r.Has("modelId", "input", "output") && (r.Has("schemaType") || bytes.Contains(r.Members["input"], []byte(`"inputBodyJson"`))) {
			return trace.Match{OK: true, Log: true}
		}
	}
	return trace.Match{}
}

// asMessages returns a record as one of a log of Anthropic's interface.
func asMessages(record []byte) []byte {
	request := build.MemberRaw(record, "input", "inputBodyJson")
	response := build.MemberRaw(record, "output", "outputBodyJson")
	return build.Object("request", converseRequest(request), "response", converseResponse(record, response))
}

// rename is what a member is called in Anthropic's interface, and how its value is
// written there; nil leaves it as it is.
type rename struct {
	name  string
	write func(value []byte) []byte
}

// renamed writes the members of an object that have a new name, and leaves out others.
func renamed(object []byte, names map[string]rename) []byte {
	out := []byte{'{'}
	c := jsonscan.New(object)
	for ok := c.Object(); ok && c.Member(); {
		to, ok := names[string(c.Key())]
		if !ok {
			continue
		}
		value := c.Raw()
		if to.write != nil {
			value = to.write(value)
		}
		if len(value) == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(append(out, '"'), to.name...), `":`...), value...)
	}
	return append(out, '}')
}

// each writes the elements of a list; what becomes nothing is left out.
func each(write func([]byte) []byte) func([]byte) []byte {
	return func(list []byte) []byte {
		out := []byte{'['}
		for one := range build.Elements(list) {
			if one := write(one); len(one) > 0 {
				if len(out) > 1 {
					out = append(out, ',')
				}
				out = append(out, one...)
			}
		}
		return append(out, ']')
	}
}

// converseRequest returns a request, which is Anthropic's already unless it has what
// only Converse has.
func converseRequest(body []byte) []byte {
	if !build.IsKind(body, '{') {
		return []byte("null")
	}
	if build.HasMember(body, "anthropic_version") {
		return body
	}
	return renamed(body, map[string]rename{
		"messages": {"messages", each(converseMessage)},
		"system":   {"system", each(converseBlock)},
		"toolConfig": {"tools", func(config []byte) []byte {
			return each(func(tool []byte) []byte {
				return renamed(build.MemberRaw(tool, "toolSpec"), map[string]rename{
					"name": {name: "name"}, "description": {name: "description"},
					"inputSchema": {"input_schema", func(schema []byte) []byte { return build.MemberRaw(schema, "json") }},
				})
			})(build.MemberRaw(config, "tools"))
		}},
	})
}

// converseResponse returns the response of a record.
func converseResponse(record, body []byte) []byte {
	if !build.IsKind(body, '{') {
		return []byte("null")
	}
	said := build.MemberRaw(body, "output", "message")
	if said == nil {
		return body // Anthropic's
	}
	var usage []byte
	if counts := build.MemberRaw(body, "usage"); build.IsKind(counts, '{') {
		usage = renamed(counts, map[string]rename{
			"inputTokens": {name: "input_tokens"}, "outputTokens": {name: "output_tokens"},
			"cacheReadInputTokens": {name: "cache_read_input_tokens"}, "cacheWriteInputTokens": {name: "cache_creation_input_tokens"},
		})
	}
	return build.Object(
		"type", "message", "role", "assistant", "id", build.MemberRaw(record, "requestId"), "model", build.MemberRaw(record, "modelId"),
		"content", each(converseBlock)(build.MemberRaw(said, "content")), "usage", usage,
	)
}

// converseMessage returns a message.
func converseMessage(message []byte) []byte {
	return renamed(message, map[string]rename{"role": {name: "role"}, "content": {"content", each(converseBlock)}})
}

// converseBlock returns a block of content. Marks for the cache are no content.
func converseBlock(block []byte) []byte {
	c := jsonscan.New(block)
	for ok := c.Object(); ok && c.Member(); {
		key, value := string(c.Key()), c.Raw()
		switch key {
		case "text":
			return typed("text", renamed(block, map[string]rename{"text": {name: "text"}}))
		case "toolUse":
			return typed("tool_use", renamed(value, map[string]rename{"toolUseId": {name: "id"}, "name": {name: "name"}, "input": {name: "input"}}))
		case "toolResult":
			return typed("tool_result", renamed(value, map[string]rename{
				"toolUseId": {name: "tool_use_id"},
				"content":   {"content", each(converseResult)},
				"status": {"is_error", func(status []byte) []byte {
					if string(status) == `"error"` {
						return []byte("true")
					}
					return []byte("false")
				}},
			}))
		case "reasoningContent":
			return typed("thinking", renamed(build.MemberRaw(value, "reasoningText"), map[string]rename{"text": {name: "thinking"}}))
		case "cachePoint":
			return nil
		}
	}
	return block
}

// converseResult returns a piece of a result: a text, or a value as its JSON text.
func converseResult(piece []byte) []byte {
	if value := build.MemberRaw(piece, "json"); value != nil {
		return typed("text", append(jsonscan.AppendQuoted([]byte(`{"text":`), bytes.TrimSpace(value)), '}'))
	}
	return converseBlock(piece)
}

// typed puts the type before the members of a block.
func typed(kind string, block []byte) []byte {
	out := append(append([]byte(`{"type":"`), kind...), '"')
	if len(block) > 2 {
		out = append(out, ',')
	}
	return append(out, block[1:]...)
}
