package candidate

import (
	"encoding/binary"

	"github.com/awo-dev/awo/internal/dataflow"
)

// signature is what steps have in common that look alike from any pattern.
type signature struct {
	tool  int32
	many  bool
	each  int
	again uint8
	args  []patternArg
}

// Add adds what Symbols returned for the next trajectory.
func (p *Patterns) Add(s *Symbols) {
	// Trajectories without calls may be left out.
	for ; p.next <= s.trajectory; p.next++ {
		p.offsets = append(p.offsets, len(p.worth))
	}
	p.worth = append(p.worth, s.worth...)
	for i := range s.steps {
		step := &s.steps[i]
		id := noSymbol
		if step.tool != noSymbol {
			id = p.signature(step)
		}
		p.symbol = append(p.symbol, id)
		p.place = append(p.place, place(step.place))
		p.trajectory = append(p.trajectory, uint32(s.trajectory))
	}
}

// signature numbers the signature of a step.
func (p *Patterns) signature(s *symbol) int32 {
	b := binary.AppendUvarint(p.buffer[:0], uint64(s.tool))
	if s.many {
		b = binary.AppendUvarint(b, uint64(1+s.each))
	} else {
		b = append(b, 0)
	}
	b = append(b, s.again)
	for i := range s.args {
		a := &s.args[i]
		b = binary.LittleEndian.AppendUint64(b, a.param)
		b = append(b, a.known)
		b = binary.AppendUvarint(b, uint64(len(a.sources)))
		for _, from := range a.sources {
			b = binary.AppendUvarint(b, uint64(from.link))
			b = append(b, from.before, flag(from.copied))
		}
	}
	p.buffer = b
	id, ok := p.known[string(b)]
	if !ok {
		id = int32(len(p.signatures))
		p.known[string(b)] = id
		p.signatures = append(p.signatures, signature{s.tool, s.many, s.each, s.again, s.args})
	}
	return id
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// form is the symbol of a step inside a pattern.
type form struct {
	tool int32
	each bool // one call for every element of a list
	from int  // with each: how many steps before it the list came from, 0 for outside the pattern
	link int32
	args []formArg // what does not come from outside
}

// formArg is an argument that comes from inside a pattern.
type formArg struct {
	param  uint64
	link   int32
	before uint8 // how many steps
}

// forms finds the symbols of steps, each once.
type forms struct {
	p     *Patterns
	known map[string]int32
	list  []form
	memo  map[formKey]int32
	pick  []bool // by link: whether a rule other than "each" may bind it
	walk  []bool // by link: whether a call for each element may
}

// formKey is what the symbol of a step depends on.
type formKey struct {
	signature int32
	at        uint8  // in the pattern
	each      uint16 // the steps before it that are fan-outs: bit i for the one i+1 before
}

func newForms(p *Patterns) *forms {
	f := &forms{
		p: p, known: map[string]int32{}, memo: map[formKey]int32{},
		pick: make([]bool, len(p.set.Links)), walk: make([]bool, len(p.set.Links)),
	}
	if p.judged {
		f.readJudgments()
		return f
	}
	for i := range p.set.Links {
		f.pick[i] = p.set.Links[i].Verdict == dataflow.Accepted
	}
	for i := range p.signatures {
		if s := &p.signatures[i]; s.many {
			for _, from := range s.args[s.each].sources {
				f.walk[from.link] = f.pick[from.link]
			}
		}
	}
	return f
}

// readJudgments finds what may be bound. Whether a tool only reads is said by
// its steps: of one with several effects the worst counts.
func (f *forms) readJudgments() {
	worst := map[string]patternTool{}
	for _, t := range f.p.tools {
		w, ok := worst[t.tool.Value()]
		if !ok {
			w = t
		}
		w.readOnly, w.idempotent = w.readOnly && t.readOnly, w.idempotent && t.idempotent
		worst[t.tool.Value()] = w
	}
	for i := range f.p.judgments {
		g := &f.p.judgments[i]
		id, ok := f.p.linkOf[g.Link]
		if !ok || g.Verdict != dataflow.Accepted {
			continue
		}
		t := worst[g.Link.To.ToolName()]
		agrees := g.Writes()
		switch {
		case t.readOnly:
			agrees = g.Reads()
		case t.idempotent:
			agrees = g.Repeats()
		}
		switch g.Choice.Kind {
		case dataflow.Each:
			f.walk[id] = agrees
		case dataflow.Only, dataflow.ByConst, dataflow.ByArg, dataflow.ByInput, dataflow.First:
			f.pick[id] = f.pick[id] || agrees
		}
	}
}

// of returns the symbol of a step at a place in a pattern (0 for the first), or
// noSymbol if no pattern can have it there. each are the fan-outs before it.
func (f *forms) of(sig int32, at int, each uint16) int32 {
	key := formKey{sig, uint8(at), each}
	id, ok := f.memo[key]
	if !ok {
		id = f.make(&f.p.signatures[sig], uint8(at), each)
		f.memo[key] = id
	}
	return id
}

func (f *forms) make(s *signature, at uint8, each uint16) int32 {
	if s.again > 0 && s.again <= at {
		return noSymbol
	}
	out := form{tool: s.tool, link: -1}
	for i := range s.args {
		a := &s.args[i]
		inside := func(copied bool) (formArg, bool, bool) { return f.inside(s, i, at, each, copied) }
		if s.many && i == s.each {
			from, ok, _ := inside(false)
			switch {
			case ok:
				out.each, out.from, out.link = true, int(from.before), from.link
			case at == 0 || a.known >= at:
				out.each, out.link = true, a.sources[0].link
			default:
				return noSymbol
			}
			continue
		}
		from, ok, walks := inside(false)
		known := at == 0 || a.known >= at
		if !ok && !known {
			from, ok, walks = inside(true)
		}
		switch {
		case ok && walks:
			if out.each { // a step walks one list
				return noSymbol
			}
			out.each, out.from, out.link = true, int(from.before), from.link
		case ok:
			out.args = append(out.args, from)
		case known:
		default:
			return noSymbol
		}
	}
	return f.number(&out)
}

// inside returns the best source of an argument inside the pattern, and whether
// it is a list that is walked.
func (f *forms) inside(s *signature, i int, at uint8, each uint16, copied bool) (from formArg, ok, walks bool) {
	a := &s.args[i]
	for _, source := range a.sources {
		if source.before > at || source.copied != copied {
			continue
		}
		nested := each&(1<<(source.before-1)) != 0 // what a walk returned can only be walked
		found := formArg{param: a.param, link: source.link, before: source.before}
		mayWalk := f.walk[source.link] && f.p.tools[s.tool].readOnly
		switch {
		case s.many && i == s.each:
			if f.walk[source.link] && !(nested && !f.p.tools[s.tool].readOnly) {
				return found, true, true
			}
		case !nested && f.pick[source.link] && !(mayWalk && !f.p.judged):
			return found, true, false
		case mayWalk:
			return found, true, true
		}
	}
	return formArg{}, false, false
}

func (f *forms) number(n *form) int32 {
	b := binary.AppendUvarint(nil, uint64(n.tool))
	b = append(b, flag(n.each), byte(n.from))
	b = binary.AppendVarint(b, int64(n.link))
	for _, a := range n.args {
		b = binary.LittleEndian.AppendUint64(b, a.param)
		b = binary.AppendVarint(b, int64(a.link))
		b = append(b, a.before)
	}
	id, ok := f.known[string(b)]
	if !ok {
		id = int32(len(f.list))
		f.known[string(b)] = id
		f.list = append(f.list, *n)
	}
	return id
}
