package learn

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Options say what is known of tools. Reads is required.
type Options struct {
	Reads   func(tool trace.Name) bool // what is known to only read; called concurrently
	Tokens  func(c *trace.Call) int64  // of a call's result; nil: not known
	Links   *dataflow.Set              // of these runs; nil: they are looked for
	Rules   *rules.Set                 // the user's, whose words are public and which allow values; nil for none
	Workers int                        // at once; 0 and 1 are the same

	Credentials map[string]bool // tools of these runs that return credentials; nil: they are looked for
}

// maxOffers is how many offered values a survey keeps, of all rules together.
const maxOffers = 1 << 22

// maxCandidates is how many links are looked at.
const maxCandidates = 1 << 12

// maxName is the length in bytes of the longest names of tools and arguments of a rule.
const maxName = 1024

// Survey is what trajectories say of every rule that could be followed.
type Survey struct {
	candidates []*candidate
	secrets    map[string]bool // reads that return what looks like a credential
	public     *secret.Public
	rules      *rules.Set
	groups     int // of candidates that look for the same values
	reads      []string
	kept       int // offers
	dropped    int // those beyond the bound
}

// candidate is a rule in the making.
type candidate struct {
	rule    prefetch.Rule
	matcher *prefetch.Matcher // of rule, if its values come from messages
	same    int               // candidates with the same number above 0 look for the same values, the most general first; one of them is followed
	votes   votes
	unbound string // an argument that nothing gives; "" for none
	offers  []offer
	answers int // of the source that did not fail
	tokens  tokens
}

// offer is a value that an answer held.
type offer struct {
	task    int32
	run     int32 // trajectory
	message int32 // of the trajectory that holds it, from 1; 0 for an answer
	element int16
	again   bool
	failed  bool // the call before the source's
	used    bool
	stale   bool // asked for later, and changed between
}

// tokens are those of the target's results.
type tokens struct{ calls, sum int64 }

// NewSurvey looks at runs.
func NewSurvey(runs []*corpus.Run, o Options) *Survey {
	s := &Survey{public: publicWords(runs, o.Rules), rules: o.Rules}
	workers := max(o.Workers, 1)
	tools, tasks := map[trace.Name]bool{}, &tasks{}
	for _, r := range runs {
		tasks.number(r.TaskKey())
		for i := range r.Calls {
			tools[r.Calls[i].Tool] = true
		}
	}
	set := o.Links
	if set == nil {
		set = corpus.Links(runs)
	}
	for tool := range tools {
		if tool != (trace.Name{}) && o.Reads(tool) {
			s.reads = append(s.reads, tool.Value())
		}
	}
	slices.Sort(s.reads)
	s.propose(set)
	linked := s.candidates
	trajectories := func(yield func(*trace.Trajectory) bool) {
		for _, r := range runs {
			if !yield(r.Trajectory) {
				return
			}
		}
	}
	for found := range par.Map(workers, trajectories, func(t *trace.Trajectory) []vote { return s.votesOf(read(t, s.isRead), t.TaskKey()) }) {
		for i := range found {
			s.candidates[found[i].candidate].votes.add(&found[i])
		}
	}
	for _, c := range linked {
		s.bind(c)
	}
	s.candidates = slices.DeleteFunc(linked, func(c *candidate) bool { return c.votes.uses == 0 || c.unbound != "" })
	s.proposeSaid(runs, workers)
	s.findTrust(runs)
	if s.secrets = o.Credentials; s.secrets == nil {
		s.secrets = corpus.Credentials(runs)
	}

	for found := range par.Map(workers, trajectories, s.observe) {
		s.keep(&found, tasks)
		s.countTokens(found.t, o.Tokens)
	}
	return s
}

// publicWords returns the words of the definitions that trajectories record, of each tool the
// first, and of the user's own rules.
func publicWords(runs []*corpus.Run, set *rules.Set) *secret.Public {
	return secret.NewPublic(func(yield func(string) bool) {
		known := map[trace.Name]bool{}
		for _, r := range runs {
			for i := range r.Tools {
				if t := &r.Tools[i]; !known[t.Name] {
					known[t.Name] = true
					yield(t.Name.Value() + " " + t.Description.Text() + " " + t.Input.Text())
				}
			}
		}
		set.Own()(yield)
	})
}

func (s *Survey) isRead(tool string) bool {
	_, is := slices.BinarySearch(s.reads, tool)
	return is
}

// propose makes candidates of the links between two tools that read: accepted ones, and
// those whose values are too few to prove anything. Whether these are used decides, as a wrong
// link costs only a read.
func (s *Survey) propose(set *dataflow.Set) {
	for i := range set.Links {
		k := &set.Links[i]
		kind := prefetch.KindResult
		if k.Verdict == dataflow.Constant || k.Verdict == dataflow.FewValues {
			kind = prefetch.KindSame
		} else if k.Verdict != dataflow.Accepted {
			continue
		}
		if k.Relation != dataflow.Equal || k.From.Side != dataflow.Output || k.To.Side != dataflow.Input {
			continue
		}
		from, to := k.From.ToolName(), k.To.ToolName()
		if !s.isRead(from) || !s.isRead(to) || len(s.candidates) == maxCandidates {
			continue
		}
		source, err := jsonpath.Parse(k.From.Path)
		if err != nil || hasOddName(source) {
			continue
		}
		target, err := jsonpath.Parse(k.To.Path)
		if err != nil || len(target) != 1 || target[0].Kind != jsonpath.Member || target[0].Name == "" || max(len(from), len(to), len(target[0].Name)) > maxName {
			continue
		}
		s.candidates = append(s.candidates, &candidate{rule: prefetch.Rule{
			Source: prefetch.Source{Kind: kind, Tool: from, Path: source},
			Target: prefetch.Target{Tool: to, Argument: target[0].Name},
			Depth:  1,
		}})
	}
	slices.SortStableFunc(s.candidates, func(a, b *candidate) int {
		x, y := &a.rule, &b.rule
		return cmp.Or(cmp.Compare(x.Source.Tool, y.Source.Tool), cmp.Compare(x.Source.Path.String(), y.Source.Path.String()),
			cmp.Compare(x.Target.Tool, y.Target.Tool), cmp.Compare(x.Target.Argument, y.Target.Argument))
	})
}

func (s *Survey) countTokens(t *trace.Trajectory, count func(*trace.Call) int64) {
	if count == nil {
		return
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if !c.HasResult || c.Tool == (trace.Name{}) || !s.isRead(c.Tool.Value()) {
			continue
		}
		counted, n := false, int64(0)
		for _, one := range s.candidates {
			if one.rule.Target.Tool != c.Tool.Value() {
				continue
			}
			if !counted {
				counted, n = true, count(c)
			}
			one.tokens.calls++
			one.tokens.sum += n
		}
	}
}
