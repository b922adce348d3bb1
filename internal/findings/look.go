package findings

import (
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// Code is a kind of finding.
type Code string

// The kinds of findings, in the order in which ties are listed.
const (
	Loop     Code = "loop"                // the same call again, with nothing changed between
	Retry    Code = "retry"               // the same call again after it failed
	Failures Code = "failures"            // calls of a tool that fail
	Batch    Code = "sequential-reads"    // independent reads, made in turns of their own
	Tests    Code = "tests-one-by-one"    // runs of tests right after runs of others, by a coding agent
	Silent   Code = "turns-without-calls" // turns of the model that call nothing and answer nobody
	Fields   Code = "unread-fields"       // parts of results that nobody reads

	NoCache     Code = "no-prompt-caching"     // prefixes repeat, and no turn reads from a cache
	BrokenCache Code = "broken-prompt-caching" // a cache is on, and turns read little from it
)

// Codes are all kinds of findings.
var Codes = []Code{NoCache, BrokenCache, Loop, Retry, Failures, Batch, Tests, Silent, Fields}

// Looker looks for findings in single trajectories. It keeps scratch memory only, and may
// be used by several goroutines; the zero value is ready.
type Looker struct {
	// Fields has it look for fields of results that nobody reads, which takes as long as
	// reading all results.
	Fields bool

	collector dataflow.Collector
}

// Seen is what a Looker saw in one trajectory.
type Seen struct {
	hits   []hit
	tools  []toolCount // of the model's calls, in order of first appearance
	turns  int
	silent int  // turns that call nothing and answer nobody
	called int  // turns with a call
	coding bool // it is a coding agent's
	fields []field
}

// hit is the calls of one kind and tool in a trajectory.
type hit struct {
	code  Code
	tool  trace.Name // the zero Name for all tools
	count int
	good  int         // of retries: those that did not fail again
	codes []int       // of failures: codes of HTTP, each as often as it was met
	words []string    // of failures: what they were read from, likewise
	turns []int       // that there would be without, in order
	by    []toolCount // of a batch: the tools of its calls
}

type toolCount struct {
	tool  trace.Name
	calls int
}

// Look returns what there is to see in t, whose calls have the statuses that are known
// of them. marks are those of its calls under rules, and may be nil. Only calls of the
// model count. The result depends on t and marks alone, and holds nothing of t.
func (l *Looker) Look(t *trace.Trajectory, marks []merge.Mark) *Seen {
	s := &Seen{turns: len(t.Turns)}
	for i := range t.Turns {
		if t.Turns[i].NumCalls > 0 {
			s.called++
		}
	}
	repeats, retries := merge.Again(t, marks)
	index := map[hitKey]int{}
	at := func(code Code, tool trace.Name) *hit {
		key := hitKey{code, tool}
		i, ok := index[key]
		if !ok {
			i = len(s.hits)
			index[key] = i
			s.hits = append(s.hits, hit{code: code, tool: tool})
		}
		return &s.hits[i]
	}
	var tools trace.Numbering[trace.Name]
	kinds := make([][3]bool, len(t.Calls)) // by call: loop, retry, failure
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel {
			continue
		}
		n := tools.Number(c.Tool)
		if int(n) == len(s.tools) {
			s.tools = append(s.tools, toolCount{tool: c.Tool})
		}
		if c.HasResult || c.Status != trace.StatusUnknown {
			s.tools[n].calls++
		}
		if repeats[i] >= 0 {
			kinds[i][0] = true
			at(Loop, c.Tool).count++
		}
		if retries[i] >= 0 {
			kinds[i][1] = true
			h := at(Retry, c.Tool)
			h.count++
			if c.Status != trace.StatusFailed {
				h.good++
			}
		}
		if c.Status == trace.StatusFailed {
			kinds[i][2] = true
			h := at(Failures, c.Tool)
			h.count++
			h.codes = append(h.codes, codeOf(c))
			h.words = append(h.words, c.StatusFrom)
		}
	}
	for k, code := range []Code{Loop, Retry, Failures} {
		wholeTurns(t, func(call int) bool { return kinds[call][k] }, func(turn, first int) {
			h := at(code, t.Calls[first].Tool)
			h.turns = append(h.turns, turn)
		})
	}
	l.lookForBatches(t, marks, s)
	if s.coding = isCoding(t); s.coding {
		s.lookForTests(t, repeats, retries)
	}
	s.lookForSilence(t)
	if l.Fields {
		l.lookForFields(t, s)
	}
	return s
}

type hitKey struct {
	code Code
	tool trace.Name
}

// wholeTurns calls do with the turns all of whose calls are something, and the first of
// these calls.
func wholeTurns(t *trace.Trajectory, is func(call int) bool, do func(turn, first int)) {
	for i := range t.Turns {
		turn := &t.Turns[i]
		all := turn.NumCalls > 0
		for c := turn.FirstCall; all && c < turn.FirstCall+turn.NumCalls; c++ {
			all = is(c)
		}
		if all {
			do(i, turn.FirstCall)
		}
	}
}

// lookForBatches finds turns that there would be without if reads that do not need each
// other's results were made in one turn.
func (l *Looker) lookForBatches(t *trace.Trajectory, marks []merge.Mark, s *Seen) {
	h := hit{code: Batch, turns: replay.Independent(t, marks, nil, &l.collector)}
	for _, turn := range h.turns {
		h.by = append(h.by, toolCount{t.Calls[t.Turns[turn].FirstCall].Tool, 1})
	}
	if h.count = len(h.turns); h.count > 0 {
		s.hits = append(s.hits, h)
	}
}

// lookForSilence finds turns without a call after which neither a user speaks nor the
// trajectory ends: they answer nobody.
func (s *Seen) lookForSilence(t *trace.Trajectory) {
	h := hit{code: Silent}
	next := 0
	for i := range t.Turns {
		for next < len(t.Messages) && t.Messages[next].Turn <= i {
			next++
		}
		if t.Turns[i].NumCalls > 0 {
			continue
		}
		if !answered(t, i, next) { // a turn that answers somebody is nothing wrong
			h.turns = append(h.turns, i)
		}
	}
	if h.count = len(h.turns); h.count > 0 {
		s.silent = h.count
		s.hits = append(s.hits, h)
	}
}

// answered reports whether turn i, which calls nothing, is the last or is followed by a
// user message; next is the first message after it.
func answered(t *trace.Trajectory, i, next int) bool {
	if i == len(t.Turns)-1 {
		return true
	}
	for ; next < len(t.Messages) && t.Messages[next].Turn == i+1; next++ {
		if t.Messages[next].Role == trace.RoleUser {
			return true
		}
	}
	return false
}

// codeOf returns the code of HTTP that a failed call returned, 0 if its result names none
// in a place where built-in patterns look.
func codeOf(c *trace.Call) int {
	if code := trace.FailureCode(c.Result); code != 0 {
		return code
	}
	return trace.FailureCode(c.Error)
}
