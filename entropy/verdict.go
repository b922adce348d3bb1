package entropy

import (
	"fmt"

	"github.com/awo-dev/awo/internal/stat"
)

// Verdict codes are stable: scripts may match on them.
const (
	VerdictEmpty        = "empty"         // no symbols
	VerdictOneSymbol    = "one-symbol"    // nothing to predict
	VerdictInsufficient = "insufficient"  // too few data for any order
	VerdictMemoryless   = "memoryless"    // no order beats the frequencies of the symbols
	VerdictSparse       = "sparse"        // little carries over, and the plug-in pretends otherwise
	VerdictOrder        = "order"         // Order symbols help, more do not
	VerdictOrderOrMore  = "order-or-more" // Order symbols help, more were not tried
	VerdictFixed        = "fixed"         // Order symbols all but decide the next
)

// fixedBits is the held-out loss, in bits a symbol, below which the next symbol
// counts as decided.
const fixedBits = 0.05

// A Verdict says which order the data support. It is made from figures and does
// not repeat their warnings.
type Verdict struct {
	Code     string `json:"code"`
	Order    int    `json:"order"` // -1 where there is none
	Basis    string `json:"basis"` // "held-out", "bic" or ""
	Sentence string `json:"sentence"`
}

// plugIn returns the bits of an order.
func (a *Analysis) plugIn(k int) float64 { return a.Orders[k].Bits.Float() }

// verdict judges by held-out losses where there are any.
func (a *Analysis) verdict() Verdict {
	switch {
	case a.Symbols == 0:
		return Verdict{VerdictEmpty, -1, "", "There are no calls."}
	case a.Distinct == 1:
		return Verdict{VerdictOneSymbol, -1, "", "Every call is of the same tool: there is nothing to predict."}
	case a.HeldOut == nil || a.HeldOut.N == 0:
		return a.verdictByBIC()
	case a.HeldOut.Tasks < stat.MinClusters:
		return Verdict{VerdictInsufficient, -1, "held-out", fmt.Sprintf(
			"%d tasks cannot show what carries over to others; at least %d are needed.", a.HeldOut.Tasks, stat.MinClusters)}
	}
	if k := a.Selection.Supported; k > 0 {
		return a.supportedOrder(k)
	}
	return a.memoryless()
}

func (a *Analysis) verdictByBIC() Verdict {
	k := a.Selection.BIC
	if k < 0 {
		return Verdict{VerdictInsufficient, -1, "", "No trajectory is long enough to compare the orders."}
	}
	v := Verdict{Code: VerdictOrder, Order: k, Basis: "bic"}
	v.Sentence = fmt.Sprintf("BIC prefers order %d; without held-out losses it is not known what carries over to other tasks.", k)
	if k == 0 {
		v.Code = VerdictMemoryless
	}
	return v
}

// supportedOrder says what an order above 0 gains.
func (a *Analysis) supportedOrder(k int) Verdict {
	held := a.HeldOut.Orders
	from, to := held[0].Bits.Float(), held[k].Bits.Float()
	if a.optimistic(k) == k && (from-to)*2 < a.plugIn(0)-a.plugIn(k) {
		return a.sparse(k, k)
	}
	v := Verdict{Code: VerdictOrder, Order: k, Basis: "held-out"}
	last, it := "last call", "it"
	if k > 1 {
		last, it = fmt.Sprintf("last %d calls", k), "them"
	}
	v.Sentence = fmt.Sprintf("The next call depends on the %s: knowing %s lowers the loss on unseen tasks from %.2f to %.2f bits a call",
		last, it, from, to)
	switch {
	case to < fixedBits:
		v.Code = VerdictFixed
		v.Sentence += ", which all but decides it."
	case k == len(held)-1:
		v.Code = VerdictOrderOrMore
		v.Sentence += "; longer contexts were not tried."
	default:
		v.Sentence += "; longer contexts gain no more than chance."
	}
	if j := a.optimistic(k + 1); j > 0 {
		v.Sentence += fmt.Sprintf(" The plug-in's %.2f bits at order %d are sparsity, not habit.", a.plugIn(j), j)
	}
	return v
}

// memoryless says that no order helps.
func (a *Analysis) memoryless() Verdict {
	for j := a.optimistic(1); j > 0; j = a.optimistic(j + 1) {
		if a.plugIn(0)-a.plugIn(j) > optimism {
			return a.sparse(0, j)
		}
	}
	return Verdict{VerdictMemoryless, 0, "held-out", fmt.Sprintf(
		"No context predicts the next call better than how often each tool is used (%.2f bits a call on unseen tasks).",
		a.HeldOut.Orders[0].Bits.Float())}
}

// sparse says that the plug-in of order j pretends to more than carries over.
func (a *Analysis) sparse(k, j int) Verdict {
	held := a.HeldOut.Orders
	v := Verdict{VerdictSparse, k, "held-out", fmt.Sprintf(
		"Little of what came before carries over to other tasks: the plug-in goes from %.2f bits to %.2f at order %d, the loss on unseen tasks from %.2f to %.2f. That is sparsity, not habit.",
		a.plugIn(0), a.plugIn(j), j, held[0].Bits.Float(), held[j].Bits.Float())}
	if most := a.HMax.Float(); held[j].Bits.Float() >= most {
		v.Sentence += fmt.Sprintf(" A uniform guess over all tools costs %.2f bits.", most)
	}
	return v
}

// optimistic returns the first order from k on whose plug-in is more than half a
// bit below its held-out loss, or 0.
func (a *Analysis) optimistic(k int) int {
	for ; k < min(len(a.Orders), len(a.HeldOut.Orders)); k++ {
		if a.HeldOut.Orders[k].Bits.Float()-a.plugIn(k) > optimism {
			return k
		}
	}
	return 0
}
