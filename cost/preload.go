package cost

// Amount is what something costs, in tokens and in US dollars.
type Amount struct{ Tokens, USD float64 }

func (a *Amount) add(o Amount) { a.Tokens, a.USD = a.Tokens+o.Tokens, a.USD+o.USD }

func (a Amount) times(x float64) Amount { return Amount{a.Tokens * x, a.USD * x} }

func (a Amount) less(o Amount) Amount { return Amount{a.Tokens - o.Tokens, a.USD - o.USD} }

func amountOf(t Totals) Amount { return Amount{float64(t.Tokens()), t.USD} }

// PreloadCosts says what registering a tool from the start is worth, with
// definitions that are otherwise appended as results: sums over trajectories, of
// each of which two things are known. What a registration costs that comes right
// before a step, and what a token of a definition costs that stands in front of
// the context although it is not needed yet, or never.
type PreloadCosts struct {
	// Steps are the calls of the model by their place in the trajectory.
	Steps []PreloadStep
	// Read is what a token costs that stands in front on every turn.
	Read         Amount
	Trajectories int
}

// PreloadStep is what is known of the trajectories that have a step.
type PreloadStep struct {
	Register     Amount // registering right before the step, without the definition
	Read         Amount // a token in front from the start, rather than registered there
	Trajectories int
}

// probe is how many tokens the definition has whose reading is measured: many, because
// tokens are rounded in each turn.
const probe = 10_000

// PreloadCosts returns the costs of one trajectory whose tools are registered when
// they are needed: steps are the turns of its first calls. Everything is
// the difference of two simulations (see Lazy), one with a tool more that is
// first used at the step or never, registered there or from the start; so it is
// exact for a trajectory, whatever it caches. The simulations of a step differ from others
// up to its turn and behind it in sums alone: the time is that of four simulations, and of
// adding up for each step.
func (a *Account) PreloadCosts(tools *Toolset, use LazyUse, steps []int32) *PreloadCosts {
	out := &PreloadCosts{Steps: make([]PreloadStep, len(steps)), Trajectories: 1}
	name := int64(0)
	if tools.Count > 0 {
		name = int64(tools.Names/tools.Count + 0.5)
	}
	// Two tools more: one that is a name alone, and one with a definition.
	more := *tools
	more.Tools = make([]Definition, 0, len(tools.Tools)+2)
	more.Tools = append(append(more.Tools, tools.Tools...), Definition{Name: name, Parameters: -name}, Definition{Name: name, Parameters: probe - name})
	nothing := int32(len(tools.Tools))
	definition := nothing + 1

	// What others need registered before a turn does not depend on the tool.
	none := newLazyRun(a, &more, use, LazyOptions{Placement: PlacementResult})
	needed := make([][]int32, len(a.Turns))
	requests := len(needed)
	for i := range needed {
		needed[i] = none.needed(i, use)
		requests += len(needed[i])
	}
	// Behind its registration the tool adds the same to each request, wherever that was.
	behind := func(tool int32) *sentRun {
		r := &sentRun{lazyRun: *none, tool: tool, sent: make([]amountSum, 0, requests), afterTurn: make([]int, len(needed))}
		r.extra += float64(more.Call) + float64(name) + float64(more.Acknowledged) + float64(more.Tools[tool].Tokens())
		r.log = &r.sent
		for i := range needed {
			r.turn(i, needed[i])
			r.afterTurn[i] = len(r.sent)
		}
		return r
	}
	var registered []int32
	from := func(l lazyRun, first int, behind *sentRun) Amount {
		registered = append(append(registered[:0], behind.tool), needed[first]...)
		l.turn(first, registered)
		sum := amountSum{l.out.Totals.Tokens(), l.out.Totals.USD}
		for _, one := range behind.sent[behind.afterTurn[first]:] {
			sum.tokens += one.tokens
			sum.usd += one.usd
		}
		return Amount{float64(sum.tokens), sum.usd}
	}
	behindName, behindProbe := behind(nothing), behind(definition)
	ahead := *none // wherever the tool is used
	ahead.front += float64(probe)
	lazy, read := make([]Amount, len(steps)), make([]Amount, len(steps))
	known := -1 // the step whose turn is at hand
	for i := range needed {
		known = -1
		for k, turn := range steps {
			if int(turn) != i || i >= len(use.Uses) {
				continue
			}
			if known < 0 {
				lazy[k], read[k] = from(*none, i, behindName), from(*none, i, behindProbe)
				known = k
			}
			lazy[k], read[k] = lazy[known], read[known]
		}
		none.turn(i, needed[i])
		ahead.turn(i, needed[i])
	}
	never := amountOf(none.out.Totals)
	out.Read = amountOf(ahead.out.Totals).less(never).times(1.0 / probe)
	for k, turn := range steps {
		if turn < 0 || int(turn) >= min(len(needed), len(use.Uses)) {
			lazy[k], read[k] = never, never // it is never used
		}
		out.Steps[k] = PreloadStep{
			Register: lazy[k].less(never), Trajectories: 1,
			Read: out.Read.less(read[k].less(lazy[k]).times(1.0 / probe)),
		}
	}
	return out
}

// sentRun is a run behind the registration of a tool, that knows what each request cost, and
// how many there were up to the end of each turn.
type sentRun struct {
	lazyRun
	tool      int32
	sent      []amountSum
	afterTurn []int
}

// amountSum is an amount whose tokens are whole.
type amountSum struct {
	tokens int64
	usd    float64
}

// Add adds the trajectories of o.
func (c *PreloadCosts) Add(o *PreloadCosts) {
	for len(c.Steps) < len(o.Steps) {
		c.Steps = append(c.Steps, PreloadStep{})
	}
	for i, s := range o.Steps {
		c.Steps[i].Register.add(s.Register)
		c.Steps[i].Read.add(s.Read)
		c.Steps[i].Trajectories += s.Trajectories
	}
	c.Read.add(o.Read)
	c.Trajectories += o.Trajectories
}

// Worth returns what is expected to be saved by registering a tool from the start
// rather than when it is needed: first are the probabilities that its first use is
// at each step, the rest to one is that it is never used; definition is its tokens.
//
//	sum over k of first[k] (R[k] - definition r[k])  -  (1 - sum of first) definition r
//
// R[k] is the mean cost of a registration before step k, r[k] that of a token read
// too early, r that of one read in vain. Steps that no trajectory has count as
// never. It is zero if there are no trajectories.
func (c *PreloadCosts) Worth(first []float64, definition int64) Amount {
	var out Amount
	if c.Trajectories == 0 {
		return out
	}
	never := 1.0
	for k, p := range first {
		if k == len(c.Steps) {
			break
		}
		s := &c.Steps[k]
		never -= p
		one := s.Register.less(s.Read.times(float64(definition)))
		out.add(one.times(p / float64(s.Trajectories)))
	}
	return out.less(c.Read.times(max(never, 0) * float64(definition) / float64(c.Trajectories)))
}
