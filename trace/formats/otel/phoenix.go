package otel

import (
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Phoenix reads spans as Phoenix exports them, one a record, or as its
// interface lists them, several under "data":
//
//	{"name", "context": {"trace_id", "span_id"}, "parent_id", "start_time",
//	 "end_time", "status_code", "attributes": {...}, "events": [...]}
//
// The attributes are those of OpenInference, under their whole names or as nested
// objects; spans are joined as those of OpenTelemetry are.
var Phoenix = trace.Format{
	Name:     "phoenix",
	Doc:      "Spans of Phoenix and OpenInference, as exported: context, parent_id, attributes.",
	Spec:     "https://arize-ai.github.io/openinference/spec/",
	Detect:   detectPhoenix,
	Decode:   decodeFlat,
	Assemble: assembleFlat,
}

func detectPhoenix(h trace.Head) trace.Match {
	for _, r := range h.Records {
		switch {
		case r.Has("context", "attributes") || r.Has("context", "parent_id") || r.Has("context", "start_time"):
			if build.HasMember(r.Members["context"], "trace_id") {
				return trace.Match{OK: true}
			}
			return trace.Match{Lacks: `"context" has no "trace_id"`}
		case build.IsKind(r.Members["data"], '['):
			first := trace.NewHeadRecord(build.FirstElement(r.Members["data"]), true)
			if build.HasMember(first.Members["context"], "trace_id") {
				return trace.Match{OK: true}
			}
		case r.Has("openinference.span.kind"):
			return trace.Match{Lacks: `these are attributes of a span without the span: "context" is missing`}
		}
	}
	return trace.Match{}
}
