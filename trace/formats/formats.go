// Package formats is the table of all trace formats that awo reads. A Reader gets it
// as trace.Options.Formats:
//
//	r, err := trace.Open(paths, trace.Options{Formats: formats.All})
//
// Formats that share how they write messages are a family and a package below this
// one; what several families need stands in internal: build puts a trajectory
// together, message reads the messages of OpenAI and Anthropic, sse the streams of
// both, spantree joins spans. Formats are pure functions of their records. They know
// no Reader, start no goroutine and keep nothing between records.
package formats

import (
	"slices"
	"time"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/anthropic"
	"github.com/awo-dev/awo/trace/formats/atif"
	"github.com/awo-dev/awo/trace/formats/claudecode"
	"github.com/awo-dev/awo/trace/formats/codex"
	"github.com/awo-dev/awo/trace/formats/gemini"
	"github.com/awo-dev/awo/trace/formats/maps"
	"github.com/awo-dev/awo/trace/formats/mcp"
	"github.com/awo-dev/awo/trace/formats/openai"
	"github.com/awo-dev/awo/trace/formats/otel"
	"github.com/awo-dev/awo/trace/formats/sessions"
	"github.com/awo-dev/awo/trace/formats/stream"
)

// All are the trace formats that are known, in detection order: the first
// that claims the beginning of a file is its format, so those that can be told
// by one member stand before those that look like others.
var All = []trace.Format{
	otel.OTLP,
	atif.Format,
	mcp.Format,
	anthropic.Bedrock,
	maps.Format("langsmith"),
	maps.Format("langfuse"),
	maps.Format("inspect"),
	maps.Format("swe-agent"),
	maps.Format("toolbench"),
	maps.Format("tau2"),
	maps.Format("autotool"),
	maps.Format("who-and-when"),
	maps.Format("tau-bench"),
	maps.Format("openhands"),
	maps.Format("managed-agents"),
	codex.Format,
	maps.Format("gemini-cli"),
	maps.Format("gemini-stream"),
	maps.Format("craft"),
	maps.Format("copilot-cli"),
	maps.Format("vscode-copilot"),
	maps.Format("kimi"),
	maps.Format("adk"),
	maps.Format("bedrock-agents"),
	maps.Format("open-webui"),
	maps.Format("openhands-v0"),
	maps.Format("opencode"),
	sessions.Messages,
	claudecode.Format,
	gemini.Format,
	maps.Format("openai-agents"),
	otel.Phoenix,
	otel.Flat,
	stream.Format,
	openai.Responses,
	anthropic.Format,
	openai.Chat,
}

// DefaultTurnGap is the time between assumed turns in All.
const DefaultTurnGap = mcp.DefaultTurnGap

// WithTurnGap returns all formats, with a time of its own between assumed turns; see
// mcp.WithTurnGap.
func WithTurnGap(gap time.Duration) []trace.Format {
	out := slices.Clone(All)
	for i := range out {
		if out[i].Name == mcp.Format.Name {
			out[i] = mcp.WithTurnGap(gap)
		}
	}
	return out
}
