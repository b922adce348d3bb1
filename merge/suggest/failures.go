package suggest

import (
	"fmt"

	"github.com/awo-dev/awo/internal/failure"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// minFailures is how many results of a tool have to fit a pattern for failures.
const minFailures = 2

// failureFacts are the results of one tool.
type failureFacts struct {
	results int
	fitting map[*failure.Pattern]int
	known   map[*failure.Pattern]int // of those, recorded as failed
	ok      map[*failure.Pattern]int // of those, recorded as a success
}

// statusCandidates proposes to read failures from results, one rule a pattern, and
// gives the calls that fail by them that status. A pattern that nearly all results
// of a tool fit says nothing about failing.
func (s *Suggester) statusCandidates() (found []candidate, left []Rejected) {
	facts := map[trace.Name]*failureFacts{}
	var order []trace.Name
	for i := range s.kept {
		run := &s.kept[i]
		for c := range run.Calls {
			call := &run.Calls[c]
			if run.names[c] == dropped || !call.HasResult {
				continue
			}
			f := facts[run.names[c]]
			if f == nil {
				f = &failureFacts{fitting: map[*failure.Pattern]int{}, known: map[*failure.Pattern]int{}, ok: map[*failure.Pattern]int{}}
				facts[run.names[c]] = f
				order = append(order, run.names[c])
			}
			f.results++
			if p := run.failing[c]; p != nil {
				f.fitting[p]++
				switch call.Status {
				case trace.StatusFailed:
					f.known[p]++
				case trace.StatusOK:
					f.ok[p]++
				}
			}
		}
	}
	type told struct {
		tool trace.Name
		by   *failure.Pattern
	}
	taken := map[told]bool{}
	for i := range failure.Patterns {
		p := &failure.Patterns[i]
		rule := rules.Rule{Kind: rules.KindStatus, Failure: p.Name, Is: "failed"}
		c := candidate{rule: &rule, stem: "failed-" + p.Name, basis: p.Doc}
		for _, name := range order {
			f := facts[name]
			fresh := f.fitting[p] - f.known[p] // the traces do not say it already
			one := c
			one.pro, one.against = fresh-f.ok[p], f.ok[p]
			tool := s.tool(name)
			one.tools = []*toolFacts{tool}
			own := rule
			own.Match.Tools = []rules.Glob{rules.Glob(name.Value())}
			one.rule = &own
			switch {
			case fresh == 0 || !tool.nameable():
			case f.fitting[p] < minFailures:
				left = append(left, rejected(one, fmt.Sprintf("%d of %d results fits it", f.fitting[p], f.results)))
			case f.results >= 10 && 10*f.fitting[p] > 9*f.results:
				left = append(left, rejected(one, fmt.Sprintf("%d of %d results fit it: so nearly all can hardly be failures", f.fitting[p], f.results)))
			case one.against > 0 && float64(one.against) > s.options.Tolerance*float64(one.pro+one.against):
				left = append(left, rejected(one, fmt.Sprintf("%d of %d results that fit it are recorded as a success", f.ok[p], f.fitting[p])))
			default:
				c.rule.Match.Tools = append(c.rule.Match.Tools, own.Match.Tools...)
				c.tools = append(c.tools, tool)
				c.pro, c.against = c.pro+one.pro, c.against+one.against
				c.of += f.results
				taken[told{name, p}] = true
			}
		}
		if len(c.tools) > 0 {
			found = append(found, c)
		}
	}
	for i := range s.kept {
		run := &s.kept[i]
		for c := range run.Calls {
			if taken[told{run.names[c], run.failing[c]}] {
				run.Calls[c].Status = trace.StatusFailed
			}
		}
	}
	return found, left
}

// minRenamed is how many command lines a rule has to give another name.
const minRenamed = 5

// programCandidates proposes to call command lines after the program that they run,
// if it only reads.
func (s *Suggester) programCandidates() []candidate {
	var found []candidate
	for _, r := range s.programs {
		rule := *r
		counts, names, order := s.renamed(&rule)
		rule.Match.Tools = nil
		c := candidate{rule: &rule, stem: r.ID, basis: "command lines that only read"}
		for _, tool := range order {
			if counts[tool] >= minRenamed {
				rule.Match.Tools = append(rule.Match.Tools, rules.Glob(tool.Value()))
				c.pro += counts[tool]
			}
		}
		c.names = names
		for name, tool := range names {
			if counts[tool] < minRenamed {
				delete(names, name)
			}
		}
		if len(rule.Match.Tools) > 0 {
			found = append(found, c)
		}
	}
	return found
}

// prepare proposes what comes before all other rules, names and failures, and
// collects the facts about what they leave.
func (s *Suggester) prepare() (renames, statuses []candidate, left []Rejected) {
	renames = s.programCandidates()
	for _, c := range s.addressCandidates() {
		_, c.names, _ = s.renamed(c.rule)
		renames = append(renames, c)
	}
	prepared := &rules.Set{}
	for _, r := range s.base.Rules {
		if r.Kind == rules.KindDrop || r.Kind == rules.KindRename {
			prepared.Rules = append(prepared.Rules, r)
		}
	}
	for i := range renames {
		prepared.Rules = append(prepared.Rules, renames[i].rule)
	}
	s.rename(prepared)
	s.markRenamed(renames)
	statuses, left = s.statusCandidates()
	s.collect()
	return renames, statuses, left
}
