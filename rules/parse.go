package rules

import (
	"path"
	"slices"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// Options are what Parse and Check may use. The zero value is the default.
type Options struct {
	// Load returns the content of an included file. name is the name of the
	// including file with its last part replaced by what `include:` says. Nil
	// means that no files are included; built-in sets always are.
	Load func(name string) ([]byte, error)
}

// Parse reads a rule file with default options.
func Parse(file string, src []byte) (*Set, error) { return Options{}.Parse(file, src) }

// Parse reads a rule file, YAML or JSON, and the files it includes. It returns
// the rules that are well formed, also when there is an error; the error is a
// diag.List of every mistake, sorted by position. file is only a name.
func (o Options) Parse(file string, src []byte) (*Set, error) {
	set, problems := o.read(file, src)
	return set, problems.Errors().Err()
}

// Check reads a rule file like Parse and returns every problem, mistakes and
// what is only suspicious, sorted by position.
func (o Options) Check(file string, src []byte) (*Set, diag.List) {
	set, problems := o.read(file, src)
	problems = append(problems, lint(set)...)
	problems.Sort()
	return set, problems
}

func (o Options) read(file string, src []byte) (*Set, diag.List) {
	p := &parser{
		options:  o,
		budget:   maxPatternSteps,
		ids:      map[string]diag.Pos{},
		names:    map[string]diag.Pos{},
		included: map[string]bool{path.Clean(file): true},
	}
	set := p.file(file, src).set
	p.problems.Sort()
	// What stands under an anchor is read once for each alias too.
	p.problems = slices.CompactFunc(p.problems, func(a, b *diag.Error) bool {
		return a.Pos == b.Pos && a.Code == b.Code && a.Msg == b.Msg
	})
	return set, p.problems
}

// parser reads one file and those it includes.
type parser struct {
	options  Options
	problems diag.List
	errors   int                 // how many of them are mistakes
	budget   int                 // steps that regular expressions may still have
	ids      map[string]diag.Pos // of all files
	names    map[string]diag.Pos // of meta-tools, of all files
	included map[string]bool
	chain    []string  // names of the files being read, the outermost first
	stack    []include // how the innermost of them was reached

	strict bool       // the file is JSON: texts are texts there
	flaws  []diag.Pos // in the YAML of the file
}

// report adds a mistake and returns it, so that notes can be added.
func (p *parser) report(pos diag.Pos, code, format string, args ...any) *diag.Error {
	e := diag.New(pos, code, format, args...)
	p.problems = append(p.problems, e)
	p.errors++
	return e
}

func (p *parser) warn(pos diag.Pos, code, format string, args ...any) {
	p.problems = append(p.problems, diag.Warn(pos, code, format, args...))
}

// content is what one file says, with the places of its policies.
type content struct {
	set      *Set
	policies map[string]diag.Pos // that the file or what it includes states
}

// fileFields are the fields of a rule file, in the order in which Format puts
// them.
var fileFields = []string{"version", "doc", "include", "failed", "outcome", "state_reads", "rules", "meta_tools", "examples"}

// file reads one file and those it includes.
func (p *parser) file(name string, src []byte) content {
	c := content{set: &Set{File: name}, policies: map[string]diag.Pos{}}
	p.chain = append(p.chain, path.Clean(name))
	defer func() { p.chain = p.chain[:len(p.chain)-1] }()
	root := p.root(name, src)
	if root == nil {
		return c
	}
	o, ok := p.object(root, "a rule file", fileFields)
	if !ok {
		return c
	}
	p.version(o)
	if n := o.value("doc"); n != nil {
		c.set.Doc, _ = p.text(n, "doc")
	}
	p.includes(o, &c)
	p.policy(o, &c, "failed", failedPolicies, func(i int) { c.set.Failed = FailedPolicy(i) })
	p.policy(o, &c, "outcome", outcomePolicies, func(i int) { c.set.Outcome = OutcomePolicy(i) })
	p.policy(o, &c, "state_reads", readPolicies, func(i int) { c.set.StateReads = ReadPolicy(i) })
	for n := range p.elements(o.value("rules"), "rules") {
		if r := p.rule(n); r != nil {
			c.set.Rules = append(c.set.Rules, r)
		}
	}
	for n := range p.elements(o.value("meta_tools"), "meta_tools") {
		if m, ok := p.metaTool(n); ok {
			c.set.MetaTools = append(c.set.MetaTools, m)
		}
	}
	c.set.Examples = append(c.set.Examples, p.examples(o.value("examples"))...)
	return c
}

// root parses a source as far as its tree. It returns nil if there is none.
func (p *parser) root(name string, src []byte) *yamlsrc.Node {
	doc, problems := yamlsrc.Parse(name, src, yamlsrc.Options{})
	p.problems = append(p.problems, problems...)
	p.errors += len(problems.Errors())
	p.strict = doc.JSON
	p.flaws = nil
	for _, e := range problems {
		p.flaws = append(p.flaws, e.Pos)
	}
	if doc.Root == nil && len(problems) == 0 {
		p.report(diag.Pos{File: name, Line: 1, Col: 1}, "rule-missing-field", "the file is empty: it begins with `version: 1`")
	}
	return doc.Root
}

// isFlawed reports whether there is a problem in the YAML of a node.
func (p *parser) isFlawed(n *yamlsrc.Node) bool {
	end := n.End()
	return slices.ContainsFunc(p.flaws, func(pos diag.Pos) bool { return pos.Compare(n.Pos) >= 0 && pos.Compare(end) <= 0 })
}

// languageVersion is the version of the rule language that is read.
const languageVersion = 1

func (p *parser) version(o object) {
	n := o.required("version")
	if n == nil {
		return
	}
	if v, ok := n.Int(); !ok || v != languageVersion {
		p.report(n.Pos, "rule-bad-version", "the version of the rule language is %d", languageVersion)
	}
}

// The words of the policies, in the order of their constants.
var (
	failedPolicies  = []string{"keep", "drop", "split"}
	outcomePolicies = []string{"all", "success"}
	readPolicies    = []string{"any_time", "after_write"}
)

// policy reads a policy that a file states itself.
func (p *parser) policy(o object, c *content, field string, words []string, set func(int)) {
	n := o.value(field)
	if n == nil {
		return
	}
	if i, ok := p.word(n, field, words); ok {
		set(i)
		c.policies[field] = n.Pos
	}
}
