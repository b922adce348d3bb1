// Package platform reads what platforms that watch agents export: runs of LangSmith
// and observations of Langfuse.
//
// A record comes in, one fragment a run goes out; package spantree joins them. It is
// O(record), and O(trace) where one is joined.
package platform

import (
	"bytes"
	"cmp"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// LangSmith reads runs of LangSmith: one a line as exports have them, the
// bodies of ingestion {"post", "patch"} and of webhooks {"runs"}, with child_runs
// inside of them or not. The runs of a trace become a trajectory, wherever they
// stand; those with the same id are one, what is not null in the later counting.
//
// Runs are ordered by dotted_order. Those of a model are turns, whose inputs
// repeat what was said; those of tools are calls. A run that ended without error
// was a success. session_id is the project: the conversation is what the metadata
// of the run names.
var LangSmith = trace.Format{
	Name:     "langsmith",
	Doc:      "LangSmith runs: exports, bodies of ingestion and of webhooks.",
	Spec:     "https://docs.smith.langchain.com/reference/data_formats/run_data_format",
	Detect:   detectLangSmith,
	Decode:   decodeLangSmith,
	Assemble: assembleLangSmith,
}

func decodeLangSmith(r trace.Record) ([]trace.Fragment, error) {
	if err := build.CheckRecord(r); err != nil {
		return nil, err
	}
	var out []trace.Fragment
	use := func(_ string, raw []byte) {
		if key := langSmithTrace(raw); key != "" {
			out = append(out, trace.Fragment{Key: key, Data: raw, Pos: r.Pos()})
		}
	}
	if !build.EachObject(r.Data, use, "post", "patch", "runs") {
		use("", r.Data)
	}
	if len(out) == 0 {
		return nil, diag.New(r.Pos(), build.CodeRecordShape, `this record has no run with an "id" or a "trace_id"`)
	}
	return out, nil
}

// langSmithTrace returns the trace of a run.
func langSmithTrace(run []byte) string {
	var id, trace, order []byte
	c := jsonscan.New(run)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			id, _ = c.Text()
		case "trace_id":
			trace, _ = c.Text()
		case "dotted_order":
			order, _ = c.Text()
		}
	}
	if len(trace) > 0 {
		return string(trace)
	}
	if first, _, _ := bytes.Cut(order, []byte(".")); len(first) > 36 {
		return string(first[len(first)-36:])
	}
	return string(id)
}

// maxNesting is how deep runs stand inside of each other at most.
const maxNesting = 64

func assembleLangSmith(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	anomalies := build.New(0)
	byID := map[string]*langSmithRun{}
	var runs []*langSmithRun
	var read func(raw []byte, depth int)
	read = func(raw []byte, depth int) {
		id := string(build.MemberText(raw, "id"))
		run, ok := byID[id]
		if !ok || id == "" {
			run = &langSmithRun{}
			byID[id] = run
			runs = append(runs, run)
		}
		run.read(anomalies, raw)
		if depth < maxNesting {
			build.EachObject(raw, func(_ string, child []byte) { read(child, depth+1) }, "child_runs")
		}
	}
	for i := range parts {
		read(parts[i].Data, 0)
	}
	spans := make([]*spantree.Span, 0, len(runs))
	session := ""
	for _, run := range runs {
		run.Trace = key
		run.finish(anomalies)
		spans = append(spans, &run.Span)
		session = cmp.Or(session, run.session)
	}
	out := spantree.JoinPlatform(key, spans, anomalies)
	for _, t := range out {
		t.Session, t.Source = session, parts[0].Pos
	}
	return out, nil
}

func detectLangSmith(h trace.Head) trace.Match {
	lacks := ""
	for _, r := range h.Records {
		if isLangSmithRun(r.Members) {
			return trace.Match{OK: true}
		}
		for _, name := range []string{"post", "patch", "runs"} {
			list := bytes.TrimLeft(r.Members[name], " \t\r\n[")
			if len(list) > 0 && isLangSmithRun(trace.NewHeadRecord(list, false).Members) {
				return trace.Match{OK: true}
			}
		}
		if r.Has("run_type") {
			lacks = `the runs have neither "trace_id" nor "dotted_order"`
		}
	}
	return trace.Match{Lacks: lacks}
}

func isLangSmithRun(members map[string][]byte) bool {
	_, order := members["dotted_order"]
	_, kind := members["run_type"]
	_, trace := members["trace_id"]
	_, parent := members["parent_run_id"]
	return order || kind && (trace || parent)
}
