package cost

import "github.com/awo-dev/awo/internal/stat"

// Totals is what turns cost. Counts of tokens are exact for recorded turns.
type Totals struct {
	Turns     int     `json:"turns"`
	Estimated int     `json:"estimated_turns"`     // turns of these whose tokens are counted or fitted
	Unpriced  int     `json:"unpriced_turns"`      // turns of these without a price: in the tokens, not in USD
	Input     int64   `json:"input_tokens"`        // Cached and Write included
	Cached    int64   `json:"cached_input_tokens"` // read from a cache
	Write     int64   `json:"cache_write_tokens"`
	Output    int64   `json:"output_tokens"`
	USD       float64 `json:"-"` // at list prices

	// Paid is what was recorded as paid where it was recorded, else the list price, turn
	// by turn; Unpaid turns have neither. Where other turns or definitions are looked at,
	// what is recorded changes as the list price does.
	Paid   float64 `json:"-"`
	Unpaid int     `json:"turns_without_cost"` // in the tokens, not in Paid
}

// Fresh returns the input tokens that no cache holds and none takes.
func (t Totals) Fresh() int64 { return t.Input - t.Cached - t.Write }

// Tokens returns the tokens of input and output.
func (t Totals) Tokens() int64 { return t.Input + t.Output }

// Reasons for figures that are not known.
const (
	NoPrice = "no price is known for the model, or no model is recorded: see --prices"
	NoTurns = "the traces record no model turns"
)

// Money returns what the turns with a price cost, null where none has any.
func (t Totals) Money() stat.Figure {
	if t.Turns == 0 {
		return stat.Unknown(NoTurns)
	}
	return money(t.USD, t.Unpriced < t.Turns)
}

// PaidMoney returns what was paid for the turns, null where nothing is known of any.
func (t Totals) PaidMoney() stat.Figure {
	if t.Turns == 0 {
		return stat.Unknown(NoTurns)
	}
	return money(t.Paid, t.Unpaid < t.Turns)
}

// money is an amount where there is a price.
func money(usd float64, priced bool) stat.Figure {
	if !priced {
		return stat.Unknown(NoPrice)
	}
	return stat.Known(usd)
}

// Add adds o.
func (t *Totals) Add(o Totals) {
	t.Turns += o.Turns
	t.Estimated += o.Estimated
	t.Unpriced += o.Unpriced
	t.Input += o.Input
	t.Cached += o.Cached
	t.Write += o.Write
	t.Output += o.Output
	t.USD += o.USD
	t.Paid += o.Paid
	t.Unpaid += o.Unpaid
}

// Less returns t less o: what is saved where o is what is left.
func (t Totals) Less(o Totals) Totals {
	return Totals{
		t.Turns - o.Turns, t.Estimated - o.Estimated, t.Unpriced - o.Unpriced,
		t.Input - o.Input, t.Cached - o.Cached, t.Write - o.Write, t.Output - o.Output, t.USD - o.USD,
		t.Paid - o.Paid, t.Unpaid - o.Unpaid,
	}
}

// one returns the totals of a single turn.
func (t *Turn) one(p *Price) Totals {
	out := Totals{Turns: 1, Input: int64(t.Input), Cached: int64(t.Cached), Write: int64(t.Write), Output: int64(t.Output)}
	if t.Source != Recorded {
		out.Estimated = 1
	}
	if p == nil {
		out.Unpriced = 1
	} else {
		out.USD = p.USD(out.Fresh(), out.Cached, out.Write, out.Output) + p.forAnHour(float64(out.Write)*float64(t.Hour))
	}
	switch {
	case t.paid == 0 && p == nil:
		out.Unpaid = 1
	case t.paid == 0:
		out.Paid = out.USD
	case t.byTokens:
		out.Paid = float64(out.Tokens()) * (t.paid - 1)
	default:
		out.Paid = out.USD * (t.paid - 1)
	}
	return out
}

// pay notes what a turn is recorded to have cost, at its price p.
func (t *Turn) pay(usd float64, p *Price) {
	t.paid = 0
	one := t.one(p)
	switch t.byTokens = one.USD == 0; {
	case !t.byTokens:
		t.paid = 1 + usd/one.USD
	case one.Tokens() > 0:
		t.paid = 1 + usd/float64(one.Tokens())
	}
}

// Total returns what the whole trajectory cost.
func (a *Account) Total() Totals {
	var sum Totals
	for i := range a.Turns {
		sum.Add(a.Turn(i))
	}
	return sum
}

// Turn returns what turn i cost.
func (a *Account) Turn(i int) Totals { return a.Turns[i].one(a.Price(i)) }
