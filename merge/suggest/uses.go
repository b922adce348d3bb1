package suggest

import (
	"strings"
	"unicode"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// useFacts is what became of the results of one tool.
type useFacts struct {
	results int             // that held something which was new
	told    int             // of these, of which something was used later than by the next calls
	tasks   map[string]bool // at most minPlumbingTasks
}

// A result is plumbing if it is only passed on: nothing of it is used but by the next
// chainCalls calls. The exact upper 95 % bound of the share that is used later has to
// be below maxTold.
const (
	chainCalls       = 2
	minPlumbing      = 20 // results
	minPlumbingTasks = 5
	maxTold          = 0.05
	minPlumbingBytes = 200  // smaller results cost too little to be left out
	maxWatchedWords  = 2000 // of one result
)

// watchUses notes for every result whether a word that it brought in was used later
// than by the calls that follow it at once: in arguments or in what the model says.
func (s *Suggester) watchUses(t *trace.Trajectory, task string) {
	if len(t.Turns) == 0 {
		return
	}
	first, used := map[string]int{}, map[string]int{} // by word: the first place, the last use, both as calls made before
	note := func(text string, at int, isUse bool) {
		for word := range words(text) {
			if _, known := first[word]; !known {
				first[word] = at
			}
			if isUse {
				used[word] = max(used[word], at)
			}
		}
	}
	for _, m := range t.Messages {
		note(m.Text.Text(), m.Call, false)
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		at := turn.FirstCall
		if at < len(t.Calls) && at >= 0 {
			note(turn.Text.Text(), at+chainCalls, true) // whoever speaks of it wants it whole
		} else {
			note(turn.Text.Text(), len(t.Calls)+chainCalls, true)
		}
	}
	for i := range t.Calls {
		note(t.Calls[i].Args.Text(), i, true)
	}
	for i := range t.Calls {
		call := &t.Calls[i]
		if call.Origin != trace.OriginModel || !call.HasResult || call.Result.TextLen() < minPlumbingBytes {
			continue
		}
		fresh, told, n := false, false, 0
		for word := range words(call.Result.Text()) {
			if n++; n > maxWatchedWords {
				told = true // too much to be sure
				break
			}
			if at, known := first[word]; known && at <= i {
				continue
			}
			fresh = true
			told = told || used[word] > i+chainCalls
		}
		if !fresh {
			continue
		}
		u := s.uses[call.Tool]
		if u == nil {
			u = &useFacts{tasks: map[string]bool{}}
			s.uses[call.Tool] = u
		}
		u.results++
		if told {
			u.told++
		}
		if len(u.tasks) < minPlumbingTasks {
			u.tasks[task] = true
		}
	}
}

// words yields the words of a text that have at least three characters.
func words(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if len(word) >= 3 && !yield(strings.ToLower(word)) {
				return
			}
		}
	}
}

// plumbingCandidates proposes to leave out results that are only passed on.
func (s *Suggester) plumbingCandidates() []candidate {
	c := candidate{
		stem: "passed-on", basis: "what these results brought in is used by the next two calls or not at all",
		rule: &rules.Rule{Kind: rules.KindPlumbing, Answer: rules.AnswerLeaveOut},
	}
	for _, f := range s.order {
		u := s.uses[f.name]
		if u != nil && f.nameable() && u.results >= minPlumbing && len(u.tasks) >= minPlumbingTasks && stat.Exact(u.told, u.results, stat.DefaultLevel).Hi < maxTold {
			c.rule.Match.Tools = append(c.rule.Match.Tools, rules.Glob(f.name.Value()))
			c.tools = append(c.tools, f)
			c.pro, c.against = c.pro+u.results-u.told, c.against+u.told
		}
	}
	if len(c.tools) == 0 {
		return nil
	}
	return []candidate{c}
}
