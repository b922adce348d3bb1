package trace

import (
	"bytes"
	"encoding/hex"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatGemini reads what goes to Gemini's generateContent and comes from it, in
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
var formatGemini = Format{
	Name:     "gemini",
	Doc:      "Gemini contents: requests, responses, bare lists of contents, and logs of requests with responses.",
	Spec:     "https://ai.google.dev/api/generate-content",
	Detect:   detectGemini,
	Decode:   decodeGemini,
	Assemble: assembleGemini,
}

func decodeGemini(r Record) ([]Fragment, error) {
	c := jsonscan.New(r.Data)
	g := readGeminiRecord(&c)
	if err := c.End(); err != nil {
		return nil, scanError(r, err)
	}
	if len(g.items) == 0 && !g.answered {
		return nil, nil
	}
	return []Fragment{{Key: g.key(r.File), Data: r.Data, Pos: r.Pos()}}, nil
}

// key returns what the records of a conversation have in common: the file, and
// of requests what the user said first.
func (g *geminiRecord) key(file string) string {
	if !g.request {
		return file
	}
	var hash itemHash
	for i := range g.items[:g.answer] {
		if kind := g.items[i].kind; kind != itemUser && kind != itemSystem {
			break
		}
		hash, _ = g.items[i].next(hash)
	}
	return file + "#" + hex.EncodeToString(hash[:])
}

func assembleGemini(_ string, parts []Fragment) ([]*Trajectory, error) {
	var s transcripts
	var tip itemHash
	source := map[*transcript]Fragment{}
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		g := readGeminiRecord(&c)
		from := itemHash{}
		if !g.request {
			from = tip
		}
		t, end := s.add(from, g.items, g.answer, g.answered, g.response)
		tip = end
		if _, ok := source[t]; !ok {
			source[t] = parts[i]
		}
		told(t.b, g)
		t.b.odd(CodeLoneSurrogate, c.LoneSurrogates())
	}
	out := s.finish()
	for i, t := range s.all {
		out[i].Source = source[t].Pos
	}
	return out, nil
}

// told adds what a record says besides its items.
func told(b *builder, g *geminiRecord) {
	if g.tools != nil && len(b.t.Tools) == 0 {
		b.t.Tools = readGeminiTools(b, g.tools)
	}
	if b.t.Model == "" {
		b.t.Model = g.response.model
	}
	for _, code := range []string{CodeMessageShape, CodeMessageRole, CodeArgsStreamed, CodeOrphanResult, CodeChoiceIgnored, CodeTimeInvalid} {
		b.odd(code, g.odd[code])
	}
}

func detectGemini(h Head) Match {
	if len(h.Records) == 0 {
		return Match{}
	}
	r := h.Records[0]
	if r.Has("role", "parts") && isKind(r.Members["parts"], '[') {
		return Match{OK: true, Whole: h.Container == ContainerArray}
	}
	lacks := ""
	for _, r := range h.Records {
		members := r.Members
		if inner := members["request"]; isKind(inner, '{') {
			members = newHeadRecord(inner, r.Truncated).Members
		}
		for _, name := range []string{"contents", "history"} {
			value := members[name]
			if !isKind(value, '[') && !isKind(value, '{') {
				continue
			}
			if holdsParts(value) {
				return Match{OK: true}
			}
			if name == "contents" {
				lacks = `"contents" has no "parts"`
			}
		}
		answer := r.Members["response"]
		if answer == nil {
			answer = r.Raw
		}
		if isKind(answer, '[') {
			answer = bytes.TrimLeft(answer[1:], " \t\r\n")
		}
		if isKind(answer, '{') {
			inner := newHeadRecord(answer, r.Truncated).Members
			if isKind(inner["candidates"], '[') && (holdsParts(inner["candidates"]) || inner["usageMetadata"] != nil || inner["usage_metadata"] != nil) {
				return Match{OK: true}
			}
		}
		if isKind(r.Raw, '[') && holdsParts(r.Raw) {
			return Match{OK: true}
		}
	}
	return Match{Lacks: lacks}
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
