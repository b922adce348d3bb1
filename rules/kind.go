package rules

import "slices"

// KindInfo describes a kind of rules.
type KindInfo struct {
	Kind   Kind
	Doc    string   // the end of a sentence that begins with "It"
	Fields []string // beyond id, kind, doc, match and examples; in the order of Format

	required []string // of Fields
	arg      argUse
	matchAll bool // a rule without a match is about all calls
	read     func(p *parser, r *Rule, o object)
}

// Kinds returns the kinds of rules in the order of the stages in which they
// apply.
func Kinds() []KindInfo { return slices.Clone(kinds) }

// String returns the word used in rule files.
func (k Kind) String() string { return string(k) }

// kinds is the table of kinds. A further kind is one entry here, its fields in
// Rule, a definition in schema.json and a section in docs/rules.md.
var kinds = []KindInfo{
	{
		Kind: KindDrop, Doc: "leaves the matched calls out",
		read: func(*parser, *Rule, object) {},
	},
	{
		Kind: KindRename, Doc: "gives the matched calls another name",
		Fields: []string{"to"}, required: []string{"to"},
		read: (*parser).rename,
	},
	{
		Kind: KindStatus, Doc: "reads from their results whether the matched calls failed",
		Fields: []string{"result", "failure", "is"}, required: []string{"is"},
		read: (*parser).status,
	},
	{
		Kind: KindFold, Doc: "makes consecutive calls of one tool one step, one of their arguments concatenated",
		Fields: []string{"arg", "separator"}, required: []string{"arg"},
		read: (*parser).fold,
	},
	{
		Kind: KindInsert, Doc: "puts a step before or after the matched calls",
		Fields: []string{"before", "after"},
		read:   (*parser).insert,
	},
	{
		Kind: KindDropArg, Doc: "leaves an argument out of the labels",
		arg:  argRequired,
		read: func(*parser, *Rule, object) {},
	},
	{
		Kind: KindRewrite, Doc: "replaces parts of an argument in the labels",
		Fields: []string{"pattern", "with", "values"}, required: []string{"pattern", "with"}, arg: argRequired,
		read: (*parser).rewrite,
	},
	{
		Kind: KindEffect, Doc: "says whether the matched calls read, write or note",
		Fields: []string{"effect", "idempotent", "values"}, required: []string{"effect"},
		read: (*parser).effect,
	},
	{
		Kind: KindDomain, Doc: "says what part of the world the matched calls are about: writes of different domains commute",
		Fields: []string{"domain", "domain_from"},
		read:   (*parser).domain,
	},
	{
		Kind: KindLoop, Doc: "makes repetitions of a write, or of a read that only pages, leave the state as it is",
		Fields: []string{"ignore_args"},
		read:   (*parser).loop,
	},
	{
		Kind: KindCommute, Doc: "says that two writes may be made in either order",
		Fields: []string{"with"},
		read:   (*parser).commute,
	},
	{
		Kind: KindBarrier, Doc: "keeps meta-tools from containing or crossing the matched calls",
		read: func(*parser, *Rule, object) {},
	},
	{
		Kind: KindPlumbing, Doc: "says whether meta-tools tell what the matched calls returned",
		Fields: []string{"answer"},
		read:   (*parser).plumbing,
	},
	{
		Kind: KindState, Doc: "lets context values distinguish states",
		Fields: []string{"keys"}, required: []string{"keys"}, matchAll: true,
		read: (*parser).state,
	},
	{
		Kind: KindValues, Doc: "allows the values of arguments to be shown",
		Fields: []string{"values"}, required: []string{"values"}, arg: argOptional,
		read: func(*parser, *Rule, object) {},
	},
}

// ruleHead and ruleTail are the fields that all rules have, before and after
// those of their kind in the order of Format.
var (
	ruleHead = []string{"id", "kind", "doc", "match"}
	ruleTail = []string{"examples"}
)

// ruleFields returns the fields of all kinds of rules.
func ruleFields() []string {
	fields := slices.Clone(ruleHead)
	for _, k := range kinds {
		for _, f := range k.Fields {
			if !slices.Contains(fields, f) {
				fields = append(fields, f)
			}
		}
	}
	return append(fields, ruleTail...)
}

// kindNames returns the words for kinds.
func kindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k.Kind)
	}
	return names
}
