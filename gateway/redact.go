package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/internal/redact"
	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/trace"
)

// redactor writes credentials as keyed hashes: the same one always becomes the same text,
// so that a recording still shows where a value came from. With words it does so with every
// word that is no name of the protocol's or of a definition.
type redactor struct {
	mac   hash.Hash
	words *redact.Redactor
	known *strings.Replacer // of values that the configuration says are secrets; nil without any
	only  bool              // these alone are replaced
}

func newRedactor(of *Recording, servers []Server) redactor {
	r := redactor{mac: hmac.New(sha256.New, of.key)}
	var pairs []string
	for i := range servers {
		for _, s := range servers[i].Secrets {
			pairs = append(pairs, s, r.hashed(s))
		}
	}
	if pairs != nil {
		r.known = strings.NewReplacer(pairs...)
	}
	if of.redact == RedactWords {
		r.words = redact.New(of.digits)
	}
	return r
}

// structure are members of messages that hold no values of users and must stay for a
// recording to be read, by where they stand.
var structure = map[string]bool{
	"id": true, "jsonrpc": true, "method": true, "name": true, "requestId": true, "progressToken": true,
	"cursor": true, "nextCursor": true, "type": true, "mimeType": true, "tools": true, "prompts": true, "_meta": true,
	"protocolVersion": true, "clientInfo": true, "serverInfo": true, "capabilities": true, "tools_sha256": true, "uri": true,
}

// What stays where every word is redacted: members of parameters and results, and of what
// these have. Of the _meta that of the protocol, and what joins a recording to others.
var (
	structureOfWords = map[string]bool{
		"name": true, "requestId": true, "progressToken": true, "progress": true, "total": true, "level": true, "code": true,
		"cursor": true, "nextCursor": true, "prompts": true, "protocolVersion": true, "clientInfo": true, "serverInfo": true,
		"capabilities": true, "tools_sha256": true, "resultType": true, "ttlMs": true, "cacheScope": true,
	}
	structureOfBlocks = map[string]bool{"type": true, "mimeType": true, "role": true, "method": true}
	metaOfWords       = map[string]bool{"progressToken": true, "claudecode/toolUseId": true}
)

// stays reports whether a member is kept as it is. Above depth 0 members are the protocol's.
func (r redactor) stays(key string, depth int) bool {
	switch {
	case depth <= 0:
		return false
	case r.words == nil:
		return structure[key]
	case depth >= 2:
		return structureOfWords[key]
	}
	return structureOfBlocks[key]
}

// define keeps what definitions of tools say of names and values.
func (r redactor) define(tools []byte) {
	if r.words == nil {
		return
	}
	for _, tool := range elements(tools) {
		for _, schema := range []string{"inputSchema", "outputSchema"} {
			if v, err := trace.ParseValue(member(tool, schema)); err == nil {
				r.words.Keep(v)
			}
		}
	}
}

// free appends a value of users in which every word is redacted; arguments are by name.
func (r redactor) free(out []byte, raw []byte, arguments bool) []byte {
	v, err := trace.ParseValue(raw)
	switch {
	case err != nil:
		return append(out, "null"...)
	case arguments:
		return r.words.Arguments(v).AppendCanonical(out)
	}
	return r.words.Value(v).AppendCanonical(out)
}

// message returns a message without credentials. One that is no JSON is not kept: what
// it holds cannot be told.
func (r redactor) message(data []byte) []byte {
	c := jsonscan.New(data)
	out := appendObject(make([]byte, 0, len(data)+64), &c, func(out []byte, key string) []byte {
		if key == "id" || key == "jsonrpc" || key == "method" {
			return append(out, c.Raw()...)
		}
		return r.value(out, &c, "", 2)
	})
	if c.End() != nil {
		return []byte(`{"jsonrpc":"2.0"}`)
	}
	return out
}

// content returns an array of blocks of content without credentials.
func (r redactor) content(blocks []byte) []byte {
	c := jsonscan.New(blocks)
	out := r.value(make([]byte, 0, len(blocks)+64), &c, "", 1)
	if c.End() != nil {
		return []byte(`[]`)
	}
	return out
}

// appendObject appends the object that c stands on, with the values that value appends.
func appendObject(out []byte, c *jsonscan.Cursor, value func(out []byte, key string) []byte) []byte {
	out = append(out, '{')
	first := true
	for ok := c.Object(); ok && c.Member(); {
		if !first {
			out = append(out, ',')
		}
		first = false
		key := string(c.Key())
		out = value(append(jsonscan.AppendQuoted(out, key), ':'), key)
	}
	return append(out, '}')
}

// value appends the value that c stands on, which is called name. Above depth 0 the
// members are the protocol's.
func (r redactor) value(out []byte, c *jsonscan.Cursor, name string, depth int) []byte {
	if r.words != nil && depth <= 0 {
		return r.free(out, c.Raw(), false)
	}
	switch c.Kind() {
	case jsonscan.Object:
		return appendObject(out, c, func(out []byte, key string) []byte {
			switch {
			case key == "tools" && depth == 2:
				at := *c
				r.define(at.Raw())
				return r.kept(out, c)
			case r.words != nil && key == "_meta" && depth > 0:
				return r.meta(out, c)
			case r.stays(key, depth):
				return r.kept(out, c)
			case r.words != nil && key == "arguments" && depth == 2:
				return r.free(out, c.Raw(), true)
			case key == "arguments" && depth == 2, key == "structuredContent" && depth == 2:
				return r.value(out, c, "", 0)
			}
			return r.value(out, c, key, depth-1)
		})
	case jsonscan.Array:
		out = append(out, '[')
		first := true
		for ok := c.Array(); ok && c.Element(); {
			if !first {
				out = append(out, ',')
			}
			first = false
			out = r.value(out, c, name, depth)
		}
		return append(out, ']')
	case jsonscan.String:
		s, _ := c.Text()
		return jsonscan.AppendQuoted(out, r.text(name, string(s)))
	case jsonscan.Number:
		raw := c.Raw()
		if r.words == nil && !r.only && secret.LooksLike(name, "") {
			return append(out, r.number(raw)...)
		}
		return append(out, raw...)
	default:
		return append(out, c.Raw()...)
	}
}

// kept appends the value that c stands on as it is, but for the secrets of the configuration.
func (r redactor) kept(out []byte, c *jsonscan.Cursor) []byte {
	if r.known == nil {
		return append(out, c.Raw()...)
	}
	return redactor{known: r.known, only: true}.value(out, c, "", 0)
}

// meta appends a _meta in which words are redacted: what clients write there can be anything.
func (r redactor) meta(out []byte, c *jsonscan.Cursor) []byte {
	return appendObject(out, c, func(out []byte, key string) []byte {
		if raw := c.Raw(); metaOfWords[key] || strings.HasPrefix(key, metaPrefix) {
			return append(out, raw...)
		} else {
			return r.free(out, raw, false)
		}
	})
}

// text returns a text without credentials: the whole if its name says that it is one, or
// the words of it that have the form of one. JSON in a text is gone through as such.
func (r redactor) text(name, s string) string {
	if s == "" {
		return s
	}
	if r.known != nil {
		s = r.known.Replace(s)
	}
	if r.only {
		return s
	}
	if r.words != nil {
		return r.words.Value(trace.NewString(s)).Text
	}
	if secret.LooksLike(name, s) {
		return r.hashed(s)
	}
	if t := strings.TrimLeft(s, " \t\r\n"); t != "" && (t[0] == '{' || t[0] == '[') {
		c := jsonscan.New([]byte(s))
		out := r.value(nil, &c, "", 0)
		if c.End() == nil {
			return string(out)
		}
	}
	return r.credentials(s)
}

// credentials replaces what of a text is a credential: what stands inside it as one, then
// words that have the form of one.
func (r redactor) credentials(s string) string {
	var out strings.Builder
	last := 0
	for _, span := range secret.Spans(s) {
		out.WriteString(r.formed(s[last:span[0]]))
		out.WriteString(r.hashed(s[span[0]:span[1]]))
		last = span[1]
	}
	out.WriteString(r.formed(s[last:]))
	return out.String()
}

// formed replaces the words of a text that have the form of a credential.
func (r redactor) formed(s string) string {
	var out strings.Builder
	apart := func(c rune) bool { return strings.ContainsRune(" \t\r\n\"'`,;()[]{}<>|&", c) }
	for s != "" {
		end := strings.IndexFunc(s, apart)
		if end < 0 {
			end = len(s)
		}
		word := s[:end]
		bare := strings.TrimRight(word, ".:!?")
		name, value, assigned := strings.Cut(bare, "=")
		switch {
		case assigned && value != "" && secret.LooksLike(name, value):
			out.WriteString(name + "=" + r.hashed(value) + word[len(bare):])
		case bare != "" && secret.HasForm(bare):
			out.WriteString(r.hashed(bare) + word[len(bare):])
		default:
			out.WriteString(word)
		}
		if s = s[end:]; s != "" {
			n := strings.IndexFunc(s, func(c rune) bool { return !apart(c) })
			if n < 0 {
				n = len(s)
			}
			out.WriteString(s[:n])
			s = s[n:]
		}
	}
	return out.String()
}

func (r redactor) sum(s string) []byte {
	r.mac.Reset()
	r.mac.Write([]byte(s))
	return r.mac.Sum(nil)
}

func (r redactor) hashed(s string) string {
	return "redacted-" + hex.EncodeToString(r.sum(s)[:12])
}

// number returns another number with as many digits.
func (r redactor) number(raw []byte) []byte {
	out := []byte{}
	for i, b := range r.sum(string(raw)) {
		if i >= len(raw) {
			break
		}
		out = append(out, '1'+b%9)
	}
	return out
}
