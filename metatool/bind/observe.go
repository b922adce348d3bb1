package bind

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/dataflow/uses"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/trace"
)

// Observation is what one trajectory shows about the candidates that occur in it.
type Observation struct {
	task        string
	trajectory  int
	occurrences []occurrenceSeen
}

// occurrenceSeen is one occurrence of a candidate.
type occurrenceSeen struct {
	plan  int
	steps []stepSeen
	// needed are pairs of a step and of the later step that took an argument from
	// its result; len(steps) stands for calls after the occurrence.
	needed [][2]int
}

type stepSeen struct {
	otherTool bool // a call of another tool than the step's
	inserted  bool
	folded    bool
	noObject  bool // arguments that are no object
	missing   bool // arguments that were not recorded
	walked    walkSeen
	args      []argumentSeen
	result    trace.Value // of a single call that was answered
	answered  bool
	uses      useSeen
}

// walkSeen is how a fan-out step walked its list.
type walkSeen struct {
	inside bool // every call is one of those that walking the list makes
	whole  bool // and the calls are all of these, in order
	extra  int  // calls that walking the whole list makes beyond these
}

// argumentSeen is one argument of the calls of a step.
type argumentSeen struct {
	name    string
	present bool // some call has it
	absent  bool // some call does not
	varies  bool // the calls have it with different values
	value   trace.Value
	hash    uint64
	told    bool // a message or a result held it before its call
	known   int  // the first step before which it was known, beyond the step itself if none
	votes   []vote
	opens   []*openSeen
}

// vote is what an option gives where a value was recorded.
type vote uint8

const (
	voteNothing vote = iota // no value
	voteAgree
	voteWrong
)

// openSeen is the key that an open filter needs to give the recorded value.
type openSeen struct {
	option int
	key    trace.Value
	known  int
}

// Observe looks at the occurrences of candidates in the trajectory with this
// ordinal. Observe is pure: several may be under way, but of one View.
func (b *Binder) Observe(i int, view *View) *Observation {
	out := &Observation{trajectory: i, task: view.t.TaskKey()}
	v := &viewer{View: view, b: b}
	for _, w := range b.wantsOf(i) {
		at := &b.plans[w.plan].candidate.Occurrences[w.occurrence]
		key := looked{b.Planner, b.plans[w.plan].looks, at.First, counts(at)}
		seen, known := view.seen[key]
		if !known {
			seen = v.occurrence(int(w.plan), at)
			view.seen[key] = seen
		}
		seen.plan = int(w.plan)
		out.occurrences = append(out.occurrences, seen)
	}
	v.findKeys()
	return out
}

// View is one trajectory as binders look at it. What several of them ask of it is worked
// out once.
type View struct {
	t *trace.Trajectory
	f *dataflow.Flow
	// taken are pairs of a call and one whose result it took an argument from by the
	// links of a set, nil until asked for.
	taken   [][2]int
	takenBy *dataflow.Set
	words   *uses.Uses // nil until asked for
	seen    map[looked]occurrenceSeen
	paths   map[string]string // of arguments, by name
}

// looked is what was looked at: an occurrence by plans of a planner that look at the same.
type looked struct {
	planner *Planner
	looks   int
	first   merge.Place
	counts  string
}

// counts returns what tells occurrences apart that begin at one place.
func counts(o *candidate.Occurrence) string {
	var key []byte
	for _, n := range o.Counts {
		key = binary.AppendUvarint(key, uint64(n))
	}
	return string(key)
}

// NewView returns the view of a trajectory, of which f must be the flow.
func NewView(t *trace.Trajectory, f *dataflow.Flow) *View {
	return &View{t: t, f: f, seen: map[looked]occurrenceSeen{}, paths: map[string]string{}}
}

// viewer is the look of one binder.
type viewer struct {
	*View
	b    *Binder
	keys []keySought
}

// said returns what is used where in the trajectory.
func (v *viewer) said() *uses.Uses {
	if v.words == nil {
		v.words = uses.New(v.t, v.f.Arguments)
	}
	return v.words
}

func (v *viewer) arguments(call int) *trace.Value { return v.f.Arguments(call) }

// result returns what a call returned, a string if that is no JSON.
func (v *viewer) result(call int) (trace.Value, bool) {
	if !v.t.Calls[call].HasResult {
		return trace.Value{}, false
	}
	return *v.f.Result(call), true
}

// occurrence is one occurrence under inspection.
type occurrence struct {
	*viewer
	plan    *plan
	calls   [][]int        // by step
	results []*trace.Value // by step: of a walk a list; nil if a call has no result, or several have
}

func (v *viewer) occurrence(number int, at *candidate.Occurrence) occurrenceSeen {
	p := v.b.plans[number]
	o := &occurrence{viewer: v, plan: p, calls: make([][]int, len(p.steps)), results: make([]*trace.Value, len(p.steps))}
	out := occurrenceSeen{plan: number, steps: make([]stepSeen, len(p.steps))}
	place := at.First
	for k := range p.steps {
		s := &out.steps[k]
		for range at.Count(k) {
			first, _, n := v.b.merged.Walks.Calls(place)
			s.inserted = s.inserted || n == 0
			s.folded = s.folded || n > 1
			if n > 0 && first < len(v.t.Calls) {
				o.calls[k] = append(o.calls[k], first)
			}
			place++
		}
		if len(o.calls[k]) == 1 {
			if result, ok := v.result(o.calls[k][0]); ok {
				o.results[k] = &result
				s.result, s.answered = result, v.t.Calls[o.calls[k][0]].Status != trace.StatusFailed
			}
		}
	}
	for k := range p.steps {
		if p.steps[k].walk != nil {
			o.results[k] = o.listed(k)
		}
	}
	for k := range p.steps {
		o.step(k, &out.steps[k])
	}
	out.needed = o.needed()
	o.findUses(out.steps)
	return out
}

// listed returns the results of all calls of a walk, nil if one has none.
func (o *occurrence) listed(k int) *trace.Value {
	list := trace.Value{Kind: trace.Array}
	for _, c := range o.calls[k] {
		result, ok := o.result(c)
		if !ok {
			return nil
		}
		list.Elems = append(list.Elems, result)
	}
	return &list
}

// step looks at the arguments of a step.
func (o *occurrence) step(k int, s *stepSeen) {
	p := &o.plan.steps[k]
	var names []string
	for _, c := range o.calls[k] {
		call := &o.t.Calls[c]
		s.otherTool = s.otherTool || call.Tool != p.tool
		s.missing = s.missing || call.ArgsMissing()
		for _, m := range o.arguments(c).Members {
			s.noObject = s.noObject || m.Name == "_raw" || m.Name == "_value"
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names[:min(len(names), maxArguments+1)] {
		s.args = append(s.args, o.argument(k, name))
	}
	if p.walk != nil && p.walk.from >= 0 {
		s.walked = o.walk(k)
	}
	// What an option gives where the argument was left out counts, too.
	for _, name := range p.named {
		if _, seen := slices.BinarySearch(names, name); !seen {
			s.args = append(s.args, o.argument(k, name))
		}
	}
	slices.SortFunc(s.args, func(a, b argumentSeen) int { return cmp.Compare(a.name, b.name) })
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (o *occurrence) argument(k int, name string) argumentSeen {
	a := argumentSeen{name: name}
	p := &o.plan.steps[k]
	isWalked := p.walk != nil && p.walk.argument == name
	for _, c := range o.calls[k] {
		value, ok := o.arguments(c).Lookup(name)
		if !ok {
			a.absent = true
			continue
		}
		h := jsonvalue.Hash(&value)
		a.varies = a.varies || a.present && h != a.hash
		a.value, a.hash, a.present = value, h, true
	}
	if a.present {
		uses := o.uses(k, name)
		a.known = o.knownFrom(k, uses, p.inside[name])
		a.told = slices.ContainsFunc(uses, func(u *dataflow.Use) bool { return o.f.ToldBefore(u, u.Call) })
	}
	if isWalked {
		return a
	}
	a.votes = make([]vote, len(p.options[name]))
	for i := range p.options[name] {
		option := &p.options[name][i]
		if option.Choice.Kind == dataflow.ByOpen {
			o.open(k, &a, i, option)
			continue
		}
		a.votes[i] = o.vote(k, name, option)
	}
	return a
}

// uses returns the leaves of an argument in all calls of a step.
func (o *occurrence) uses(k int, name string) []*dataflow.Use {
	prefix, ok := o.paths[name]
	if !ok {
		prefix = jsonpath.Path{{Kind: jsonpath.Member, Name: name}}.String()
		o.paths[name] = prefix
	}
	var uses []*dataflow.Use
	for _, c := range o.calls[k] {
		first := sort.Search(len(o.f.Uses), func(i int) bool { return o.f.Uses[i].Call >= c })
		for i := first; i < len(o.f.Uses) && o.f.Uses[i].Call == c; i++ {
			u := &o.f.Uses[i]
			rest, ok := strings.CutPrefix(o.f.Slots[u.Param].Path, prefix)
			if ok && !u.Whole && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				uses = append(uses, u)
			}
		}
	}
	return uses
}

// knownFrom returns the first step such that what an argument holds was known
// before the turn of its call, or k+1 if there is none.
func (o *occurrence) knownFrom(k int, uses []*dataflow.Use, inside bool) int {
	enums := o.b.enums
	if inside {
		enums = dataflow.Enums{}
	}
	return o.firstKnown(k, func(call int) bool {
		for _, u := range uses {
			if !o.f.KnownBefore(u, call, enums) {
				return false
			}
		}
		return len(uses) > 0
	})
}

// firstKnown returns the first step for whose call known holds, k+1 if there is
// none up to k. What is known once stays known.
func (o *occurrence) firstKnown(k int, known func(call int) bool) int {
	return firstKnown(o.calls[:k+1], known)
}

func firstKnown(calls [][]int, known func(call int) bool) int {
	return sort.Search(len(calls), func(a int) bool { return len(calls[a]) > 0 && known(calls[a][0]) })
}

// needed returns which results of the occurrence later calls took arguments from.
func (o *occurrence) needed() [][2]int {
	if o.takenBy != o.b.set {
		o.taken, o.takenBy = taken(o.b.set, o.f), o.b.set
	}
	step := map[int]int{}
	for k, calls := range o.calls {
		for _, c := range calls {
			step[c] = k
		}
	}
	var pairs [][2]int
	for _, t := range o.taken {
		from, inside := step[t[1]]
		if !inside {
			continue
		}
		to, inside := step[t[0]]
		if !inside {
			to = len(o.calls)
		}
		if to > from {
			pairs = append(pairs, [2]int{from, to})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return slices.Compact(pairs)
}

// taken returns the pairs of a call and an earlier one whose result gave it an
// argument, by the best accepted link.
func taken(set *dataflow.Set, f *dataflow.Flow) [][2]int {
	var pairs [][2]int
	for i := range f.Uses {
		u := &f.Uses[i]
		source, _ := set.Best(f, u, 0)
		if source != nil && f.Slots[source.Slot].Side == dataflow.Output {
			pairs = append(pairs, [2]int{u.Call, source.Call})
		}
	}
	return pairs
}
