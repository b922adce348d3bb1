package maps

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// lists are the members that hold observations, or traces.
var lists = []string{"traces", "observations", "batch", "data"}

// divideLangfuse returns the traces and observations in a record, each with the trace that
// it is of and, if an event of ingestion tells it, its type:
//
//	{"trace": "<id>", "event": "GENERATION", "body": {...}}
func divideLangfuse(record []byte) (out [][]byte) {
	traces := map[string]string{} // of observations, for updates that do not name it
	add := func(raw []byte, of string) {
		body, event := raw, ""
		if inner := build.MemberRaw(raw, "body"); build.IsKind(inner, '{') {
			body = inner
			event, _, _ = strings.Cut(string(build.MemberText(raw, "type")), "-")
			event = strings.ToUpper(event)
		}
		id, own := string(build.MemberText(body, "id")), string(build.MemberText(body, "traceId"))
		own = cmp.Or(own, string(build.MemberText(body, "trace_id")))
		key := cmp.Or(own, traces[id], of, id)
		if event == "TRACE" && own == "" {
			key = cmp.Or(traces[id], of, id)
		}
		if key == "" || event == "SCORE" || event == "SDK" {
			return
		}
		if traces[id] = key; id == key && own == "" {
			event = "TRACE"
		}
		out = append(out, build.Object("trace", key, "event", event, "body", body))
	}
	var read func(raw []byte, depth int)
	read = func(raw []byte, depth int) {
		of := ""
		if inner := build.MemberRaw(raw, "trace"); build.IsKind(inner, '{') {
			of = string(build.MemberText(inner, "id"))
			add(inner, of)
		} else if build.HasMember(raw, "observations") {
			of = string(build.MemberText(raw, "id"))
		}
		found := false
		c := jsonscan.New(raw)
		for ok := c.Object(); ok && c.Member(); {
			name := string(c.Key())
			if c.Kind() != jsonscan.Array || !slices.Contains(lists, name) {
				continue
			}
			found = true
			for one := range build.Objects(c.Raw()) {
				switch {
				case name == "data" && depth == 0:
					read(one, depth+1)
				case name == "traces":
					add(one, string(build.MemberText(one, "id")))
				default:
					add(one, of)
				}
			}
		}
		if !found {
			add(raw, "")
		}
	}
	read(record, 0)
	return out
}
