// Package evidence holds rules against what the traces show: whether calls that
// the rules take for alike returned the same, and whether the next call is
// predicted as well from the states that they make.
//
// Rules and trajectories come in. An [Examiner] gives the [Evidence] for and
// against each rule, with the first counter-examples, which a [Comparer] puts in
// words; a [StateLoss] gives the held-out loss of the next call alone (AWO,
// appendix C.3, leaves open how rules are checked; docs/decisions/0011 says how
// contradictions are charged to rules).
//
// Of the traces it keeps hashes and counts: O(states), O(reads) within bounds,
// and 8 bytes a call. It proposes no rules: package suggest does.
package evidence

import (
	"slices"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// CheckKind is what a check of the rules compares.
type CheckKind uint8

// The checks. In all of them the same read, with the arguments that were
// recorded, has to return the same.
const (
	CheckHistories CheckKind = iota // made from one state by executions with different histories
	CheckRepeated                   // made twice in a row
	CheckUnchanged                  // made twice, with only what changes nothing by the rules between
	numChecks
)

// String returns "histories", "repeated" or "unchanged".
func (k CheckKind) String() string {
	return [...]string{"histories", "repeated", "unchanged"}[k]
}

// Options are the choices of an [Examiner]. The zero value is the
// default.
type Options struct {
	MaxReads  int     // watch at most so many reads, told apart by state and arguments, by task too; 0 means 1<<20
	Tolerance float64 // share of contradictions that may be chance; 0 means 0.01
	Folds     int     // of the held-out loss; 0 means 10
	Seed      uint64  // of the folds
}

// Examiner holds the rules of a set against a stream of trajectories. It is not
// safe for concurrent use.
//
// Histories in one state claim to be alike. So the same read, made from one
// state after different histories, has to return the same; so has a read that
// is made again while, by the rules, nothing was changed. Where it does not,
// one of the rules is wrong without which the two histories would not have been
// one state; and which one is told by how often each of them was in the same
// position while nothing was wrong (see blame).
//
// Calls that return different things after *identical* histories depend on what
// no history shows: another database, the time. They are compared between
// trials of one task only, and not at all if these differ too. For reads that
// were never made twice after one history, what reads of their tool do is
// expected of them and subtracted.
//
// Failed calls prove nothing and are left out. Of calls and results it keeps
// hashes: with u rules that move states, 5u+24 bytes a state, some 120 for a read
// from a state and 4u+64 for each of the at most 4 histories of it that are
// compared, twice that where tasks have several trials; 110 a trajectory and 8 a
// call. MaxReads bounds what grows fastest.
type Examiner struct {
	set     *rules.Set
	options Options

	units   []unit
	full    *merge.View
	points  []merge.Point // of the trajectory being added, before each call
	seeds   hash128.Seeds
	catalog *merge.Catalog
	anyName bool // rules rename or insert calls: any rule may be about any trajectory
	texts   bool // rules ask for the text of results

	now      position // of the trajectory being added
	states   hash128.Table
	first    []uint32 // by state and unit: the key without the unit, of the first history there
	joined   []bool   // by state and unit: another history had another key
	unstored int      // reads beyond MaxReads

	groups   map[hash128.Hash]*readGroup
	inOrder  []*readGroup
	baseline map[hash128.Hash]*baseline // by call, which is all the groups of its tool share
	byTool   map[trace.Name]*baseline
	tallies  map[tallyKey]*tally
	tallied  []*tally // in order of appearance
	needs    needSets

	runs  []Run
	tasks map[string]uint32
	last  map[hash128.Hash]lastRead // of the trajectory being added
	next  nextCalls
}

// Run is a trajectory that was examined.
type Run struct {
	ID   string
	Ref  trace.Ref // to read it again
	task uint32
}

// unit is what is left out to see whether it is needed: a rule, or all rules of
// a kind, for where two rules do the same.
type unit struct {
	rules []*rules.Rule
	view  *merge.View
}

// NewExaminer returns an examiner of the set, which may be nil.
func NewExaminer(set *rules.Set, options Options) *Examiner {
	if set == nil {
		set = &rules.Set{}
	}
	if options.MaxReads <= 0 {
		options.MaxReads = 1 << 20
	}
	if options.Tolerance <= 0 {
		options.Tolerance = 0.01
	}
	e := &Examiner{
		set: set, options: options, catalog: merge.NewCatalog(set), seeds: hash128.NewSeeds(),
		groups: map[hash128.Hash]*readGroup{}, baseline: map[hash128.Hash]*baseline{}, byTool: map[trace.Name]*baseline{},
		tallies: map[tallyKey]*tally{}, tasks: map[string]uint32{}, last: map[hash128.Hash]lastRead{},
	}
	e.texts = set.ReadsResults()
	var moving []*rules.Rule
	for _, r := range set.Rules {
		e.anyName = e.anyName || r.Kind == rules.KindRename || r.Kind == rules.KindInsert
		if r.Kind != rules.KindBarrier && r.Kind != rules.KindPlumbing && r.Kind != rules.KindValues {
			moving = append(moving, r)
			e.units = append(e.units, unit{rules: []*rules.Rule{r}})
		}
	}
	for _, k := range merge.MovingKinds() {
		if same := slices.DeleteFunc(slices.Clone(moving), func(r *rules.Rule) bool { return r.Kind != k }); len(same) > 1 {
			e.units = append(e.units, unit{rules: same})
		}
	}
	limit := max(1<<10, merge.MaxCached/(len(e.units)+1))
	e.full = merge.NewView(set, e.catalog, limit)
	for i := range e.units {
		e.units[i].view = merge.NewView(without(set, e.units[i].rules), nil, limit)
	}
	e.now.keys, e.now.writes = make([][]uint32, len(e.units)), make([][]uint32, len(e.units))
	e.next = newNextCalls()
	return e
}

// without returns the set less some of its rules.
func without(set *rules.Set, less []*rules.Rule) *rules.Set {
	rest := *set
	rest.Rules = slices.DeleteFunc(slices.Clone(set.Rules), func(r *rules.Rule) bool { return slices.Contains(less, r) })
	return &rest
}

// concerns reports whether the unit may change what becomes of the trajectory:
// whether it is about one of its tools.
func (u *unit) concerns(tools []trace.Name) bool {
	for _, r := range u.rules {
		for _, tool := range tools {
			if name := tool.Value(); r.Match.MatchesTool(name) || r.Other != nil && r.Other.MatchesTool(name) {
				return true
			}
		}
	}
	return false
}

// short cuts the keys of a point to 32 bits, which is enough to tell apart two
// histories that are compared.
func short(p merge.Point) (key, writes uint32) {
	return uint32(p.State.Lo ^ p.State.Hi>>32), uint32(p.Writes.Lo ^ p.Writes.Hi>>32)
}

// position is what is known of every place of one trajectory: before each call,
// and at its end.
type position struct {
	keys, writes [][]uint32 // by unit and place
	reads        []bool     // by call: it is a read of the rules that did not fail
}

// look looks at the trajectory with all rules, and without each unit.
func (e *Examiner) look(t *trace.Trajectory) {
	var results []string
	for i := range t.Calls {
		if e.texts {
			results = append(results, t.Calls[i].Result.Text())
		}
	}
	steps, full := e.full.Look(t, results)
	e.points = full
	e.now.reads = append(e.now.reads[:0], make([]bool, len(t.Calls))...)
	for i := range steps {
		if s := &steps[i]; !s.Inserted && s.Calls == 1 && s.Effect() == rules.Accessor && s.Status != trace.StatusFailed {
			e.now.reads[s.FirstCall] = true
		}
	}
	var tools []trace.Name
	for i := range t.Calls {
		if !slices.Contains(tools, t.Calls[i].Tool) {
			tools = append(tools, t.Calls[i].Tool)
		}
	}
	for u := range e.units {
		points := full
		if e.anyName || e.units[u].concerns(tools) {
			_, points = e.units[u].view.Look(t, results)
		}
		keys, writes := e.now.keys[u][:0], e.now.writes[u][:0]
		for _, p := range points {
			k, w := short(p)
			keys, writes = append(keys, k), append(writes, w)
		}
		e.now.keys[u], e.now.writes[u] = keys, writes
	}
}

// Add examines one trajectory, of which hashes are kept.
func (e *Examiner) Add(t *trace.Trajectory) {
	if !merge.Reads(e.set, t) {
		return
	}
	key := t.TaskKey()
	task, known := e.tasks[key]
	if !known {
		task = uint32(len(e.tasks))
		e.tasks[key] = task
	}
	e.runs = append(e.runs, Run{ID: t.ID, Ref: t.Ref, task: task})
	e.look(t)
	clear(e.last)
	e.next.begin(task, key)
	var history hash128.Hash
	var scratch []byte
	for i := range t.Calls {
		call := &t.Calls[i]
		scratch = call.AppendCanonicalArgs(scratch[:0])
		called := hash128.Mix(e.seeds.Text(call.Tool.Value()), e.seeds.Raw(trace.Raw{Data: scratch}))
		state := e.arrive(i)
		if call.Origin == trace.OriginModel {
			e.next.add(state, call.Tool)
			if e.now.reads[i] && call.HasResult {
				e.check(call, i, state, called, history)
			}
		}
		history = hash128.Mix(history, called)
	}
	e.arrive(len(t.Calls))
}

// arrive notes the history before call i in its state, and returns that.
func (e *Examiner) arrive(i int) (state uint32) {
	n, known := e.states.Number(e.points[i].State)
	if known {
		e.join(n, i)
		return n
	}
	for u := range e.units {
		e.first = append(e.first, e.now.keys[u][i])
	}
	e.joined = append(e.joined, make([]bool, len(e.units))...)
	return n
}

// join notes without which units the history before call i would not be in its
// state together with the first one there.
func (e *Examiner) join(state uint32, i int) {
	base := int(state) * len(e.units)
	for u := range e.units {
		if e.first[base+u] != e.now.keys[u][i] {
			e.joined[base+u] = true
		}
	}
}

// Evidence is what an [Examiner] found.
type Evidence struct {
	Set     *rules.Set
	Catalog *merge.Catalog // of the tools that were called, for a Masker

	Trajectories, Calls int // read and examined
	States              int
	Unwatched           int // reads beyond MaxReads

	Checks         [numChecks]int // by CheckKind, those that count
	Contradictions [numChecks]int
	Unstable       int // checks that do not count because the call differs after identical histories
	Baseline       Share
	Unexplained    Share // checks, and contradictions of histories that no rule and no kind of rule alone makes one state

	Rules []RuleEvidence // of every rule, in file order
	Kinds []RuleEvidence // of rules of one kind that only together make states one; only those with checks

	Next ngram.Losses // of the next call: order 0 given nothing, order 1 given the state
	Runs []Run
}

// Share is a count of a whole.
type Share struct{ Of, Count int }

// RuleEvidence is what speaks for and against a rule.
type RuleEvidence struct {
	Rules []*rules.Rule // one, or all of a kind

	Moves  bool // whether rules of its kind make states one at all
	States int  // that hold histories which are in one state by this rule
	Tested int  // of these, states that a check touched

	Checks         int     // of histories that are in one state by this rule
	Contradictions int     // of these, charged to it
	Involved       int     // contradictions that it may have had a part in, charged to it or to another rule
	Expected       float64 // contradictions that the baseline lets expect

	Rate Bound // (Contradictions - Expected)/Checks; not known without checks

	Examples []CounterExample // the first contradictions charged to it
}

// TestedShare returns the share of its states that a check touched; 1 if the
// rule joins none.
func (r *RuleEvidence) TestedShare() float64 {
	if r.States == 0 {
		return 1
	}
	return float64(r.Tested) / float64(r.States)
}

// CounterExample is one contradiction: two calls that should have returned the
// same.
type CounterExample struct {
	Check         CheckKind
	First, Second Knowledge
}

// Knowledge is a call of a run.
type Knowledge struct {
	Run  int // index into Evidence.Runs
	Call int // index into Trajectory.Calls
}
