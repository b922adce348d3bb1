package otel

import (
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/maps"
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
	Detect:   maps.Detect("phoenix"),
	Decode:   decodeFlat,
	Assemble: assembleFlat,
}
