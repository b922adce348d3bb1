package cost

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/awo-dev/awo/trace"
)

// Caching says which input tokens count as read from a prompt cache.
type Caching uint8

// The ways of caching. The zero value is CachingRecorded.
const (
	// CachingRecorded takes what the traces record. Turns whose tokens are counted
	// record nothing: all their input is at the full price.
	CachingRecorded Caching = iota
	// CachingOn caches ideally: a turn reads from the cache what the turn before
	// it sent, and writes the rest.
	CachingOn
	// CachingOff puts all input at the full price.
	CachingOff
)

// Source says where the tokens of a turn are from.
type Source uint8

// The sources. The zero value is Recorded.
const (
	Recorded Source = iota // by the trace
	Counted                // o200k counts of the texts that the trace records
	Fitted                 // such counts, scaled by a Fit
)

// Turn is the tokens of one model response.
type Turn struct {
	Input  int32   // all of it, Cached and Write included
	Cached int32   // read from a cache
	Write  int32   // written to a cache, at a price of its own
	Hour   float32 // the share of Write that is kept for an hour, at another price
	Output int32   // reasoning included
	Reread int32   // the part of Output that later turns read again: all but the reasoning
	Source Source
	model  int32 // of Meter.models
	price  int32 // of Meter.prices

	paid     float64 // 1 + what was recorded as paid by the list price, 0 if nothing is recorded
	byTokens bool    // by the tokens, as there is no list price
}

// Account is the tokens of one trajectory. It keeps nothing of the trajectory.
type Account struct {
	Turns []Turn // those of the trajectory, in order

	// Definitions is the tokens of the definitions of the tools offered, which
	// stand in the input of every turn; 0 where Offered is 0: none are recorded.
	// Those of deferred tools are read by later turns alone; see DefinitionsAt.
	Definitions int64
	Offered     int
	found       []int64 // by turn: tokens of deferred definitions that it reads; nil for none

	RecordedUSD   float64 // sum of the recorded costs
	RecordedTurns int     // turns that record one

	// Prompt tells trajectories with different system prompts from each other.
	Prompt uint64

	task  uint64 // which one, where tokens are counted
	meter *Meter
}

// Options say how a Meter works. The zero value is the default.
type Options struct {
	Prices  *Table // nil: Default()
	Caching Caching

	// NoCounting leaves turns without recorded usage without tokens, and counts no
	// definitions: an account then costs no more than reading what is recorded.
	NoCounting bool
}

// Meter makes accounts of trajectories. It remembers counts of texts and which
// models it met, and is not safe for concurrent use; its accounts are.
type Meter struct {
	options Options
	counter counter
	models  []string
	byName  map[string]int32
	prices  []*Price // by number; 0 is none
	priced  map[pricedDay]int32

	defined  trace.ToolLists[int64] // tokens of lists, which repeat from trajectory to trajectory
	toolsets trace.ToolLists[knownToolset]
}

type pricedDay struct {
	model int32
	day   int64 // since 1970; math.MinInt64 if not recorded
}

// NewMeter returns a Meter.
func NewMeter(o Options) *Meter {
	if o.Prices == nil {
		o.Prices = Default()
	}
	return &Meter{options: o, byName: map[string]int32{}, prices: []*Price{nil}, priced: map[pricedDay]int32{}}
}

// Trajectory returns the account of t. Recorded usage is taken as it is. If a
// turn records none, the texts of t are counted, and those turns are what was
// counted: Fit.Apply makes estimates of them.
func (m *Meter) Trajectory(t *trace.Trajectory) *Account {
	a := &Account{Turns: make([]Turn, len(t.Turns)), Offered: len(t.Tools), Prompt: promptOf(t), meter: m}
	var defined definitions
	if !m.options.NoCounting {
		defined = m.definitions(t)
		a.Definitions, a.found = defined.front, defined.found
	}
	started, counted := t.Started(), []countedTurn(nil)
	for i := range t.Turns {
		from, to := &t.Turns[i], &a.Turns[i]
		to.model = m.model(cmp.Or(from.Model, t.Model))
		to.price = m.price(to.model, from.Start, started)
		if u := &from.Usage; u.Known {
			*to = Turn{Input: tokens32(u.Input), Output: tokens32(u.Output), model: to.model, price: to.price}
			to.Cached = min(tokens32(u.CachedInput), to.Input)
			to.Write = min(tokens32(u.CacheWrite), to.Input-to.Cached)
			if u.CacheWrite > 0 {
				to.Hour = float32(u.CacheWriteHour) / float32(u.CacheWrite)
			}
			to.Reread = to.Output - min(tokens32(u.Reasoning), to.Output)
			if u.CostUSD != nil && *u.CostUSD >= 0 && !math.IsInf(*u.CostUSD, 0) {
				a.RecordedUSD += *u.CostUSD
				a.RecordedTurns++
				to.pay(*u.CostUSD, m.prices[to.price])
			}
			continue
		}
		if m.options.NoCounting {
			to.Source = Counted
			continue
		}
		if counted == nil {
			counted, a.task = m.countTurns(t, &defined), taskHash(t)
		}
		to.Source = Counted
		to.Input, to.Output, to.Reread = tokens32(counted[i].input), tokens32(counted[i].output), tokens32(counted[i].said)
	}
	a.arrange()
	return a
}

// promptOf returns a hash of the system prompt, 0 where none is recorded.
func promptOf(t *trace.Trajectory) uint64 {
	h := fnv.New64a()
	for i := range t.Messages {
		if m := &t.Messages[i]; m.Role == trace.RoleSystem && m.Turn == 0 && !m.Text.IsZero() {
			_, _ = h.Write([]byte(m.Text.Text())) // a hash takes everything
			_, _ = h.Write([]byte{0})
		}
	}
	if len(t.Messages) == 0 || h.Sum64() == fnv.New64a().Sum64() {
		return 0
	}
	return h.Sum64()
}

// arrange puts the caching that was asked for over the turns.
func (a *Account) arrange() {
	switch a.meter.options.Caching {
	case CachingOff:
		for i := range a.Turns {
			a.Turns[i].Cached, a.Turns[i].Write = 0, 0
		}
	case CachingOn:
		for i := range a.Turns {
			t := &a.Turns[i]
			t.Cached, t.Write = 0, 0
			if i > 0 && a.Turns[i-1].Input <= t.Input {
				t.Cached = a.Turns[i-1].Input
			}
			if p := a.meter.prices[t.price]; p != nil && p.Write > 0 {
				t.Write = t.Input - t.Cached
			}
		}
	}
}

// Price returns what the tokens of turn i cost, nil if no price is known.
func (a *Account) Price(i int) *Price { return a.meter.prices[a.Turns[i].price] }

// Model returns the model of turn i, "" if it is not recorded.
func (a *Account) Model(i int) string { return a.meter.models[a.Turns[i].model] }

// Estimated returns how many turns record no usage.
func (a *Account) Estimated() int {
	n := 0
	for i := range a.Turns {
		if a.Turns[i].Source != Recorded {
			n++
		}
	}
	return n
}

func (m *Meter) model(name string) int32 {
	n, ok := m.byName[name]
	if !ok {
		n = int32(len(m.models))
		m.models = append(m.models, name)
		m.byName[name] = n
	}
	return n
}

// price returns the number of the price of a model at a time: that of the turn,
// else that of the run.
func (m *Meter) price(model int32, at, started time.Time) int32 {
	if at.IsZero() {
		at = started
	}
	key := pricedDay{model, math.MinInt64}
	if !at.IsZero() {
		key.day = at.Unix() / (24 * 60 * 60)
	}
	n, ok := m.priced[key]
	if ok {
		return n
	}
	if p := m.options.Prices.Lookup(m.models[model], at); p != nil {
		for i, known := range m.prices {
			if known == p {
				n = int32(i)
			}
		}
		if n == 0 {
			n = int32(len(m.prices))
			m.prices = append(m.prices, p)
		}
	}
	m.priced[key] = n
	return n
}

// definitions are the tokens of the definitions that a trajectory is offered.
type definitions struct {
	front   int64        // of those that every turn reads
	found   []int64      // by turn: of those that a search found before; nil for none
	results map[int]bool // calls whose results are such definitions
}

// DefinitionsAt returns the tokens of the definitions that turn i reads: those in front of
// every turn, and deferred ones that were found before it.
func (a *Account) DefinitionsAt(i int) int64 {
	if a.found == nil {
		return a.Definitions
	}
	return a.Definitions + a.found[i]
}

// Misfits reports whether a turn has an input that is smaller than the definitions that it
// would have to hold: nothing can be said of what they cost.
func (a *Account) Misfits() bool {
	for i := range a.Turns {
		if int64(a.Turns[i].Input) < a.DefinitionsAt(i) {
			return true
		}
	}
	return false
}

// definitions counts the definitions that t is offered.
func (m *Meter) definitions(t *trace.Trajectory) (d definitions) {
	if len(t.Tools) == 0 {
		return d
	}
	front, known := m.defined.Of(t.Tools)
	if !known {
		for i := range t.Tools {
			if tool := &t.Tools[i]; !tool.Deferred {
				front += m.Definition(tool).Tokens()
			}
		}
		m.defined.Keep(t.Tools, front, maxToolsets)
	}
	d.front = front
	if deferral := t.Deferral(); deferral != nil {
		d.found, d.results = make([]int64, len(t.Turns)), deferral.Found
		for i := range t.Tools {
			for turn := max(deferral.From[i], 0); t.Tools[i].Deferred && turn < len(t.Turns); turn++ {
				d.found[turn] += m.Definition(&t.Tools[i]).Tokens()
			}
		}
	}
	return d
}

// countedTurn is the o200k tokens of a turn's texts.
type countedTurn struct {
	input  int64 // definitions, and all that came before it
	output int64
	said   int64 // output without thoughts
}

// countTurns counts the texts of t. What is recorded of a turn's input is the
// definitions, the messages before it, what earlier turns said and called, and
// the results of calls. Calls that no model made are no output, and what a
// program did with their results is not known, so they are left out. What a search for
// tools found counts as the definitions that the model then reads.
func (m *Meter) countTurns(t *trace.Trajectory, defined *definitions) []countedTurn {
	out := make([]countedTurn, len(t.Turns))
	context, next := defined.front, 0
	for i := range t.Turns {
		turn := &t.Turns[i]
		for ; next < len(t.Messages) && t.Messages[next].Turn <= i; next++ {
			context += m.counter.raw(t.Messages[next].Text)
		}
		said, results := m.counter.raw(turn.Text), int64(0)
		for c := turn.FirstCall; c < turn.FirstCall+turn.NumCalls && c < len(t.Calls); c++ {
			call := &t.Calls[c]
			if call.Origin == trace.OriginCode || call.Origin == trace.OriginMetaTool {
				continue
			}
			said += m.counter.count(call.Tool.Value()) + m.counter.raw(call.Args)
			if defined.results[c] {
				continue
			}
			results += m.counter.raw(call.Result)
			if call.Result.IsZero() {
				results += m.counter.raw(call.Error)
			}
		}
		out[i] = countedTurn{input: context, said: said, output: said + m.counter.raw(turn.Thought)}
		if defined.found != nil {
			out[i].input += defined.found[i]
		}
		context += said + results
	}
	return out
}

// tokens32 is a count as an Account keeps it; what is no count of tokens that any
// model takes is cut.
func tokens32(n int64) int32 { return int32(min(max(n, 0), 1<<30)) }

// ModelPrice is a model that was met with a price that was used for it, nil if
// there is none.
type ModelPrice struct {
	Model string
	Price *Price
}

// Models returns the models met with their prices, by name: one that has several
// prices over time stands several times.
func (m *Meter) Models() []ModelPrice {
	type pair struct{ model, price int32 }
	var pairs []pair
	for key, price := range m.priced {
		pairs = append(pairs, pair{key.model, price})
	}
	slices.SortFunc(pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(m.models[x.model], m.models[y.model]), cmp.Compare(x.price, y.price))
	})
	var out []ModelPrice
	for _, p := range slices.Compact(pairs) {
		out = append(out, ModelPrice{m.models[p.model], m.prices[p.price]})
	}
	return out
}
