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

// probe is how many tokens the definition has whose reading is measured: many, since
// tokens are rounded in each turn.
const probe = 10_000

// PreloadCosts returns the costs of one trajectory whose tools are registered when
// they are needed: steps are the turns of its first calls, in order. Everything is
// the difference of two simulations (see Lazy), one with a tool more that is
// first used at the step or never, registered there or from the start; so it is
// exact for a trajectory, whatever it caches. The time is that of three simulations
// a step.
func (a *Account) PreloadCosts(tools *Toolset, use LazyUse, steps []int32) *PreloadCosts {
	out := &PreloadCosts{Steps: make([]PreloadStep, len(steps)), Trajectories: 1}
	more := *tools
	extra := int32(len(tools.Tools))
	more.Tools = append(more.Tools[:len(more.Tools):len(more.Tools)], Definition{})
	name := int64(0)
	if tools.Count > 0 {
		name = int64(tools.Names/tools.Count + 0.5)
	}
	with := func(tokens int64, turn int32, preloaded bool) Amount {
		more.Tools[extra] = Definition{Name: name, Parameters: tokens - name}
		u := use
		if turn >= 0 && int(turn) < len(u.Uses) {
			u.Uses = append([][]int32(nil), u.Uses...)
			u.Uses[turn] = append([]int32{extra}, u.Uses[turn]...)
		}
		if preloaded {
			u.Preloaded = append(u.Preloaded[:len(u.Preloaded):len(u.Preloaded)], extra)
		}
		return amountOf(a.Lazy(&more, u, LazyOptions{Placement: PlacementResult}).Totals)
	}
	none := with(0, -1, false)
	ahead := with(probe, -1, true) // wherever it is used
	out.Read = ahead.less(none).times(1.0 / probe)
	for i, turn := range steps {
		lazy := with(0, turn, false)
		out.Steps[i] = PreloadStep{
			Register: lazy.less(none), Trajectories: 1,
			Read: out.Read.less(with(probe, turn, false).less(lazy).times(1.0 / probe)),
		}
	}
	return out
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
