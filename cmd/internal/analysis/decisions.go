package analysis

import (
	"regexp"
	"strings"

	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// decisions counts what the model decides in its turns: NaviAgent's actions (arXiv
// 2506.19500, section 3.1), as far as recordings show them.
type decisions struct {
	turns  int
	shares [len(decisionNames)]stat.RunningShare
}

// decision is what one turn does.
type decision int

const (
	decisionCall decision = iota
	decisionCalls
	decisionAsk
	decisionReply
	decisionEnd
	decisionText
)

var decisionNames = [...]string{
	decisionCall:  "one call",
	decisionCalls: "several calls",
	decisionAsk:   "text that asks the user back",
	decisionReply: "other text that the user replies to",
	decisionEnd:   "text that ends the trajectory",
	decisionText:  "text, and goes on by itself",
}

// Add counts the turns of one trajectory. Turns are counted only where they are recorded.
func (d *decisions) Add(t *trace.Trajectory) {
	calls, replied := make([]int, len(t.Turns)), make([]bool, len(t.Turns))
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Origin == trace.OriginModel && c.Turn >= 0 && c.Turn < len(calls) {
			calls[c.Turn]++
		}
	}
	for m := range t.UserMessages() {
		if m.Turn > 0 && m.Turn <= len(replied) {
			replied[m.Turn-1] = true
		}
	}
	var counts [len(decisionNames)]int
	for i := range calls {
		counts[decisionOf(&t.Turns[i], calls[i], replied[i], i == len(calls)-1)]++
	}
	d.turns += len(calls)
	for i := range d.shares {
		d.shares[i].Add(counts[i], len(calls))
	}
}

func decisionOf(turn *trace.Turn, calls int, replied, last bool) decision {
	switch {
	case calls > 1:
		return decisionCalls
	case calls == 1:
		return decisionCall
	case replied && asksBack(turn.Text.Text()):
		return decisionAsk
	case replied:
		return decisionReply
	case last:
		return decisionEnd
	}
	return decisionText
}

// What a sentence says that asks for something, and what makes it no more than an offer.
var (
	asking = regexp.MustCompile(`\?|？|\bplease (provide|confirm|reply|respond|share|specify|choose|tell|send|let me know)|\blet me know (which|how|what|whether|your)|\b(i'll|i will|i|we'll|we) (also |first )?need (your|to (confirm|verify|know|authenticate)|the following|a few)|\breply with|\bonce (you|i have|i've)\b|\bprovide the following`)
	offer  = regexp.MustCompile(`\banything else|\bany (other|more|further)|\bfurther assistance|\bneed (any |more |further )?(help|assistance)|\bfeel free|^\W*if you('d| would)? (like|need|have|want|prefer)`)
	ends   = regexp.MustCompile(`[.!\n]+|[?？]`)
)

// asksBack reports whether a text asks the user for what the model needs to go on: a
// sentence asks, and does not only offer more help. The words are English; of other languages
// the question mark alone tells. A test holds it against labelled turns.
func asksBack(text string) bool {
	text = strings.ToLower(strings.NewReplacer("’", "'", `\n`, "\n").Replace(text)) // answers in JSON have \n
	for from := 0; from < len(text); {
		end := len(text)
		if at := ends.FindStringIndex(text[from:]); at != nil {
			end = from + at[1]
		}
		if sentence := text[from:end]; asking.MatchString(sentence) && !offer.MatchString(sentence) {
			return true
		}
		from = end
	}
	return false
}

// decided is one row of the table.
type decided struct {
	Decision string        `json:"decision"`
	Turns    int           `json:"turns"`
	Share    stat.Estimate `json:"share"`
}

// table shows what the turns decide; nil decisions, those of summaries, give none.
func (d *decisions) table() *report.Table {
	var rows []decided
	if d != nil && d.turns > 0 {
		for i := range d.shares {
			s := &d.shares[i]
			n, _ := s.Counts()
			rows = append(rows, decided{decisionNames[i], n, stat.Estimate{Figure: s.Share(), Interval: s.Interval()}})
		}
	}
	table := report.TableOf("decisions", "What the model does in a turn", rows, []report.Column{
		{Key: "decision"}, {Key: "turns"}, {Key: "share", Title: "of its turns", Unit: "%"},
	}).IfAny()
	table.Note("Intervals are over trajectories. Whether a text asks back is told by English words and question marks, right for nine of ten labelled turns. What the model looked up before it called is not recorded.")
	return table
}
