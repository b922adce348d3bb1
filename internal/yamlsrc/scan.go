package yamlsrc

import (
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/diag"
	"github.com/goccy/go-yaml/scanner"
	lib "github.com/goccy/go-yaml/token"
)

// tokenKind is what a token is.
type tokenKind uint8

const (
	tokenScalar tokenKind = iota
	tokenDash             // - of a block sequence
	tokenColon
	tokenQuestion
	tokenComma
	tokenOpenList
	tokenCloseList
	tokenOpenMap
	tokenCloseMap
	tokenAnchor // with its name
	tokenAlias  // with its name
	tokenDirective
	tokenStart // ---
	tokenEnd   // ...
)

// token is one token with its place.
type token struct {
	kind       tokenKind
	style      Style  // of a scalar
	text       string // of a scalar; the name of an anchor or alias
	line, col  int    // of the first character; col counts characters, as indentation does
	endLine    int    // line of the last character
	start, end int    // bytes of the source
}

// comment is one comment.
type comment struct {
	text      string
	line, col int
	before    int  // index of the token that follows
	trailing  bool // whether a token stands before it on its line
	apart     bool // whether an empty line is above it
	taken     bool
}

// indicators are the library's tokens that are written in one way.
var indicators = map[lib.Type]struct {
	kind    tokenKind
	written string
}{
	lib.SequenceEntryType:  {tokenDash, "-"},
	lib.MappingValueType:   {tokenColon, ":"},
	lib.MappingKeyType:     {tokenQuestion, "?"},
	lib.CollectEntryType:   {tokenComma, ","},
	lib.SequenceStartType:  {tokenOpenList, "["},
	lib.SequenceEndType:    {tokenCloseList, "]"},
	lib.MappingStartType:   {tokenOpenMap, "{"},
	lib.MappingEndType:     {tokenCloseMap, "}"},
	lib.AnchorType:         {tokenAnchor, "&"},
	lib.AliasType:          {tokenAlias, "*"},
	lib.DirectiveType:      {tokenDirective, "%"},
	lib.DocumentHeaderType: {tokenStart, "---"},
	lib.DocumentEndType:    {tokenEnd, "..."},
}

// lexer turns the library's tokens into ours. Only whitespace is between two
// tokens, so the place of each follows from the end of the one before.
//
// Note: the library's own places are not used. Trailing spaces move those of
// plain scalars, tabs and escapes all that follow on the line, and they count
// characters where ours count bytes.
type lexer struct {
	src      *source
	raw      lib.Tokens
	tokens   []token
	comments []comment
	at       int // end of what was read

	line, col, seen int // place of the byte seen, which is what was last asked for
}

// scan splits the source into tokens and comments.
//
// Note: the library's parser is not used: its time grows with the square of the
// number of keys and of the depth, and it accepts what is hardly meant
// (docs/decisions/0004).
func scan(s *source) (tokens []token, comments []comment, problem *diag.Error) {
	defer func() {
		// The scanner is code that we do not control, and src may be hostile.
		if recover() != nil {
			tokens, comments, problem = nil, nil, diag.New(s.pos(0), "yaml-syntax", "this file cannot be read as YAML")
		}
	}()
	var sc scanner.Scanner
	sc.Init(s.text)
	l := lexer{src: s, line: 1, col: 1}
	for {
		part, err := sc.Scan()
		l.raw = append(l.raw, part...)
		if err != nil || len(part) == 0 {
			break
		}
	}
	for i := 0; i < len(l.raw); {
		used, problem := l.convert(i)
		if problem != nil {
			return nil, nil, problem
		}
		i += used
	}
	if l.skipSpace(); l.at < len(s.text) {
		return nil, nil, l.lost()
	}
	return l.tokens, l.comments, nil
}

// skipSpace moves to the next character that is no whitespace.
func (l *lexer) skipSpace() {
	l.at = len(l.src.text) - len(strings.TrimLeft(l.src.text[l.at:], " \t\n"))
}

// convert reads the library's token i, and how many it used up.
func (l *lexer) convert(i int) (int, *diag.Error) {
	raw := l.raw[i]
	l.skipSpace()
	used, ok := 1, true
	t := token{start: l.at}
	switch raw.Type {
	case lib.InvalidType:
		return 0, l.invalid(raw)
	case lib.TagType:
		return 0, l.tag()
	case lib.CommentType:
		if !strings.HasPrefix(l.src.text[l.at:], "#") {
			return 0, l.lost()
		}
		l.comment()
		return 1, nil
	case lib.LiteralType, lib.FoldedType:
		return l.block(i)
	case lib.SingleQuoteType, lib.DoubleQuoteType:
		var problem *diag.Error
		if t, problem = l.quoted(raw); problem != nil {
			return 0, problem
		}
	default:
		indicator, isIndicator := indicators[raw.Type]
		switch {
		case !isIndicator && strings.TrimFunc(raw.Value, isSpace) == "":
			return 1, nil // the scanner's way of saying that a block is empty
		case !isIndicator:
			t.end, ok = l.words(t.start, raw.Value)
			t.text = raw.Value
			if written := l.src.text[t.start:t.end]; !strings.Contains(written, "\n") {
				// What is written is what is meant, also for 007 and 1_000.
				t.text = written
			}
		default:
			t.kind, t.end = indicator.kind, t.start+len(indicator.written)
			ok = strings.HasPrefix(l.src.text[t.start:], indicator.written)
		}
		if ok && (t.kind == tokenAnchor || t.kind == tokenAlias) {
			used += l.named(i+1, &t)
		}
	}
	if !ok {
		return 0, l.lost()
	}
	l.push(t)
	return used, nil
}

// push completes a token and appends it.
func (l *lexer) push(t token) {
	l.see(t.start)
	t.line, t.col = l.line, l.col
	t.endLine = t.line + strings.Count(l.src.text[t.start:t.end], "\n")
	l.tokens = append(l.tokens, t)
	l.at = t.end
}

// see moves line, col and seen to the byte at offset, which is not before them.
func (l *lexer) see(offset int) {
	between := l.src.text[l.seen:offset]
	if newline := strings.LastIndexByte(between, '\n'); newline >= 0 {
		l.line += strings.Count(between, "\n")
		l.col = 1
		between = between[newline+1:]
	}
	l.col += utf8.RuneCountInString(between)
	l.seen = offset
}

// words finds the end of a text that begins at offset at, where any whitespace
// may stand for that of the text. ok is false if the text is not there.
func (l *lexer) words(at int, text string) (end int, ok bool) {
	rest := l.src.text[at:]
	for word := range strings.FieldsFuncSeq(text, isSpace) {
		rest = strings.TrimLeftFunc(rest, isSpace)
		if !strings.HasPrefix(rest, word) {
			return at, false
		}
		rest = rest[len(word):]
	}
	return len(l.src.text) - len(rest), true
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// named reads the name of an anchor or alias, which the library has as tokens
// from i on; it returns how many.
func (l *lexer) named(i int, t *token) int {
	text := l.src.text
	for t.end < len(text) && !strings.ContainsRune(" \t\n,[]{}", rune(text[t.end])) {
		t.end++
	}
	t.text = text[t.start+1 : t.end]
	used := 0
	for length := 0; length < len(t.text) && i+used < len(l.raw); used++ {
		if l.raw[i+used].Type == lib.InvalidType {
			break
		}
		length += len(l.raw[i+used].Value)
	}
	return used
}

// quoted reads a quoted scalar and checks what the scanner lets pass.
func (l *lexer) quoted(raw *lib.Token) (token, *diag.Error) {
	t := token{start: l.at, text: raw.Value, style: SingleQuoted}
	quote := byte('\'')
	if raw.Type == lib.DoubleQuoteType {
		t.style, quote = DoubleQuoted, '"'
	}
	text := l.src.text
	if l.at >= len(text) || text[l.at] != quote {
		return t, l.lost()
	}
	for i := l.at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			if !validEscape(text[i:]) {
				return t, diag.New(l.src.pos(i), "yaml-escape", "this escape is not complete or means no character")
			}
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == '\'':
			i++
		case text[i] == quote:
			t.end = i + 1
			return t, nil
		}
	}
	return t, l.lost()
}

// block reads a literal or folded scalar: its header, the comment behind that,
// its content.
func (l *lexer) block(i int) (int, *diag.Error) {
	text := l.src.text
	t := token{start: l.at, style: Literal}
	header := byte('|')
	if l.raw[i].Type == lib.FoldedType {
		t.style, header = Folded, '>'
	}
	if l.at >= len(text) || text[l.at] != header {
		return 0, l.lost()
	}
	headerEnd := l.src.lineEnd(l.at)
	used, hash := 1, -1
	if i+used < len(l.raw) && l.raw[i+used].Type == lib.CommentType {
		if hash = strings.IndexByte(text[l.at:headerEnd], '#'); hash >= 0 {
			used++
		}
	}
	t.end = l.at + len(strings.TrimRight(text[l.at:headerEnd], " \t"))
	if i+used < len(l.raw) && l.raw[i+used].Type == lib.StringType {
		t.text = l.raw[i+used].Value
		used++
		if end, ok := l.words(headerEnd, t.text); !ok {
			return 0, l.lost()
		} else if strings.TrimLeft(t.text, "\n \t") != "" {
			t.end = end
		}
	}
	if i+used < len(l.raw) && l.raw[i+used].Type == lib.InvalidType {
		return 0, l.invalid(l.raw[i+used])
	}
	l.push(t)
	if hash >= 0 {
		comment := comment{text: strings.TrimRight(text[t.start+hash+1:headerEnd], " \t"), line: t.line, before: len(l.tokens), trailing: true}
		l.comments = append(l.comments, comment)
		l.at = max(l.at, headerEnd)
	}
	return used, nil
}

// comment reads the comment that begins here.
func (l *lexer) comment() {
	text := l.src.text
	end := l.src.lineEnd(l.at)
	l.see(l.at)
	c := comment{text: strings.TrimRight(text[l.at+1:end], " \t"), line: l.line, col: l.col, before: len(l.tokens)}
	above := 0
	if n := len(l.tokens); n > 0 {
		above = l.tokens[n-1].endLine
		c.trailing = above == c.line
	}
	if n := len(l.comments); n > 0 {
		above = max(above, l.comments[n-1].line)
	}
	c.apart = c.line > above+1
	l.comments = append(l.comments, c)
	l.at = end
}
