package secret

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// Holds reports whether a value is a credential, or a text with one inside: a command, a
// URL, a header, JSON. name is as for LooksLike.
func Holds(name, text string) bool {
	return LooksLike(name, text) || isCard(text) || isIBAN(text) || isKeyBody(text) || len(Spans(text)) > 0
}

// maxText is how much of a text is looked through, in bytes.
const maxText = 1 << 20

// Spans returns where credentials stand inside a text, as byte offsets in rising order
// without overlaps: what rules of gitleaks find, what is assigned to a name that says so, a
// password in an address or behind -u, and what follows Bearer or Basic.
func Spans(text string) [][2]int {
	text = text[:min(len(text), maxText)]
	var out [][2]int
	rules().find(text, func(from, to int) { out = append(out, [2]int{from, to}) })
	for i := range len(text) {
		if text[i] == '=' || text[i] == ':' {
			if from, to, ok := assigned(text, i); ok {
				out = append(out, [2]int{from, to})
			}
		}
	}
	for _, p := range patterns {
		if !p.may(text) {
			continue
		}
		for _, m := range p.expression.FindAllStringSubmatchIndex(text, -1) {
			out = append(out, [2]int{m[2], m[3]})
		}
	}
	return merged(out)
}

// patterns are forms in which a credential follows something else. What may be asked first
// takes a tenth of the time.
var patterns = []struct {
	may        func(text string) bool
	expression *regexp.Regexp
}{
	{
		func(text string) bool { return strings.Contains(text, "://") && strings.Contains(text, "@") },
		regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@"']*:([^/\s@"']+)@`),
	},
	{
		func(text string) bool { return strings.Contains(text, "-u") },
		regexp.MustCompile(`(?:^|\s)(?:-u|--user)[ =]?["']?[^\s:"']+:([^\s"']{3,})`),
	},
	{
		func(text string) bool { return containsWord(text, "earer") || containsWord(text, "asic") },
		regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{6,}=*)`),
	},
}

func containsWord(text, word string) bool {
	return strings.Contains(text, word) || strings.Contains(text, strings.ToUpper(word))
}

// assigned returns where the value stands that is assigned at i to a name of a credential:
// name=value, name: value, "name": "value".
func assigned(text string, i int) (from, to int, ok bool) {
	const least = 3 // bytes of a value
	end := i
	for end > 0 && strings.IndexByte(" \t\"'", text[end-1]) >= 0 {
		end--
	}
	start := end
	for start > 0 && isNameByte(text[start-1]) {
		start--
	}
	name := text[start:end]
	if name == "" || !mayBeSecretName(name) || !secretName.MatchString(name) {
		return 0, 0, false
	}
	for from = i + 1; from < len(text) && strings.IndexByte(" \t\"'", text[from]) >= 0; from++ {
	}
	for to = from; to < len(text) && strings.IndexByte(" \t\r\n\"'&;,{}[]", text[to]) < 0; to++ {
	}
	to = from + len(strings.TrimRight(text[from:to], ".:!?")) // those end a sentence
	return from, to, to-from >= least && !isWordOfSchema(text[from:to])
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isWordOfSchema reports whether a value says what a credential is, and is none.
func isWordOfSchema(value string) bool {
	return slices.Contains([]string{"string", "true", "false", "null", "none", "required", "optional", "bearer", "basic"}, strings.ToLower(value))
}

// merged sorts spans and joins those that overlap.
func merged(spans [][2]int) [][2]int {
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	var out [][2]int
	for _, s := range spans {
		if n := len(out); n > 0 && s[0] < out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], s[1])
			continue
		}
		out = append(out, s)
	}
	return out
}

// isCard reports whether a text is the number of a card, by its check digit (Luhn).
func isCard(text string) bool {
	sum, n := 0, 0
	for i := len(text) - 1; i >= 0; i-- {
		switch c := text[i]; {
		case c == ' ' || c == '-':
			continue
		case c < '0' || c > '9':
			return false
		}
		d := int(text[i] - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		n++
	}
	return n >= 13 && n <= 19 && sum%10 == 0
}

var iban = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$`)

// isIBAN reports whether a text is the number of a bank account, by its check digits (ISO
// 13616: the number, its first four characters last and letters as 10 to 35, is 1 modulo 97).
func isIBAN(text string) bool {
	text = strings.ToUpper(strings.ReplaceAll(text, " ", ""))
	if !iban.MatchString(text) {
		return false
	}
	rest := 0
	for _, c := range text[4:] + text[:4] {
		if c >= 'A' {
			rest = (100*rest + int(c-'A') + 10) % 97
		} else {
			rest = (10*rest + int(c-'0')) % 97
		}
	}
	return rest == 1
}

// isKeyBody reports whether a text is lines of base64 and nothing else: the body of a PEM
// block without its first line.
func isKeyBody(text string) bool {
	n := 0
	for _, c := range text {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '=':
			n++
		case c != '\n' && c != '\r':
			return false
		}
	}
	return n >= 64 && strings.ContainsAny(text, "0123456789+/")
}

// ruleSet is rules by the first two bytes of their keywords, in small letters.
type ruleSet struct {
	begins [1 << 16]bool
	by     map[uint16][]keyword
}

type keyword struct {
	text string
	rule *rule
}

// rule is a rule of gitleaks. Its expression is compiled when a keyword of it is met.
type rule struct {
	find    func() *regexp.Regexp
	group   int
	entropy float64
}

// left are rules whose matches are names more often than values: names are looked at here.
var left = []string{"generic-api-key", "sourcegraph-access-token"}

// rules returns the rules that gitleaks brings along, but for those about names of files.
var rules = sync.OnceValue(func() *ruleSet {
	var file struct {
		Rules []struct {
			ID          string
			Regex, Path string
			Keywords    []string
			Entropy     float64
			SecretGroup int `toml:"secretGroup"`
		}
	}
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		panic("secret: the rules of gitleaks: " + err.Error())
	}
	set := &ruleSet{by: map[uint16][]keyword{}}
	for _, from := range file.Rules {
		if from.Regex == "" || from.Path != "" || slices.Contains(left, from.ID) {
			continue
		}
		r := &rule{group: from.SecretGroup, entropy: from.Entropy, find: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(from.Regex) })}
		for _, word := range from.Keywords {
			if word = strings.ToLower(word); len(word) < 2 {
				continue
			}
			key := pair(word[0], word[1])
			set.begins[key] = true
			set.by[key] = append(set.by[key], keyword{word, r})
		}
	}
	return set
})

func pair(a, b byte) uint16 { return uint16(lower(a))<<8 | uint16(lower(b)) }

// find calls found with what the rules match in a text.
func (s *ruleSet) find(text string, found func(from, to int)) {
	var met []*rule
	for i := 0; i+1 < len(text); i++ {
		key := pair(text[i], text[i+1])
		if !s.begins[key] {
			continue
		}
		for _, k := range s.by[key] {
			if len(text)-i >= len(k.text) && !slices.Contains(met, k.rule) && strings.EqualFold(text[i:i+len(k.text)], k.text) {
				met = append(met, k.rule)
			}
		}
	}
	for _, r := range met {
		for _, m := range r.find().FindAllStringSubmatchIndex(text, -1) {
			group := r.group
			for g := 1; group == 0 && g < len(m)/2; g++ {
				if m[2*g] >= 0 {
					group = g
				}
			}
			if from, to := m[2*group], m[2*group+1]; from >= 0 && to > from && entropy(text[from:to]) >= r.entropy {
				found(from, to)
			}
		}
	}
}

// entropy is the Shannon entropy of the bytes of a text, in bits.
func entropy(text string) float64 {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if p := float64(n) / float64(len(text)); n > 0 {
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
