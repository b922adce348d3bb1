package message

import (
	"bytes"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// contentRead is what the parts of a content say.
type contentRead struct {
	text      trace.Raw
	thought   trace.Raw
	system    trace.Raw
	items     []build.Item // calls and results, in their order
	also      []byte       // content that is no text, as it is written
	unknown   int
	strangers [][]byte // types of parts that are not known, of the unknown
	texts     int      // parts with text
	plain     int      // of these, those that Raw can read later
	mixed     bool     // there are texts that are none of the message's
}

// readContent reads a list of parts.
func readContent(list []byte) (r contentRead) {
	c := jsonscan.New(list)
	for ok := c.Array(); ok && c.Element(); {
		if token := c.Token(); token != nil {
			r.say(token)
			r.mixed = true
			continue
		}
		raw := c.Raw()
		if len(raw) == 0 {
			continue
		}
		if raw[0] != '{' {
			r.strange(raw)
			continue
		}
		var p messagePart
		p.read(raw)
		r.add(&p, raw)
	}
	if r.texts > 0 && r.texts == r.plain && !r.mixed {
		r.text = trace.Raw{Data: list, Form: trace.FormParts}
	}
	return r
}

func (r *contentRead) strange(raw []byte) {
	r.unknown++
	r.also = append(r.also, raw...)
}

// say adds a text, whose token is given.
func (r *contentRead) say(token []byte) {
	r.texts++
	r.text = build.JoinTexts(r.text, trace.Raw{Data: token, Form: trace.FormString})
}

func (r *contentRead) add(p *messagePart, raw []byte) {
	if kind := p.kind(); kind == partCall || kind == partResult || kind != partText && kind != partUser && p.text != nil {
		r.mixed = true
	}
	switch p.kind() {
	case partMark:
		r.mixed = true
	case partText, partUser:
		if call := p.printedCall(); call != nil {
			r.items, r.mixed = append(r.items, *call), true
			return
		}
		if p.text != nil {
			r.say(p.text)
			if build.HasMember(raw, "text") || build.HasMember(raw, "refusal") {
				r.plain++
			}
		} else if !p.result.IsZero() && !p.result.IsEmpty() { // a prompt with parts of its own
			inner := readContent(p.result.Data)
			r.text, r.texts = build.JoinTexts(r.text, inner.text), r.texts+1
			r.also, r.unknown = append(r.also, inner.also...), r.unknown+inner.unknown
			r.strangers = append(r.strangers, inner.strangers...)
		}
	case partPrompt:
		r.system = build.JoinTexts(r.system, p.said())
	case partThought:
		if said := p.said(); !said.IsEmpty() {
			r.thought = build.JoinTexts(r.thought, said)
		}
	case partCall:
		if value := p.jsonCall(); value != nil {
			r.calls(value)
			return
		}
		it := p.call()
		r.items = append(r.items, it)
	case partResult:
		if p.code {
			r.answerCode(p)
			return
		}
		r.items = append(r.items, p.resultItem())
	case partRetry:
		if len(p.name) == 0 && len(p.callID) == 0 {
			r.text, r.texts = build.JoinTexts(r.text, p.said()), r.texts+1
			return
		}
		it := p.resultItem()
		it.Status = trace.StatusFailed
		r.items = append(r.items, it)
	case partOther:
		r.also = append(r.also, raw...)
	default:
		r.strange(raw)
		r.strangers = append(r.strangers, p.typ)
	}
}

// printedCall returns the call that the text of a part is as Python prints it, nil if it
// is none.
func (p *messagePart) printedCall() *build.Item {
	if p.text == nil || !bytes.Contains(p.text[:min(len(p.text), 64)], []byte("ToolCall(")) {
		return nil
	}
	value, ok := PythonJSON(trace.Raw{Data: p.text, Form: trace.FormString}.Content())
	if !ok || value[0] != '{' {
		return nil
	}
	var call messagePart
	if call.read(value); !call.isCall() || len(call.name) == 0 {
		return nil
	}
	it := call.call()
	return &it
}

// said returns the text of a part.
func (p *messagePart) said() trace.Raw {
	if p.text != nil {
		return trace.Raw{Data: p.text, Form: trace.FormString}
	}
	return p.result.OrAbsent()
}

// jsonCall returns the call, or list of calls, that a part has as JSON text.
func (p *messagePart) jsonCall() []byte {
	if len(p.name) > 0 || p.text == nil {
		return nil
	}
	return build.InnerJSON(trace.Raw{Data: p.text, Form: trace.FormString})
}

// calls adds the calls of JSON that is a call or a list of calls.
func (r *contentRead) calls(value []byte) {
	one := func(raw []byte) {
		var p messagePart
		p.read(raw)
		r.items = append(r.items, p.call())
	}
	if value[0] == '{' {
		one(value)
		return
	}
	for raw := range build.Elements(value) {
		if len(raw) > 0 && raw[0] == '{' {
			one(raw)
		}
	}
}

// answerCode gives the code that the model had run its result.
func (r *contentRead) answerCode(p *messagePart) {
	at := -1
	for i := range r.items {
		if it := &r.items[i]; it.Kind == build.ItemCall && string(it.Tool) == "code_execution" {
			if at = i; !it.Answered {
				break
			}
		}
	}
	if at >= 0 { // of several results of one run, each says more
		it := &r.items[at]
		if it.Answered {
			it.Result = trace.TextOf(string(p.result.AppendText(it.Result.AppendText(nil))))
		} else {
			it.Answered, it.Result = true, p.result
		}
		switch {
		case p.status == "OUTCOME_OK":
			it.Status = trace.StatusOK
		case strings.HasPrefix(p.status, "OUTCOME_"):
			it.Status = trace.StatusFailed
		}
		return
	}
	r.items = append(r.items, p.resultItem())
}

// trimmedJSON returns the JSON value that a text begins with behind what stands
// before its first bracket, nil if it is none.
func trimmedJSON(text []byte) []byte {
	i := bytes.IndexAny(text, "[{")
	if i < 0 {
		return nil
	}
	return build.InnerJSON(trace.TextOf(string(text[i:])))
}
