// Package gemini reads requests and responses of the Gemini interface (Format) and
// the sessions that Gemini CLI records (CLI).
//
// A record comes in and fragments of trajectories go out. It is O(record), and
// O(session) where one is joined.
package gemini

import (
	"bytes"
	"encoding/hex"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Format reads what goes to Gemini's generateContent and comes from it, in
// the layouts in which it is kept:
//
//	{"contents": [...], "tools": [...]}     a request
//	[{"role": ..., "parts": [...]}, ...]    contents alone, also under "history"
//	{"request": {...}, "response": ...}     a log of requests, with the answers
//	{"candidates": [...]}                   an answer, or an array of its pieces
//
// Requests repeat what was said before; it is counted once. Answers without their
// requests, and contents that stand alone on their lines, go on with the
// trajectory of the one before. Results mostly have no
// id and answer the oldest call of their function; they failed if they have an
// "error" and went well if they have an "output". Both spellings of names are
// read, functionCall and function_call.
//
// It keeps the records of a conversation.
var Format = trace.Format{
	Name:     "gemini",
	Doc:      "Gemini contents: requests, responses, bare lists of contents, and logs of requests with responses.",
	Spec:     "https://ai.google.dev/api/generate-content",
	Detect:   detectGemini,
	Decode:   decodeGemini,
	Assemble: assembleGemini,
}

func decodeGemini(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	g := read(r.Data)
	if len(g.asked) == 0 && !g.answered {
		return nil, nil
	}
	return []trace.Fragment{{Key: g.key(r.File), Data: r.Data, Pos: r.Pos()}}, nil
}

// key returns what the records of a conversation have in common: the file, and
// of requests what the user said first.
func (g *record) key(file string) string {
	if !g.request {
		return file
	}
	var hash build.ItemHash
	for i := range g.asked {
		if kind := g.asked[i].Kind; kind != build.ItemUser && kind != build.ItemSystem {
			break
		}
		hash, _ = g.asked[i].Next(hash)
	}
	return file + "#" + hex.EncodeToString(hash[:])
}

func assembleGemini(_ string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	var s build.Transcripts
	var tip build.ItemHash
	source := map[*build.Transcript]trace.Fragment{}
	next := 0
	for i := 0; i < len(parts); i = next {
		g := read(parts[i].Data)
		next = i + 1
		for ; next < len(parts) && len(g.id) > 0 && !g.request; next++ {
			piece := read(parts[next].Data)
			if piece.request || string(piece.id) != string(g.id) {
				break
			}
			g.add(piece)
		}
		from := build.ItemHash{}
		if !g.request {
			from = tip
		}
		items, answer := g.items()
		t, end := s.Add(from, items, answer, g.answered, g.response)
		tip = end
		if _, ok := source[t]; !ok {
			source[t] = parts[i]
		}
		c := jsonscan.New(parts[i].Data)
		c.Skip()
		t.Builder.Anomaly(build.CodeLoneSurrogate, c.LoneSurrogates())
		told(t.Builder, g)
	}
	out := s.Finish()
	for i, t := range s.All {
		out[i].Source = source[t].Pos
	}
	return out, nil
}

// told adds what a record says besides its items.
func told(b *build.Builder, g *record) {
	if g.tools != nil && len(b.Trajectory.Tools) == 0 {
		b.Trajectory.Tools = b.Definitions(g.tools)
	}
	if b.Trajectory.Model == "" {
		b.Trajectory.Model = g.response.Model
	}
	for code, n := range g.odd.Trajectory.Anomalies.ByCode {
		b.Anomaly(code, n)
	}
}

func detectGemini(h trace.Head) trace.Match {
	if len(h.Records) == 0 {
		return trace.Match{}
	}
	r := h.Records[0]
	if r.Has("role", "parts") && build.IsKind(r.Members["parts"], '[') {
		return trace.Match{OK: true, Whole: h.Container == trace.ContainerArray}
	}
	lacks := ""
	for _, r := range h.Records {
		members := r.Members
		if inner := members["request"]; build.IsKind(inner, '{') {
			members = trace.NewHeadRecord(inner, r.Truncated).Members
		}
		for _, name := range []string{"contents", "history"} {
			value := members[name]
			if !build.IsKind(value, '[') && !build.IsKind(value, '{') {
				continue
			}
			if holdsParts(value) {
				return trace.Match{OK: true}
			}
			if name == "contents" {
				lacks = `"contents" has no "parts"`
			}
		}
		answer := r.Members["response"]
		if answer == nil {
			answer = r.Raw
		}
		if build.IsKind(answer, '[') {
			answer = bytes.TrimLeft(answer[1:], " \t\r\n")
		}
		if build.IsKind(answer, '{') {
			inner := trace.NewHeadRecord(answer, r.Truncated).Members
			if build.IsKind(inner["candidates"], '[') && (holdsParts(inner["candidates"]) || inner["usageMetadata"] != nil || inner["usage_metadata"] != nil) {
				return trace.Match{OK: true}
			}
		}
		if build.IsKind(r.Raw, '[') && holdsParts(r.Raw) {
			return trace.Match{OK: true}
		}
	}
	return trace.Match{Lacks: lacks}
}

// holdsParts reports whether a list of contents or candidates, or one content,
// has one with parts.
func holdsParts(text []byte) bool {
	c := jsonscan.New(text)
	found := false
	content := func() {
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "parts":
				found = found || c.Kind() == jsonscan.Array
			case "content":
				for ok := c.Object(); ok && c.Member(); {
					found = found || string(c.Key()) == "parts"
				}
			}
		}
	}
	if c.Kind() == jsonscan.Object {
		content()
		return found
	}
	for ok := c.Array(); ok && c.Element(); {
		content()
	}
	return found
}
