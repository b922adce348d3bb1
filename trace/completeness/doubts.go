package completeness

import "fmt"

// Doubt is a reason not to trust counts: something in the traces that is usually
// read wrong, or was recorded wrong, and that no problem has stopped.
type Doubt struct {
	Code    string  `json:"code"`
	Count   int     `json:"count"`
	Of      int     `json:"of"`
	Reason  string  `json:"reason"`
	Share   float64 `json:"share"`   // Count of Of, at most 1
	Affects string  `json:"affects"` // what is wrong by as much
	Grave   bool    `json:"grave"`   // the share is not small: do not trust what it affects
}

// Codes of doubts.
const (
	DoubtCode    = "calls-by-code"      // many calls are said to be made by a program
	DoubtOrphans = "results-orphaned"   // results whose call was not read
	DoubtEmpty   = "texts-empty"        // messages of the user without text
	DoubtUnread  = "messages-unread"    // messages, calls or content that were not understood
	DoubtUsage   = "usage-repeated"     // turns with the token counts of the turn before
	DoubtDivided = "trajectories-split" // histories that were not joined
	DoubtNoCalls = "calls-missing"      // tools were offered, and no call was read
	DoubtLost    = "calls-unread"       // what looks like calls was not read
)

// graveShare is the share from which on a doubt is grave: below it the figures that it
// affects are off by less than what most of them are uncertain by anyway.
const graveShare = 0.02

// affected says what a doubt makes wrong.
var affected = map[string]string{
	DoubtCode:    "everything that counts or orders the model's calls",
	DoubtOrphans: "error rates, and where arguments come from",
	DoubtEmpty:   "which trajectories are of one task",
	DoubtUnread:  "calls, turns and texts, which may be too few",
	DoubtUsage:   "tokens and money, which may be counted twice",
	DoubtDivided: "the number and the length of trajectories",
	DoubtNoCalls: "everything that counts calls",
	DoubtLost:    "everything that counts or orders calls, which are too few",
}

// codeShare is the share of calls by a program from which on they are doubted.
const codeShare = 0.25

// fewRepeated is how many turns may have the token counts of the turn before them by
// chance.
const fewRepeated = 10

// unreadCodes are the anomalies of what was left out because it was not understood.
var unreadCodes = []string{"content-unknown", "message-role", "message-shape", "call-unnamed", "format-unknown"}

// splitCodes are the anomalies of trajectories that may belong together.
var splitCodes = []string{"history-forked", "request-apart", "trajectory-divided"}

// Doubts returns what speaks against the counts, in a fixed order.
func (y *Tally) Doubts() []Doubt {
	var out []Doubt
	doubt := func(code string, n, of int, format string, args ...any) {
		if n > 0 {
			share := 1.0
			if n < of {
				share = float64(n) / float64(of)
			}
			out = append(out, Doubt{code, n, max(n, of), fmt.Sprintf(format, args...), share, affected[code], share >= graveShare})
		}
	}
	sum := func(codes []string) (n int) {
		for _, code := range codes {
			n += y.Problems.ByCode[code]
		}
		return n
	}
	all := y.Calls + y.OtherCalls
	if all == 0 {
		doubt(DoubtNoCalls, y.Offered, y.Trajectories, "trajectories list tools, and no call was read")
	}
	unread := y.Problems.ByCode["calls-unread"]
	doubt(DoubtLost, unread, all+unread, "calls stand under a name or in a form that is not known, and were not read")
	if float64(y.CodeCalls) >= codeShare*float64(all) {
		doubt(DoubtCode, y.CodeCalls, all, "calls are read as made by a program and not by a model")
	}
	doubt(DoubtOrphans, y.OrphanResults, y.OrphanResults+y.Calls-y.WithoutResult, "results answer no call that was read")
	doubt(DoubtUnread, sum(unreadCodes), y.LLMTurns+y.UserMessages, "messages or calls were not understood")
	doubt(DoubtEmpty, y.EmptyTexts, y.UserMessages, "messages of the user have no text")
	doubt(DoubtDivided, sum(splitCodes), y.Trajectories, "trajectories may be pieces of others")
	if 2*y.UsageRepeated > y.TurnsUsage && y.UsageRepeated >= fewRepeated {
		doubt(DoubtUsage, y.UsageRepeated, y.TurnsUsage, "turns have the token counts of the turn before them")
	}
	return out
}
