package backtest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// codeTechniques are what agents save that write a program for several calls: a bracket of
// two replays, from what a program surely could do to what none can do more than.
var codeTechniques = []Technique{
	coding("code", "one program for several calls: the next call is known without the model, and its arguments are bound", true),
	coding("code-upper", "one program for several calls: a bound, as long as all arguments were known or stand in a result", false),
}

func coding(name, doc string, isLower bool) Technique {
	return Technique{Name: name, Doc: doc, Train: func(p *Part) Trained { return p.trainCode(isLower) }}
}

// What a program adds to the output of its turn, in tokens.
const (
	programTokens = 150
	callTokens    = 20
	loopTokens    = 40
)

// programTool is the definition of a tool that runs programs.
const programTool = `run_program: Runs a program in Python, and returns what it prints. The program may call every other tool as an asynchronous function of the same name, with named arguments, which returns the result of the tool as a value. Use it for several calls of which later ones need what earlier ones returned, and for loops over lists; print only what you need. {"type":"object","properties":{"code":{"type":"string","description":"the program"}},"required":["code"]}`

// Limit is why the model has to see what came before a calling turn.
type Limit string

// The limits, in the order in which they are shown.
const (
	LimitDecision Limit = "decision" // which call is next, or what an argument is, is for the model to say
	LimitWrite    Limit = "write"    // a write comes before it
	LimitUnknown  Limit = "unknown"  // the recording lacks the result before it, or its arguments
	LimitBegins   Limit = "begins"   // the user spoke, a call failed or was repeated before it, or nothing came before it
)

// Limits are all limits.
var Limits = []Limit{LimitDecision, LimitWrite, LimitUnknown, LimitBegins}

// Programs are what programs did in trajectories.
type Programs struct {
	Programs, Calls, Loops int
	Extra                  int         // reads that nobody asked for: of walks, and where the usual call did not follow
	WrongWrites            int         // writes that would usually follow and did not: a program must ask before it writes
	Limits                 [4]int      // calling turns that stay, in the order of Limits
	Overhead               cost.Totals // of the programs' texts, in what they cost
}

func (p *Programs) add(o *Programs) {
	p.Programs += o.Programs
	p.Calls += o.Calls
	p.Loops += o.Loops
	p.Extra += o.Extra
	p.WrongWrites += o.WrongWrites
	for i, n := range o.Limits {
		p.Limits[i] += n
	}
	p.Overhead.Add(o.Overhead)
}

// program is calls that one program makes.
type program struct {
	calls  []int
	silent []int        // of calls: those whose results do not come back
	extra  []trace.Name // reads that nobody asked for
	tokens int64        // that its text adds
}

// walk is a loop over a list that a result holds.
type walk struct{ source, slot int }

// followed is what usually comes after two calls.
type followed struct {
	before, last trace.Name
	isFailed     bool
}

// answers stands for a turn that answers in the place of a call.
var answersUser = trace.Name{}

const (
	usualShare = 0.9 // of what follows, so that a program may go on with it
	usualLeast = 10  // times that it must have been seen
	fixedTasks = 5   // in which a parameter must have had one value, and no other
)

// code writes programs as one of the two bounds says. Both bounds learn the same.
type code struct {
	*learntCode
	isLower bool
}

type learntCode struct {
	part       *Part
	links      *dataflow.Set
	usual      map[followed]trace.Name
	fixed      map[dataflow.Slot]uint64
	reads      map[trace.Name]bool  // tools that are known to only read
	means      map[trace.Name]int64 // tokens of results, once they were asked for
	definition int64
	collector  dataflow.Collector
}

// trainCode learns what usually follows, and which parameters never change.
func (p *Part) trainCode(isLower bool) Trained {
	if p.code == nil {
		p.code = &learntCode{part: p, links: p.linked(), usual: p.usual(), fixed: p.fixed(), reads: map[trace.Name]bool{}, means: map[trace.Name]int64{}, definition: p.meter.Text(programTool)}
		for _, r := range p.Runs {
			for i := range r.Calls {
				tool := r.Calls[i].Tool
				if _, known := p.code.reads[tool]; !known {
					p.code.reads[tool] = p.readsOnly(tool)
				}
			}
		}
	}
	return &code{p.code, isLower}
}

// linked returns the links of the training part.
func (p *Part) linked() *dataflow.Set {
	if p.links == nil {
		p.links = corpus.Links(p.Runs)
	}
	return p.links
}

// usual returns what followed two calls in nine of ten cases.
func (p *Part) usual() map[followed]trace.Name {
	counts := map[followed]map[trace.Name]int{}
	for _, r := range p.Runs {
		last := -1
		for i := range r.Calls {
			if r.Calls[i].Origin != trace.OriginModel {
				continue
			}
			if last >= 0 {
				count(counts, contextOf(r.Trajectory, last), nextOf(r.Trajectory, last, i))
			}
			last = i
		}
		if last >= 0 {
			count(counts, contextOf(r.Trajectory, last), answersUser)
		}
	}
	out := map[followed]trace.Name{}
	for context, next := range counts {
		all := 0
		for _, n := range next {
			all += n
		}
		for tool, n := range next {
			if all >= usualLeast && float64(n) >= usualShare*float64(all) {
				out[context] = tool
			}
		}
	}
	return out
}

func count(counts map[followed]map[trace.Name]int, context followed, next trace.Name) {
	if counts[context] == nil {
		counts[context] = map[trace.Name]int{}
	}
	counts[context][next]++
}

// contextOf returns the last two calls of the model up to one of them.
func contextOf(t *trace.Trajectory, call int) followed {
	out := followed{last: t.Calls[call].Tool, isFailed: t.Calls[call].Status == trace.StatusFailed}
	for i := call - 1; i >= 0; i-- {
		if t.Calls[i].Origin == trace.OriginModel {
			out.before = t.Calls[i].Tool
			break
		}
	}
	return out
}

// nextOf returns what came after a call: the next call of the model, or an answer if the model
// answered, or the user spoke, before it.
func nextOf(t *trace.Trajectory, call, next int) trace.Name {
	if t.Calls[next].AfterUser || t.Calls[next].Turn > t.Calls[call].Turn+1 {
		return answersUser
	}
	return t.Calls[next].Tool
}

// fixed returns the parameters that had one value in enough tasks, and never another.
func (p *Part) fixed() map[dataflow.Slot]uint64 {
	type values struct {
		value   uint64
		several bool
		tasks   int
		last    string
	}
	seen := map[dataflow.Slot]*values{}
	for _, r := range p.Runs {
		task := r.TaskKey()
		for i := range r.Flow.Uses {
			u := &r.Flow.Uses[i]
			slot := r.Flow.Slots[u.Param]
			v := seen[slot]
			if v == nil {
				v = &values{value: u.Value}
				seen[slot] = v
			}
			v.several = v.several || v.value != u.Value
			if v.tasks == 0 || v.last != task { // trajectories of a task follow one another
				v.tasks, v.last = v.tasks+1, task
			}
		}
	}
	out := map[dataflow.Slot]uint64{}
	for slot, v := range seen {
		if !v.several && v.tasks >= fixedTasks {
			out[slot] = v.value
		}
	}
	return out
}

// Find writes programs as long as the bound lets it.
func (k *code) Find(c *Case) *Finding {
	w := &writing{code: k, Case: c, enums: k.collector.EnumsOf(c.Trajectory), lists: map[walk]int{}}
	f, limits := &Finding{Programs: &Programs{}}, make([]Limit, len(c.Turns))
	calls := replay.NewPrograms(c.Trajectory, c.Marks, c.Flow, &k.collector)
	pieces := calls.All(func(program []int, call int) bool {
		_, limit := w.join(program, call)
		if turn := c.Calls[call].Turn; turn >= 0 && limits[turn] == "" {
			limits[turn] = limit
		}
		return limit == ""
	})
	for _, piece := range pieces {
		w.write(f, calls, piece)
	}
	f.Used = len(f.written) > 0
	for turn := range c.Turns {
		if _, gone := slices.BinarySearch(f.Removed, turn); !gone && c.Turns[turn].NumCalls > 0 {
			f.Programs.Limits[slices.Index(Limits, cmp.Or(limits[turn], LimitBegins))]++
		}
	}
	return f
}

// writing is the programs of one trajectory.
type writing struct {
	*code
	*Case
	enums dataflow.Enums
	lists map[walk]int // how long each list is that a loop may walk
}

// join returns why the model has to see what a program returned before it makes a call, "" if
// the program can make the call. A call that needs a loop has one.
func (w *writing) join(program []int, call int) (loop *walk, limit Limit) {
	before, next := &w.Calls[program[len(program)-1]], &w.Calls[call]
	switch {
	case next.Turn == w.Calls[program[0]].Turn: // the model made them at once
		return nil, ""
	case !before.HasResult || next.ArgsMissing() || next.Tool == answersUser:
		return nil, LimitUnknown
	case w.isLower && !w.reads[before.Tool]:
		return nil, LimitWrite
	}
	since, isKnown := call, true
	if w.isLower {
		since = program[0]
	}
	uses := w.Flow.Uses
	first, _ := slices.BinarySearchFunc(uses, call, func(u dataflow.Use, call int) int { return u.Call - call })
	for i := first; i < len(uses) && uses[i].Call == call; i++ {
		u := &uses[i]
		if value, is := w.fixed[w.Flow.Slots[u.Param]]; u.Whole || is && value == u.Value || w.Flow.KnownBefore(u, since, w.enums) {
			continue
		}
		from := w.source(u, program)
		if from == nil {
			return nil, LimitDecision
		}
		isKnown = false
		if one := (walk{from.Call, from.Slot}); w.isList(from) {
			if loop != nil && *loop != one || w.list(one) > bind.DefaultMaxExtra+len(program) || !w.reads[next.Tool] {
				return nil, LimitDecision
			}
			loop = &one
		}
	}
	isUsual := func() bool { return w.usual[contextOf(w.Trajectory, program[len(program)-1])] == next.Tool }
	if !w.isLower || isKnown || loop != nil || isUsual() {
		return loop, ""
	}
	return nil, LimitDecision
}

// source returns what in a program an argument is bound to by an accepted link, nil for
// nothing: a value before an element of a list.
func (w *writing) source(u *dataflow.Use, program []int) (found *dataflow.Source) {
	for i := range u.Sources {
		from := &u.Sources[i]
		if side := w.Flow.Slots[from.Slot].Side; !w.isLower || side > dataflow.Input || from.Relation > dataflow.Coerced || !slices.Contains(program, from.Call) {
			continue
		}
		if link := w.links.Link(w.Flow, u, from); link == nil || link.Verdict != dataflow.Accepted {
			continue
		}
		if !w.isList(from) {
			return from
		}
		if found == nil {
			found = from
		}
	}
	return found
}

// isList reports whether a source is an element of a list.
func (w *writing) isList(from *dataflow.Source) bool {
	return strings.Contains(w.Flow.Slots[from.Slot].Path, "[*]")
}

// list returns how many elements a loop walks.
func (w *writing) list(of walk) int {
	n, known := w.lists[of]
	if !known {
		if path, err := jsonpath.Parse(w.Flow.Slots[of.slot].Path); err == nil {
			n = len(path.Eval(*w.Flow.Result(of.source)))
		}
		w.lists[of] = n
	}
	return n
}

// unusual returns the call that usually follows one and here did not, answersUser for none.
func (w *writing) unusual(call int) trace.Name {
	tool := w.usual[contextOf(w.Trajectory, call)]
	if !w.isLower || !w.reads[w.Calls[call].Tool] || !w.Calls[call].HasResult {
		return answersUser // the program ends here
	}
	for next := call + 1; next < len(w.Calls); next++ {
		if w.Calls[next].Origin == trace.OriginModel {
			if nextOf(w.Trajectory, call, next) == tool {
				return answersUser
			}
			break
		}
	}
	return tool
}

// write adds a program, if it saves a turn or makes a call that nobody asked for.
func (w *writing) write(f *Finding, calls *replay.Programs, piece []int) {
	removed := replay.Occurrence{Calls: [][]int{piece}}.Removed(w.Trajectory)
	p := program{calls: piece, tokens: programTokens}
	switch tool := w.unusual(piece[len(piece)-1]); {
	case tool == answersUser:
	case w.reads[tool]:
		p.extra, p.tokens = append(p.extra, tool), p.tokens+callTokens
	case len(removed) > 0:
		f.Programs.WrongWrites++
	}
	if len(removed)+len(p.extra) == 0 {
		return
	}
	w.text(f, &p)
	if !w.isLower {
		p.silent = slices.DeleteFunc(slices.Clone(piece), func(call int) bool { return calls.IsUsed(piece, call) })
	}
	f.Programs.Programs++
	f.Programs.Calls += len(piece)
	f.Programs.Extra += len(p.extra)
	f.Removed = append(f.Removed, removed...)
	f.written = append(f.written, p)
}

// text adds what the calls of a program take in its text: of a tool in a row each, or a loop.
// A loop over a list reads all of it.
func (w *writing) text(f *Finding, p *program) {
	for i := 0; i < len(p.calls); {
		tool, first := w.Calls[p.calls[i]].Tool, i
		var loops []walk
		for ; i < len(p.calls) && w.Calls[p.calls[i]].Tool == tool; i++ {
			if i == 0 {
				continue
			}
			if loop, _ := w.join(p.calls[:i], p.calls[i]); loop != nil {
				if !slices.Contains(loops, *loop) {
					loops = append(loops, *loop)
					p.extra = append(p.extra, slices.Repeat([]trace.Name{tool}, w.list(*loop))...)
				}
				p.extra = p.extra[:max(len(p.extra)-1, 0)]
			}
		}
		if len(loops) == 0 && i-first < 3 {
			p.tokens += callTokens * int64(i-first)
			continue
		}
		f.Programs.Loops++
		p.tokens += callTokens + loopTokens
	}
}

// Saving returns what the removed turns and the results that do not come back save, less the
// definition of the tool that runs programs, their texts, and reads that nobody asked for.
func (k *code) Saving(c *Case, f *Finding) cost.Totals {
	f.Programs.Overhead = cost.Totals{}
	if c.Account == nil {
		return cost.Totals{}
	}
	last := len(c.Turns) - 1
	saved := c.Account.Saving(f.Removed, k.definition)
	for i := range f.written {
		p := &f.written[i]
		turn := c.Calls[p.calls[0]].Turn
		f.Programs.Overhead.Add(c.Account.Writing(p.tokens, turn, f.Removed))
		for _, tool := range p.extra {
			saved = saved.Less(c.Account.Reading(k.mean(tool), turn+1, last, f.Removed))
		}
		for _, call := range p.silent {
			saved.Add(c.Account.Reading(k.part.meter.Raw(c.Calls[call].Result), c.Calls[call].Turn+1, last, f.Removed))
		}
	}
	return saved.Less(f.Programs.Overhead)
}

// mean returns the tokens of a result of a tool, the mean over the training part.
func (k *learntCode) mean(tool trace.Name) int64 {
	mean, known := k.means[tool]
	if !known {
		results := int64(0)
		for _, r := range k.part.Runs {
			for i := range r.Calls {
				if c := &r.Calls[i]; c.Tool == tool && c.HasResult {
					mean, results = mean+k.part.meter.Raw(c.Result), results+1
				}
			}
		}
		mean /= max(results, 1)
		k.means[tool] = mean
	}
	return mean
}

// Summary says what the bound rests on.
func (k *code) Summary() Learnt {
	note := "an upper bound of what programs can do: the model knows all calls of a program before it sees a result, and only what is used later comes back"
	if k.isLower {
		note = "a lower bound of what programs can do: each call is the usual one, walks a list or has arguments that were known, is bound by links, and all results come back; a write is the last call"
	}
	return Learnt{DefinitionTokens: k.definition, Notes: []string{note}}
}
