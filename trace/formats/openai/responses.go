package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"iter"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// Responses reads what OpenAI's Responses interface takes and gives,
// in the layouts in which it is kept:
//
//	[{"type": "function_call", ...}, ...]    items alone
//	{"model", "input": [...], "tools"}       a request
//	{"object": "response", "output": [...]}  a response
//	{"request": {...}, "response": {...}}    a log of requests, with the answer
//	{"type": "response.completed", ...}      the events of a stream
//
// A response is a turn; among items alone a turn is what the model said between
// what others said. Calls and outputs are joined by call_id. Requests repeat what
// was said, or name the response that they go on from: the records of a
// conversation become one trajectory. Those that name a conversation or a
// response are found by that, the others by their first item; what belongs
// together among them is seen from their content.
//
// Functions have no sign of failure; tools that the interface runs itself have a
// status, and their calls and outputs are one item. Calls with a caller were made
// by a program.
var Responses = trace.Format{
	Name:     "openai-responses",
	Doc:      "OpenAI Responses: items, requests, responses, logs of both, and events of a stream.",
	Spec:     "https://platform.openai.com/docs/api-reference/responses",
	Detect:   detectResponses,
	Split:    splitResponses,
	Decode:   decodeResponses,
	Assemble: AssembleResponses,
}

// responsesRecord is a record with what is read of it.
type responsesRecord struct {
	request, response       message.ResponsesBody
	asked, answered, ignore bool
	items                   trace.Raw // a list of items alone
}

// read reads a record.
func (r *responsesRecord) read(b *build.Builder, c *jsonscan.Cursor) {
	if c.Kind() == jsonscan.Array {
		r.items = build.ReadRaw(c)
		return
	}
	var outer message.ResponsesBody
	var kind []byte
	var response trace.Raw
	raw := c.Raw()
	if raw == nil {
		return
	}
	in := jsonscan.New(raw)
	for ok := in.Object(); ok && in.Member(); {
		switch string(in.Key()) {
		case "type":
			kind, _ = in.Text()
		case "request":
			message.ReadResponsesBody(b, &in, &r.request)
			r.asked = r.request.HasInput
		case "response":
			response = build.ReadRaw(&in)
		}
	}
	if !response.IsZero() {
		in := jsonscan.New(response.Data)
		message.ReadResponsesBody(b, &in, &r.response)
		r.answered = r.response.IsResponse || r.response.HasOutput
	}
	if bytes.HasPrefix(kind, []byte("response.")) {
		switch string(kind) {
		case "response.completed", "response.failed", "response.incomplete":
		default:
			*r = responsesRecord{ignore: true}
		}
		return
	}
	if r.asked || r.answered {
		return
	}
	in = jsonscan.New(raw)
	message.ReadResponsesBody(b, &in, &outer)
	if outer.IsResponse || outer.HasOutput {
		r.response, r.answered = outer, true
	}
	if outer.HasInput {
		r.request, r.asked = outer, true
	}
}

// previous returns the response that the record goes on from.
func (r *responsesRecord) previous() []byte {
	if len(r.request.Previous) > 0 {
		return r.request.Previous
	}
	return r.response.Previous
}

// conversation returns the conversation that the record is part of.
func (r *responsesRecord) conversation() []byte {
	if len(r.request.Conversation) > 0 {
		return r.request.Conversation
	}
	return r.response.Conversation
}

// key returns what the records of a conversation that name nothing have in
// common: what it began with.
func (r *responsesRecord) key() string {
	d := message.Responses{Builder: build.New(0)}
	c := jsonscan.New(r.request.Input.Data)
	sum := sha256.New()
	for _, it := range d.List(&c, false) {
		if h, ok := it.Next(build.ItemHash{}); ok {
			sum.Write(h[:])
			break
		}
	}
	return "begin:" + hex.EncodeToString(sum.Sum(nil)[:12])
}

// splitResponses finds records, and follows from record to record which response
// goes on from which: Shared is the key. It keeps the id of every response.
func splitResponses(in *trace.Input) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		keys := map[string]string{} // by response
		for r, err := range trace.SplitRecords(in) {
			if err == nil {
				r.Shared = ResponsesKey(r.Data, keys)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// ResponsesKey returns the key of a record and notes it for those that go on
// from it.
func ResponsesKey(data []byte, keys map[string]string) string {
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' {
		return ""
	}
	var r responsesRecord
	c := jsonscan.New(data)
	r.read(build.New(0), &c)
	if c.End() != nil || r.ignore {
		return ""
	}
	previous, id := string(r.previous()), string(r.response.ID)
	var key string
	switch {
	case len(r.conversation()) > 0:
		key = "conversation:" + string(r.conversation())
	case previous != "":
		if key = keys[previous]; key == "" {
			key = "response:" + previous
			keys[previous] = key
		}
	case keys[id] != "": // one that goes on from it stood before it
		key = keys[id]
	case r.asked:
		key = r.key()
	default:
		key = "response:" + id
	}
	if id != "" {
		keys[id] = key
	}
	return key
}

func decodeResponses(record trace.Record) ([]trace.Fragment, error) {
	b := build.New(0)
	c := jsonscan.New(record.Data)
	var r responsesRecord
	r.read(b, &c)
	if !r.items.IsZero() {
		return decodeItems(record, &c)
	}
	if err := c.End(); err != nil {
		return nil, trace.ScanError(record, err)
	}
	switch {
	case r.ignore:
		return nil, nil
	case !r.asked && !r.answered:
		return b.FinishRecord(record, &c, `this record has neither a list "input" nor a response with "output"`)
	}
	key, _ := record.Shared.(string)
	if key == "" {
		key = ResponsesKey(record.Data, map[string]string{})
	}
	return []trace.Fragment{{Key: key, Data: record.Data, Pos: record.Pos()}}, nil
}

// decodeItems reads a list of items, which is all that there is of a trajectory.
func decodeItems(record trace.Record, c *jsonscan.Cursor) ([]trace.Fragment, error) {
	if err := c.End(); err != nil {
		return nil, trace.ScanError(record, err)
	}
	var s build.Transcripts
	t := s.Begin(build.ItemHash{})
	d := message.Responses{Builder: t.Builder}
	in := jsonscan.New(record.Data)
	items := d.List(&in, false)
	s.Extend(t, items)
	if t.N == 0 && len(items) == 0 {
		return t.Builder.FinishRecord(record, c, "this list has no items of the Responses interface")
	}
	t.Builder.Anomaly(build.CodeLoneSurrogate, c.LoneSurrogates())
	tr := s.Finish()[0]
	tr.Offset = 0 // a whole record: the reader tells where
	return []trace.Fragment{{Trajectory: tr}}, nil
}

func detectResponses(h trace.Head) trace.Match {
	if len(h.Records) == 0 {
		return trace.Match{}
	}
	first := h.Records[0]
	if h.Container == trace.ContainerArray && !first.Has("object") && !first.Has("request") && !first.Has("input") {
		for _, r := range h.Records {
			if isResponsesItem(r.Raw) {
				return trace.Match{OK: true, Whole: true}
			}
		}
		return trace.Match{Whole: first.Has("role") || first.Has("type")}
	}
	near := ""
	for _, r := range h.Records {
		switch {
		case r.Has("traceId"), r.Has("trace_id"), r.Has("run_type"), r.Has("resourceSpans"):
			return trace.Match{}
		case len(r.Raw) > 0 && r.Raw[0] == '[':
			c := jsonscan.New(r.Raw)
			for ok := c.Array(); ok && c.Element(); {
				start := c.Offset()
				c.Skip()
				if isResponsesItem(r.Raw[start:c.Offset()]) {
					return trace.Match{OK: true}
				}
			}
		case isResponsesBody(r.Members, false):
			return trace.Match{OK: true}
		case bytes.HasPrefix(r.Members["type"], []byte(`"response.`)) && (r.Has("response") || r.Has("item") || r.Has("delta") || r.Has("item_id")):
			return trace.Match{OK: true}
		case isResponsesBody(trace.NewHeadRecord(r.Members["request"], false).Members, true):
			return trace.Match{OK: true}
		case isResponsesBody(trace.NewHeadRecord(r.Members["response"], false).Members, true):
			return trace.Match{OK: true}
		case r.Has("input") && r.Has("model"):
			near = `the input is no list of items with a role or a type`
		}
	}
	return trace.Match{Lacks: near}
}

// isResponsesBody reports whether members, which may be cut short, are those of a
// request or a response; nested says that they may stand in a member "body".
func isResponsesBody(members map[string][]byte, nested bool) bool {
	if string(members["object"]) == `"response"` {
		return true
	}
	if body := members["body"]; nested && body != nil {
		return isResponsesBody(trace.NewHeadRecord(body, false).Members, false)
	}
	if _, ok := members["model"]; !ok {
		return false
	}
	input := bytes.TrimSpace(members["input"])
	if len(input) == 0 {
		return false
	}
	if input[0] == '"' {
		_, told := members["instructions"]
		_, previous := members["previous_response_id"]
		return told || previous
	}
	c := jsonscan.New(input)
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			if key := string(c.Key()); key == "role" || key == "type" {
				return true
			}
		}
	}
	return false
}

// isResponsesItem reports whether a text, which may be cut short, is an item that
// only the Responses interface has.
func isResponsesItem(text []byte) bool {
	found := false
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "type":
			kind, _ := c.Text()
			found = found || bytes.HasSuffix(kind, []byte("_call_output")) || string(kind) == "item_reference" ||
				bytes.HasSuffix(kind, []byte("_call")) && !bytes.HasPrefix(kind, []byte("tool_"))
		case "content":
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					if string(c.Key()) == "type" {
						kind, _ := c.Text()
						found = found || string(kind) == "input_text" || string(kind) == "output_text"
					}
				}
			}
		case "payload", "uuid", "traceId", "trace_id":
			return false
		}
	}
	return found
}
