package dataflow

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// Agreement is how often a rule gives the recorded value where it could be
// applied. Uses whose value is not in the rule's source, but in a nearer result
// by another accepted link, are not among them.
type Agreement struct {
	Uses   int // uses with a source in an earlier turn
	Agree  int // of these, the rule gives the recorded value
	Wilson stat.Proportion
	Exact  float64 // stat.AtLeast(Agree, Uses)
}

// Reads reports whether an argument of an accessor may be bound by the rule:
// a share of at least 0.95 and a Wilson lower bound of at least 0.8.
func (a Agreement) Reads() bool {
	return a.Wilson.Share >= 0.95 && a.Wilson.Interval.Lo >= 0.8
}

// Writes reports whether an argument of a mutator may be bound by the rule: no
// disagreement, and an exact lower bound of at least 0.8 (14 of 14).
func (a Agreement) Writes() bool { return a.Agree == a.Uses && a.Exact >= 0.8 }

// Repeats reports whether an argument of a write that may be repeated without
// harm may be bound by the rule: at least five uses without disagreement.
func (a Agreement) Repeats() bool { return a.Agree == a.Uses && a.Uses >= 5 }

// FanOut is how agents walk the lists of a source: what of each list they used
// before the next. Results that follow one another without a use between them
// are the pages of one list.
type FanOut struct {
	Lists   int // lists of which something was used, or after which something else was
	Whole   int // all elements, in the order of the list
	Prefix  int // the first ones, in the order of the list
	Subset  int // others, or in another order
	Outside int // something that is not in the list
}

// Judgment is what a rule, a link with a choice, is worth over a corpus.
type Judgment struct {
	Link   *Link
	Choice Choice
	Agreement

	// The chance guard on the values that this choice gives; for the kinds that
	// compare a key only, otherwise the verdict is the link's.
	Verdict Verdict
	Trials  int     // trajectories with a use that it could be applied to
	Rate    float64 // share of the values of these (each once a trajectory) that it gives
	Values  int     // different ones that it gives
	Chance  float64
	Log10P  float64

	FanOut *FanOut // with Each
}

// Judge applies links to trajectories, use by use. It is the second pass over a
// corpus: the first one (Links) knows which sources there are, this one how
// often they are right and which element of a list they mean. Its memory is
// that of the rules.
//
// Check may be called from several goroutines, Add by one in the order of the input.
type Judge struct {
	rules   []rule
	byParam map[trace.Name][]int32  // tool -> rules for its parameters
	params  map[trace.Name][]source // tool -> parameters with rules
	sources []source
	byTool  map[toolKey][]int32 // side and tool -> sources
	readers [][]int32           // source -> rules that read it
	stats   []ruleStat
	asked   int // parameters with rules
}

// rule is one link that is judged.
type rule struct {
	link    *Link
	source  int32
	param   int32 // number of the parameter
	to      jsonpath.Path
	choices []ruleChoice
	lists   bool // some choice is about lists
}

type ruleChoice struct {
	Choice
	path jsonpath.Path // with the choice's filter or indices
	from jsonpath.Path // ByArg and ByInput: where the key's value is
	low  int32         // ByInput: source that holds the key's value
}

// source is a place that rules read, or give values to.
type source struct {
	slot   Slot
	path   jsonpath.Path
	number int32 // of parameters with rules
}

// ruleStat is what was counted for a rule.
type ruleStat struct {
	choices []choiceStat
	fan     FanOut
}

type choiceStat struct {
	uses, agree, trials int
	asked, given, right counter
}

// NewJudge returns a judge of the links of s that are accepted, and of those
// that only the chance guard rejects but whose elements a key singles out: a
// list that is the same in every trajectory proves nothing, the element that an
// earlier argument names does.
func NewJudge(s *Set) *Judge {
	j := &Judge{byParam: map[trace.Name][]int32{}, params: map[trace.Name][]source{}, byTool: map[toolKey][]int32{}}
	sources := map[Slot]int32{}
	for i := range s.Links {
		if k := &s.Links[i]; k.worthJudging() {
			j.addRule(k, sources)
		}
	}
	return j
}

func (k *Link) worthJudging() bool {
	if k.From.Side.text() || k.Relation.toText() {
		return false
	}
	if k.Verdict == Accepted {
		return true
	}
	return k.Verdict == Chance && slices.ContainsFunc(k.Choices, func(c Choice) bool { return c.Kind == ByArg || c.Kind == ByInput })
}

func (j *Judge) addRule(k *Link, sources map[Slot]int32) {
	to, err := jsonpath.Parse(k.To.Path)
	if err != nil {
		return // a path beyond the bounds of paths
	}
	from, ok := j.source(k.From, sources)
	if !ok {
		return
	}
	r := rule{link: k, source: from, to: to}
	for _, c := range k.Choices {
		rc := ruleChoice{Choice: c, path: k.Path(c), low: -1}
		switch c.Kind {
		case ByArg:
			if rc.from, err = jsonpath.Parse(c.From.Path); err != nil {
				continue
			}
		case ByInput:
			if rc.low, ok = j.source(c.From, sources); !ok {
				continue
			}
		}
		r.choices = append(r.choices, rc)
		r.lists = r.lists || c.Kind == Each
	}
	if params := j.params[k.To.Tool]; len(params) == 0 || params[len(params)-1].slot != k.To {
		j.params[k.To.Tool] = append(params, source{k.To, to, int32(j.asked)}) // links come by parameter
		j.asked++
	}
	params := j.params[k.To.Tool]
	r.param = params[len(params)-1].number
	id := int32(len(j.rules))
	j.rules = append(j.rules, r)
	j.byParam[k.To.Tool] = append(j.byParam[k.To.Tool], id)
	j.readers[from] = append(j.readers[from], id)
	stat := ruleStat{choices: make([]choiceStat, len(r.choices))}
	for i := range stat.choices {
		c := &stat.choices[i]
		c.asked.limit, c.given.limit, c.right.limit = maxHitValues, maxHitValues, maxHitValues
	}
	j.stats = append(j.stats, stat)
}

func (j *Judge) source(s Slot, sources map[Slot]int32) (int32, bool) {
	if id, ok := sources[s]; ok {
		return id, true
	}
	path, err := jsonpath.Parse(s.Path)
	if err != nil {
		return 0, false
	}
	id := int32(len(j.sources))
	sources[s] = id
	j.sources = append(j.sources, source{slot: s, path: path})
	j.readers = append(j.readers, nil)
	k := toolKey{s.Side, s.Tool}
	j.byTool[k] = append(j.byTool[k], id)
	return id, true
}

// Path returns the path by which a choice reads the source: with the filter of
// a key (open for ByArg, ByInput and ByOpen), with [0] for First, otherwise
// From's.
func (k *Link) Path(c Choice) jsonpath.Path {
	path, err := jsonpath.Parse(k.From.Path)
	if err != nil {
		return nil
	}
	for i := range path {
		if path[i].Kind != jsonpath.Each {
			continue
		}
		switch {
		case c.Kind == First:
			path[i] = jsonpath.Step{Kind: jsonpath.Index}
		case c.Kind == ByConst && i == c.Step:
			path[i] = jsonpath.Step{Kind: jsonpath.Filter, Name: c.Key, Value: c.Const}
		case (c.Kind == ByArg || c.Kind == ByInput || c.Kind == ByOpen) && i == c.Step:
			path[i] = jsonpath.Step{Kind: jsonpath.Filter, Name: c.Key, Open: true}
		}
	}
	return path
}

// Add counts the votes of one trajectory.
func (j *Judge) Add(v *Votes) {
	for i := range v.rules {
		r := &v.rules[i]
		stat := &j.stats[r.rule]
		for c := range r.choices {
			stat.choices[c].add(&r.choices[c])
		}
		for _, list := range r.lists {
			stat.fan.add(list)
		}
	}
}

func (s *choiceStat) add(v *choiceVotes) {
	s.uses += int(v.uses)
	s.agree += int(v.agree)
	if v.uses > 0 {
		s.trials++
	}
	for _, h := range v.asked {
		s.asked.add(h)
	}
	for _, h := range v.given {
		s.given.add(h)
	}
	for _, h := range v.right {
		s.right.add(h)
	}
}

// add counts how one list was walked.
func (f *FanOut) add(w walkedHow) {
	f.Lists++
	switch w {
	case walkedWhole:
		f.Whole++
	case walkedPrefix:
		f.Prefix++
	case walkedSubset:
		f.Subset++
	default:
		f.Outside++
	}
}

// Judgments returns what was counted, by link in the order of the Set, then by
// choice, the plainest first.
func (j *Judge) Judgments() []Judgment {
	var list []Judgment
	for i := range j.rules {
		r := &j.rules[i]
		for c := range r.choices {
			s := &j.stats[i].choices[c]
			one := Judgment{
				Link: r.link, Choice: r.choices[c].Choice, Trials: s.trials, Values: len(s.right.counts),
				Rate: float64(s.right.total) / float64(max(s.asked.total, 1)),
				Agreement: Agreement{
					Uses: s.uses, Agree: s.agree, Wilson: stat.Share(s.agree, s.uses), Exact: stat.AtLeast(s.agree, s.uses),
				},
			}
			one.guard(s, len(r.choices))
			if one.Choice.Kind == Each {
				one.FanOut = &j.stats[i].fan
			}
			list = append(list, one)
		}
	}
	return list
}

// guard gives the verdict on a choice.
func (g *Judgment) guard(s *choiceStat, choices int) {
	g.Verdict = g.Link.Verdict
	if k := g.Choice.Kind; k != ByConst && k != ByArg && k != ByInput {
		g.Chance, g.Log10P = g.Link.Chance, g.Link.Log10P
		return
	}
	g.Chance = chanceOf(&s.asked, &s.given, s.trials)
	g.Log10P = log10Tail(g.Trials, g.Rate, g.Chance)
	switch {
	case s.right.exact() && g.Values < minValues:
		g.Verdict = FewValues
	case g.Log10P >= log10Limit(g.Link.Tried*choices):
		g.Verdict = Chance
	default:
		g.Verdict = Accepted
	}
}

// chanceOf returns q of two counted sets over n trajectories.
func chanceOf(asked, given *counter, n int) float64 {
	if n == 0 {
		return 1
	}
	values := asked.counts.sorted()
	q, all := 0.0, float64(max(asked.total, 1))
	for _, v := range values {
		q += float64(asked.most(v)) / all * float64(given.most(v)) / float64(n)
	}
	q += float64(asked.floor) / all // what is not kept is taken to be given always
	return min(1, q)
}
