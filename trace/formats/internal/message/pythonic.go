package message

import (
	"bytes"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// pythonicCalls returns the calls of a text that is a list of them as Python would call
// functions, with all arguments named, and nothing else:
//
//	[find_file(name="a.go"), Weather API(city="Bonn", days=3)]
//
// Open models are trained to call so, and data sets such as ToolACE's hold it. It
// returns nil for any other text.
func pythonicCalls(said []byte) (items []build.Item) {
	said = bytes.TrimSpace(said)
	if len(said) < 4 || said[0] != '[' || said[len(said)-1] != ']' || !bytes.Contains(said, []byte("(")) {
		return nil
	}
	p := pythonReader{text: said[:len(said)-1], at: 1}
	for {
		p.space()
		open := bytes.IndexByte(p.text[p.at:], '(')
		if open < 0 {
			return nil
		}
		name := bytes.TrimSpace(p.text[p.at : p.at+open])
		if !isFunctionName(name) {
			return nil
		}
		p.at += open + 1
		p.out = []byte{'{'}
		if p.named(')', 0); p.bad {
			return nil
		}
		items = append(items, build.Item{Kind: build.ItemCall, Tool: name, Value: trace.JSONOf(append(p.out, '}'))})
		if p.next() == 0 {
			return items
		}
		if !p.take(',') {
			return nil
		}
	}
}

// isFunctionName reports whether a text may be what a tool is called: a word, or a few
// with spaces, dots, slashes and hyphens between them.
func isFunctionName(name []byte) bool {
	if len(name) == 0 || len(name) > 128 || !isNameStart(name[0]) {
		return false
	}
	for _, c := range name {
		if !isNameStart(c) && (c < '0' || c > '9') && bytes.IndexByte([]byte(" ./-:"), c) < 0 {
			return false
		}
	}
	return true
}
