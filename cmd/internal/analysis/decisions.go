package analysis

import (
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// decisions counts what the model decides in its turns: NaviAgent's actions (arXiv
// 2506.19500, section 3.1), as far as recordings show them. Whether a text asks
// the user back or answers is not recorded, so that both are one row.
type decisions struct {
	turns  int
	shares [len(decisionNames)]stat.RunningShare
}

// decision is what one turn does.
type decision int

const (
	decisionCall decision = iota
	decisionCalls
	decisionReply
	decisionEnd
	decisionText
)

var decisionNames = [...]string{
	decisionCall:  "one call",
	decisionCalls: "several calls",
	decisionReply: "text that the user replies to",
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
		counts[decisionOf(calls[i], replied[i], i == len(calls)-1)]++
	}
	d.turns += len(calls)
	for i := range d.shares {
		d.shares[i].Add(counts[i], len(calls))
	}
}

func decisionOf(calls int, replied, last bool) decision {
	switch {
	case calls > 1:
		return decisionCalls
	case calls == 1:
		return decisionCall
	case replied:
		return decisionReply
	case last:
		return decisionEnd
	}
	return decisionText
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
	table.Note("Intervals are over trajectories. Recordings do not say whether a text asks the user back or answers, nor what the model looked up before it called.")
	return table
}
