package toolgraph

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/lexical"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/toolgraph/catalog"
)

// A place is a catalog.Place of a tool with what it is compared by.
type place struct {
	tool     int32
	out      bool
	required bool
	list     bool
	kind     kind
	sig      int32 // index of signatures
	scope    int32 // of a credential: its tool's group; -1 for all else
	at       *catalog.Place
}

// kind is the type of a place as far as types are compared.
type kind uint8

const (
	kindUnknown kind = iota
	kindString
	kindNumber
	kindBoolean
	kindArray
	kindObject
)

func kindOf(name string) kind {
	switch name {
	case "string":
		return kindString
	case "number", "integer":
		return kindNumber
	case "boolean":
		return kindBoolean
	case "array":
		return kindArray
	case "object":
		return kindObject
	}
	return kindUnknown
}

// typeFactor says how well a value of one place fits another by type alone.
func typeFactor(from, to *place) float64 {
	a, b := from.kind, to.kind
	switch {
	case from.list && b == kindArray:
		return 1 // the whole list
	case a == kindUnknown || b == kindUnknown:
		return .9
	case a == b:
		return 1
	case a == kindBoolean || b == kindBoolean:
		return .2
	case a == kindNumber && b == kindString || a == kindString && b == kindNumber:
		return .7
	case b == kindArray:
		return .6
	}
	return .4
}

// A frame is the places of a catalogue with their signatures: what matching,
// clusters and features rest on.
type frame struct {
	tools   []catalog.Tool
	places  []place
	inputs  [][]int32 // places by tool
	outputs [][]int32 // places by tool: of schemas, of recorded results, or of the name
	named   []int32   // the place that a tool's name promises, by tool; -1 if its name has no words
	guessed []bool    // outputs are the named place alone, by tool

	vocabulary *lexical.Vocabulary
	signatures []lexical.Vector
	masks      []uint64 // of signatures: a bit for each of their words, so that most pairs need no product
	texts      []string // of signatures: the words, joined by blanks
}

// newFrame returns the frame of tools whose places are complete.
func newFrame(tools []catalog.Tool) *frame {
	f := &frame{tools: tools, inputs: make([][]int32, len(tools)), outputs: make([][]int32, len(tools)), named: make([]int32, len(tools)), guessed: make([]bool, len(tools))}
	numbers := map[string]int32{}
	var words [][]string
	number := func(w []string) int32 {
		sorted := slices.Compact(slices.Sorted(slices.Values(w)))
		text := strings.Join(sorted, " ")
		id, ok := numbers[text]
		if !ok {
			id = int32(len(words))
			numbers[text] = id
			words = append(words, sorted)
			f.texts = append(f.texts, text)
		}
		return id
	}
	scopes := map[string]int32{}
	scope := credentialScopes(tools)
	vocabulary := &lexical.Vocabulary{}
	for i := range tools {
		t := &tools[i]
		own := map[int32]bool{}
		add := func(p *catalog.Place, out bool) int32 {
			w := signature(t, p, out)
			id := int32(len(f.places))
			one := place{tool: int32(i), out: out, required: p.Required && !out, list: p.List, kind: kindOf(p.Type), sig: number(w), scope: -1, at: p}
			if isCredential(lexical.Words(p.Name())) {
				of := scope(t)
				if _, ok := scopes[of]; !ok {
					scopes[of] = int32(len(scopes))
				}
				one.scope = scopes[of]
			}
			f.places = append(f.places, one)
			if !own[one.sig] {
				own[one.sig] = true
				vocabulary.Add(words[one.sig])
			}
			return id
		}
		for j := range t.Inputs {
			f.inputs[i] = append(f.inputs[i], add(&t.Inputs[j], false))
		}
		for j := range t.Outputs {
			f.outputs[i] = append(f.outputs[i], add(&t.Outputs[j], true))
		}
		f.named[i] = -1
		if nouns := nameNouns(t.Name); len(nouns) > 0 {
			id := int32(len(f.places))
			f.places = append(f.places, place{tool: int32(i), out: true, sig: number(nouns), scope: -1, at: &catalog.Place{Path: "$", Names: []string{t.Name}}})
			f.named[i] = id
			if sig := f.places[id].sig; !own[sig] {
				vocabulary.Add(words[sig])
			}
			if len(f.outputs[i]) == 0 {
				f.outputs[i] = []int32{id}
				f.guessed[i] = true
			}
		}
	}
	f.vocabulary = vocabulary.Sorted()
	f.signatures = make([]lexical.Vector, len(words))
	f.masks = make([]uint64, len(words))
	for i, w := range words {
		f.signatures[i] = f.vocabulary.Set(w)
		for _, term := range f.signatures[i] {
			f.masks[i] |= 1 << (term.Term % 64)
		}
	}
	return f
}

// credentialScopes returns what tells which credentials a tool takes: its group; where
// there are no groups, and tools of several first words give credentials (mail_login,
// files_login), the first word of its name.
func credentialScopes(tools []catalog.Tool) func(*catalog.Tool) string {
	first := func(t *catalog.Tool) string {
		if words := toolname.Words(t.Name); len(words) > 0 && !toolname.IsVerb(words[0]) {
			return words[0]
		}
		return ""
	}
	givers := map[string]bool{}
	for i := range tools {
		for j := range tools[i].Outputs {
			if isCredential(lexical.Words(tools[i].Outputs[j].Name())) {
				givers[first(&tools[i])] = true
			}
		}
	}
	return func(t *catalog.Tool) string {
		if t.Group == "" && len(givers) > 1 {
			return "\x00" + first(t)
		}
		return t.Group
	}
}

// match returns m: how well what stands at one place fits another, from 0 to 1.
func (f *frame) match(from, to *place) float64 {
	if from.scope != to.scope {
		return 0 // one is a credential and the other none, or of another group
	}
	return f.cosine(from.sig, to.sig) * typeFactor(from, to)
}

func (f *frame) cosine(a, b int32) float64 {
	if a == b {
		return 1
	}
	if f.masks[a]&f.masks[b] == 0 {
		return 0
	}
	return min(1, f.signatures[a].Dot(f.signatures[b]))
}

// A pair is two signatures whose cosine is at least a threshold.
type pair struct {
	a, b   int32
	cosine float64
}

// similar returns the pairs of different signatures, one of as and one of bs, with
// a cosine of at least t. A signature is looked up by its rarest words only: what
// shares none of them with it, its common words are too short to reach t for
// (prefix filtering, Bayardo et al., WWW 2007).
func (f *frame) similar(as, bs []int32, t float64) []pair {
	prefixes := func(sig int32) []lexical.Weight {
		v := slices.Clone(f.signatures[sig])
		slices.SortFunc(v, func(x, y lexical.Weight) int { return f.rarer(x.Term, y.Term) })
		rest := 0.0
		for i := len(v) - 1; i >= 0; i-- {
			rest += float64(v[i].W * v[i].W)
			if rest >= float64(t*t)-1e-9 {
				return v[:i+1]
			}
		}
		return nil
	}
	postings := make(map[int32][]int32)
	for _, b := range bs {
		for _, w := range prefixes(b) {
			postings[w.Term] = append(postings[w.Term], b)
		}
	}
	var out []pair
	seen := make([]int32, len(f.signatures)) // by b: a + 1 of the last that it was compared with
	for _, a := range as {
		for _, w := range prefixes(a) {
			for _, b := range postings[w.Term] {
				if a == b || seen[b] == a+1 {
					continue
				}
				seen[b] = a + 1
				if c := f.cosine(a, b); c >= t {
					out = append(out, pair{a, b, c})
				}
			}
		}
	}
	return out
}

// rarer orders terms by how many signatures hold them, then as words.
func (f *frame) rarer(a, b int32) int {
	if c := f.vocabulary.Holds(a) - f.vocabulary.Holds(b); c != 0 {
		return c
	}
	return int(a) - int(b)
}
