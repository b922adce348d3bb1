package rules

import "strings"

// Glob is a pattern for names: `*` stands for any run of characters, the empty
// one included, and every other character for itself.
type Glob string

// Match reports whether the whole of name fits the pattern. It takes time
// O(len(g) * len(name)) at worst and allocates nothing.
func (g Glob) Match(name string) bool {
	pattern := string(g)
	star := strings.IndexByte(pattern, '*')
	if star < 0 {
		return pattern == name
	}
	if !strings.HasPrefix(name, pattern[:star]) {
		return false
	}
	name, pattern = name[star:], pattern[star+1:]
	for {
		// Every part between two stars may be taken where it first occurs:
		// leaving more of the name to the rest can lose no match.
		star = strings.IndexByte(pattern, '*')
		if star < 0 {
			return strings.HasSuffix(name, pattern)
		}
		at := strings.Index(name, pattern[:star])
		if at < 0 {
			return false
		}
		name, pattern = name[at+star:], pattern[star+1:]
	}
}

// String returns the pattern as written.
func (g Glob) String() string { return string(g) }

// IsLiteral reports whether the pattern stands for one name only.
func (g Glob) IsLiteral() bool { return strings.IndexByte(string(g), '*') < 0 }
