package completeness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
)

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
	First   string  `json:"first"`   // where the first trajectory with it begins, "" if that is not known
	Next    string  `json:"next"`    // what to do about it
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
	DoubtSum     = "usage-sum"          // token counts that do not add up to the total beside them
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
	DoubtSum:     "tokens and money",
}

// draftMap is what helps where something was not understood.
const draftMap = "awo inspect --draft-map drafts a map that says what it means; read the traces with it (--map)"

// nexts say what to do about a doubt.
var nexts = map[string]string{
	DoubtUnread:  draftMap,
	DoubtLost:    draftMap,
	DoubtNoCalls: draftMap,
	DoubtOrphans: "read the files of a session together, or the whole file",
	DoubtDivided: "read the files of a session together, or raise --max-record",
	DoubtUsage:   "look for copies of the same responses among the files",
	DoubtSum:     "compare the counts of that response with the provider's bill",
}

// codeShare is the share of calls by a program from which on they are doubted.
const codeShare = 0.25

// fewRepeated is how many turns may have the token counts of the turn before them by
// chance.
const fewRepeated = 10

// unreadCodes are the anomalies of what was left out because it was not understood.
var unreadCodes = []string{"content-unknown", "message-role", "message-shape", "call-unnamed", "format-unknown"}

// splitCodes are the anomalies of trajectories that may belong together.
var splitCodes = []string{"history-forked", "request-apart", "trajectory-divided", "steps-missing"}

// anomaliesOf are the anomalies that a doubt rests on.
var anomaliesOf = map[string][]string{
	DoubtUnread: unreadCodes, DoubtDivided: splitCodes, DoubtLost: {"calls-unread"}, DoubtOrphans: {trace.CodeOrphanResult}, DoubtSum: {DoubtSum},
}

// firstOf returns where the first trajectory with an anomaly of some codes begins, "" if
// there is none.
func (y *Tally) firstOf(codes []string) string {
	first, found := diag.Pos{}, false
	for _, code := range codes {
		if pos, ok := y.first[code]; ok && (!found || pos.Compare(first) < 0) {
			first, found = pos, true
		}
	}
	if !found {
		return ""
	}
	return first.String()
}

// unreadShown is how many names of what was not understood are told.
const unreadShown = 3

// unreadNames returns what was not understood most often, in brackets.
func (y *Tally) unreadNames() string {
	names := slices.SortedFunc(maps.Keys(y.unread), func(a, b string) int { return cmp.Or(cmp.Compare(y.unread[b], y.unread[a]), cmp.Compare(a, b)) })
	if len(names) == 0 {
		return ""
	}
	var parts []string
	for _, name := range names[:min(len(names), unreadShown)] {
		parts = append(parts, fmt.Sprintf("%s: %d", name, y.unread[name]))
	}
	if more := len(names) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d others", more))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Doubts returns what speaks against the counts, in a fixed order.
func (y *Tally) Doubts() []Doubt {
	var out []Doubt
	doubt := func(code string, n, of int, format string, args ...any) {
		if n > 0 {
			share := 1.0
			if n < of {
				share = float64(n) / float64(of)
			}
			out = append(out, Doubt{
				Code: code, Count: n, Of: max(n, of), Reason: fmt.Sprintf(format, args...), Share: share, Affects: affected[code],
				Grave: share >= graveShare, First: y.firstOf(anomaliesOf[code]), Next: nexts[code],
			})
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
	doubt(DoubtUnread, sum(unreadCodes), y.LLMTurns+y.UserMessages, "messages or calls were not understood%s", y.unreadNames())
	doubt(DoubtEmpty, y.EmptyTexts, y.UserMessages, "messages of the user have no text")
	doubt(DoubtDivided, sum(splitCodes), y.Trajectories, "trajectories may be pieces of others")
	doubt(DoubtSum, y.Problems.ByCode[DoubtSum], y.TurnsUsage, "token counts do not add up to the recorded total")
	if 2*y.UsageRepeated > y.TurnsUsage && y.UsageRepeated >= fewRepeated {
		doubt(DoubtUsage, y.UsageRepeated, y.TurnsUsage, "turns have the token counts of the turn before them")
	}
	return out
}
