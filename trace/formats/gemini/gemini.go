// Package gemini reads requests and responses of the Gemini interface (Format) and
// the sessions that Gemini CLI records (CLI).
//
// A record comes in and fragments of trajectories go out. It is O(record), and
// O(session) where one is joined.
package gemini

import (
	"bytes"
	"encoding/hex"
	"slices"

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
	g := readGeminiRecord(&c)
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	if len(g.items) == 0 && !g.answered {
		return nil, nil
	}
	return []trace.Fragment{{Key: g.key(r.File), Data: r.Data, Pos: r.Pos()}}, nil
}

// key returns what the records of a conversation have in common: the file, and
// of requests what the user said first.
func (g *geminiRecord) key(file string) string {
	if !g.request {
		return file
	}
	var hash build.ItemHash
	for i := range g.items[:g.answer] {
		if kind := g.items[i].Kind; kind != build.ItemUser && kind != build.ItemSystem {
			break
		}
		hash, _ = g.items[i].Next(hash)
	}
	return file + "#" + hex.EncodeToString(hash[:])
}

func assembleGemini(_ string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	var s build.Transcripts
	var tip build.ItemHash
	source := map[*build.Transcript]trace.Fragment{}
	next := 0
	for i := 0; i < len(parts); i = next {
		c := jsonscan.New(parts[i].Data)
		g := readGeminiRecord(&c)
		next = i + 1
		for ; next < len(parts) && len(g.id) > 0 && !g.request; next++ {
			in := jsonscan.New(parts[next].Data)
			piece := readGeminiRecord(&in)
			if piece.request || string(piece.id) != string(g.id) {
				break
			}
			g.add(piece)
		}
		g.finish()
		from := build.ItemHash{}
		if !g.request {
			from = tip
		}
		t, end := s.Add(from, g.items, g.answer, g.answered, g.response)
		tip = end
		if _, ok := source[t]; !ok {
			source[t] = parts[i]
		}
		told(t.Builder, g)
		t.Builder.Anomaly(build.CodeLoneSurrogate, c.LoneSurrogates())
	}
	out := s.Finish()
	for i, t := range s.All {
		out[i].Source = source[t].Pos
	}
	return out, nil
}

// finish puts the pieces of calls together.
func (g *geminiRecord) finish() {
	if !slices.ContainsFunc(g.items, func(it build.Item) bool { return it.Kind == build.ItemCall && it.Also != nil }) {
		return
	}
	asked := finishPieces(slices.Clone(g.items[:g.answer]), g.anomalies)
	answer := finishPieces(slices.Clone(g.items[g.answer:]), g.anomalies)
	g.answer = len(asked)
	g.items = append(asked, answer...)
}

// add adds a further piece of the same response, whose token counts are the latest.
func (g *geminiRecord) add(piece *geminiRecord) {
	g.items = append(g.items[:g.answer], mergeTexts(append(g.items[g.answer:], piece.items[piece.answer:]...))...)
	if piece.response.Usage.Known {
		g.response.Usage = piece.response.Usage
	}
	if !piece.response.End.IsZero() {
		g.response.End = piece.response.End
	}
	for code, n := range piece.anomalies {
		g.anomalies[code] += n
	}
}

// told adds what a record says besides its items.
func told(b *build.Builder, g *geminiRecord) {
	if g.tools != nil && len(b.Trajectory.Tools) == 0 {
		b.Trajectory.Tools = readGeminiTools(b, g.tools)
	}
	if b.Trajectory.Model == "" {
		b.Trajectory.Model = g.response.Model
	}
	for _, code := range []string{build.CodeMessageShape, build.CodeMessageRole, build.CodeArgsStreamed, trace.CodeOrphanResult, build.CodeChoiceIgnored, build.CodeTimeInvalid} {
		b.Anomaly(code, g.anomalies[code])
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
