package dataflow

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/lookup"
	"github.com/awo-dev/awo/trace"
)

// Bounds of what Links keeps.
const (
	maxHeld      = 2048    // different values, and words, of a source whose counts are kept for a parameter
	maxAsked     = 4096    // different values of a parameter whose counts are kept
	maxCounts    = 1 << 21 // all of these counts together
	maxHitValues = 256     // different values that a link gave
	maxHits      = 1 << 20 // of all links together; each may have minHitValues
	minHitValues = 8
	maxTemplates = 256     // templates of a parameter
	maxPlanned   = 1 << 16 // templates, and links by template, of all parameters
	maxLinks     = 1 << 18 // links of all kinds
	maxSlots     = 1 << 18 // places of all tools
	maxTrials    = 1 << 20 // pairs of a tool and a parameter that is used after it
	maxPatterns  = 1 << 16 // different lists of sources
	maxSame      = 1 << 20 // pairs of parameters with equal values
	maxVotes     = 1000    // uses of a link whose elements are looked at
	maxKeyNames  = 24      // members of an element that may choose it
	maxKeys      = 1 << 17 // of all links together
	maxKeyValues = 8       // values of such a member
)

// Links adds up flows over a corpus and decides which places an argument comes
// from. Its memory grows with the number of links, tools and places, not with
// that of trajectories: for each source of each parameter the counts of at most
// 2,048 values are exact, of all together at most two million; beyond that
// counts are upper bounds, which makes it harder for a link to be accepted,
// never easier.
//
// Flows must be added in the order of the input, by one goroutine; Add keeps no
// flow. The zero value is not ready, see NewLinks.
type Links struct {
	trajectories int
	slotOf       map[Slot]int32
	slots        []slotStat
	tools        map[toolKey]int32
	trialAt      lookup.Table // tool and parameter -> trial
	trials       []*trial
	contextOf    lookup.Table // slot and parameter -> context
	contexts     []context
	plainOf      lookup.Table // source, parameter and relation of links without template -> link
	linkOf       map[linkKey]int32
	links        []linkStat
	patternOf    lookup.Table // hash -> pattern
	patterns     []pattern
	paramsOf     map[trace.Name][]int32 // parameters of a tool
	overflow     map[int32]int          // uses of a parameter that found no place in patterns
	same         map[pair]int
	budget       budget
	planned      int // links by template
	templates    int // that are known
	hitValues    int // that links gave
	keys         int // that may choose an element
	dropped      int // sources and places that found no room

	// Scratch of one Add.
	global    []int32      // slot of the flow -> slot, or -1
	here      []paramHere  // slot -> what it is as a parameter
	askedHere []int32      // parameters that have a value, in the order of their first
	valueHere []valueHere  // in the order of their first use
	valueAt   lookup.Table // parameter and value -> valueHere
	givenHere []int32      // tools
	turns     []int32      // tool -> turn from which on it is given, from 1; 0 for none
	trialRoom []trialHere  // by parameter
	foundHere lookup.Table // links and values that were counted
	ids       []int32
	live      [][]int32 // slot of the flow -> contexts
	liveRoom  []int32
	unused    [][]int32            // slot of the flow -> contexts of parameters that could have been used
	lastCall  map[trace.Name]int32 // tool -> last turn in which it is called
}

// paramHere is a parameter in a trajectory; what it says of another one than the last is to
// be forgotten.
type paramHere struct {
	used     int32 // number of the trajectory that uses it
	asked    int32 // number of the trajectory in which it has a value
	last     int32 // turn in which it has one last
	from, to int32 // its trials, in trialRoom
}

// valueHere is a value of a parameter in a trajectory.
type valueHere struct {
	param, last int32 // last turn in which it is used
	value       uint64
}

type toolKey struct {
	side Side
	tool trace.Name
}

type pair struct{ a, b int32 }

// trial is what could have come from a tool: the values of a parameter that are
// used in a later turn than the tool's first result.
type trial struct {
	trajectories int32
	absent       int32   // trajectories that could have used the parameter and did not, see absence
	asked        counter // value -> trajectories
}

// slotStat is what is known about a place.
type slotStat struct {
	slot     Slot
	tool     int32 // number of its tool and side
	contexts []int32

	// Of parameters.
	used         int     // uses
	trajectories int     // with a use
	asked        counter // value -> trajectories
	never        int     // uses whose value was nowhere before
	templates    templates
}

type linkKey struct {
	source, param int32
	relation      Relation
	part          int32
	template      string
}

// linkStat is the evidence for one link.
type linkStat struct {
	key     linkKey
	hits    int32 // trajectories
	found   int32 // different values of the parameter, summed over trajectories
	uses    int32
	strings int32 // uses whose argument is a string
	last    int32 // number of the trajectory that was counted last
	values  map[uint64]*hitValue
	more    bool // there were more values than are kept
	around  around
	choices votes
}

// hitValue is a value that a link gave.
type hitValue struct {
	trajectories int32
	last         int32
	form         Relation
	words        []uint64 // for links to texts
}

// pattern is a list of sources, best first, that some uses of a parameter have.
type pattern struct {
	param int32
	links []int32
	count int
}

// NewLinks returns Links without any evidence.
func NewLinks() *Links {
	return &Links{
		slotOf: map[Slot]int32{}, tools: map[toolKey]int32{}, linkOf: map[linkKey]int32{}, paramsOf: map[trace.Name][]int32{},
		overflow: map[int32]int{}, same: map[pair]int{}, lastCall: map[trace.Name]int32{}, budget: budget{limit: maxCounts},
	}
}

// Add counts what one trajectory shows.
func (l *Links) Add(f *Flow) {
	l.trajectories++
	l.dropped += f.dropped
	l.addSlots(f)
	l.addTrials(f)
	l.foundHere.Reset()
	for i := range f.Uses {
		l.addUse(&f.Uses[i])
	}
	l.addAbsences(f)
	l.addContents(f)
	for _, s := range f.same {
		k := pair{l.global[s.param], l.global[s.source]}
		if _, ok := l.same[k]; k.a < 0 || k.b < 0 || !ok && len(l.same) == maxSame {
			l.dropped++
			continue
		}
		l.same[k] += int(s.count)
	}
}

// addSlots gives the places of a trajectory their numbers.
func (l *Links) addSlots(f *Flow) {
	for _, g := range f.given {
		l.tool(toolKey{g.side, g.tool})
	}
	l.global = l.global[:0]
	for _, s := range f.Slots {
		l.global = append(l.global, l.slot(s))
	}
	l.here = append(l.here, make([]paramHere, len(l.slots)-len(l.here))...)
}

// tool returns the number of a tool's results or arguments, or of a kind of
// message.
func (l *Links) tool(k toolKey) int32 {
	id, ok := l.tools[k]
	if !ok {
		id = int32(len(l.tools))
		l.tools[k] = id
	}
	return id
}

// slot returns the number of a place, or -1 when there are too many.
func (l *Links) slot(s Slot) int32 {
	id, ok := l.slotOf[s]
	if !ok {
		if len(l.slots) == maxSlots {
			l.dropped++
			return -1
		}
		id = int32(len(l.slots))
		l.slotOf[s] = id
		stat := slotStat{slot: s, tool: l.tool(toolKey{s.Side, s.Tool})}
		stat.asked = counter{limit: maxAsked, budget: &l.budget}
		l.slots = append(l.slots, stat)
	}
	return id
}

// addTrials counts what each parameter was asked for, and which tools' results
// and messages there were that could have given it.
func (l *Links) addTrials(f *Flow) {
	l.valueAt.Reset()
	l.valueHere, l.askedHere = l.valueHere[:0], l.askedHere[:0]
	now := int32(l.trajectories)
	for i := range f.Uses {
		u := &f.Uses[i]
		param := l.global[u.Param]
		if param < 0 {
			continue
		}
		here := &l.here[param]
		if here.used != now {
			here.used = now
			if l.slots[param].trajectories == 0 {
				l.paramsOf[f.Slots[u.Param].Tool] = append(l.paramsOf[f.Slots[u.Param].Tool], param)
			}
			l.slots[param].trajectories++
		}
		if u.empty {
			continue
		}
		turn, next := f.turns[u.Call], int32(len(l.valueHere))
		i := l.valueAt.Insert(jsonvalue.Mix(u.Value, uint64(param)+1), next)
		if i == next {
			l.slots[param].asked.add(u.Value)
			l.valueHere = append(l.valueHere, valueHere{param: param, value: u.Value})
		}
		l.valueHere[i].last = max(l.valueHere[i].last, turn)
		if here.asked != now {
			here.asked, here.last = now, 0
			l.askedHere = append(l.askedHere, param)
		}
		here.last = max(here.last, turn)
	}
	l.givenHere = l.givenHere[:0]
	for _, g := range f.given {
		l.givenHere = append(l.givenHere, l.tools[toolKey{g.side, g.tool}])
	}
	// In a fixed order, because that decides which trials and counts are kept.
	l.trialRoom = l.trialRoom[:0]
	for _, param := range l.askedHere {
		l.openTrials(f, param)
	}
	for i := range l.valueHere {
		v := &l.valueHere[i]
		for _, t := range l.trialRoom[l.here[v.param].from:l.here[v.param].to] {
			if t.turn <= v.last {
				t.asked.add(v.value)
			}
		}
	}
}

// asked reports whether a parameter has a value in this trajectory.
func (l *Links) asked(param int32) bool { return l.here[param].asked == int32(l.trajectories) }

// trialHere is a trial that a trajectory is, and the turn from which on its tool
// could be a source.
type trialHere struct {
	*trial
	turn int32
}

// openTrials counts the trajectory for the trials of a parameter with the tools and
// messages that there were before its last use.
func (l *Links) openTrials(f *Flow, param int32) {
	here := &l.here[param]
	here.from = int32(len(l.trialRoom))
	for i, g := range f.given {
		if g.turn > here.last {
			continue
		}
		t := l.trialOf(l.givenHere[i], param)
		if t == nil {
			if len(l.trials) == maxTrials {
				l.dropped++
				continue
			}
			t = &trial{asked: counter{limit: maxAsked, budget: &l.budget}}
			l.trialAt.Insert(lookup.Pair(uint32(l.givenHere[i]), uint32(param)), int32(len(l.trials)))
			l.trials = append(l.trials, t)
		}
		t.trajectories++
		l.trialRoom = append(l.trialRoom, trialHere{t, g.turn})
	}
	here.to = int32(len(l.trialRoom))
}

// trialOf returns the trial of a tool and a parameter, nil if there is none.
func (l *Links) trialOf(tool, param int32) *trial {
	if i := l.trialAt.Find(lookup.Pair(uint32(tool), uint32(param))); i >= 0 {
		return l.trials[i]
	}
	return nil
}

func (l *Links) addUse(u *Use) {
	param := l.global[u.Param]
	if param < 0 {
		return
	}
	stat := &l.slots[param]
	stat.used++
	if u.Seen.Turn < 0 {
		stat.never++
	}
	l.ids = l.ids[:0]
	for i := range u.Sources {
		s := &u.Sources[i]
		k := linkKey{source: l.global[s.Slot], param: param, relation: s.Relation.merged(), part: int32(s.Part), template: s.Template}
		if k.source < 0 || s.Relation == Template && !l.plan(k, s, u) {
			continue
		}
		if id := l.addSource(k, s, u.Value, u.Kind, int32(l.trajectories)); id >= 0 {
			l.ids = append(l.ids, id)
		}
	}
	l.addPattern(param)
}

// addSource counts a hit of a link in a trajectory and returns the link, or -1
// when there are too many.
func (l *Links) addSource(k linkKey, s *Source, value uint64, kind trace.Kind, trajectory int32) int32 {
	id := l.link(&k)
	if id < 0 {
		if len(l.links) == maxLinks || k.relation == Template && l.planned == maxPlanned || l.trial(k.source, k.param) == nil {
			l.dropped++
			return -1
		}
		if k.relation == Template {
			l.planned++
		}
		id = int32(len(l.links))
		if k.isPlain() {
			l.plainOf.Insert(k.plain(), id)
		} else {
			l.linkOf[k] = id
		}
		l.links = append(l.links, linkStat{key: k})
		l.open(k)
	}
	link := &l.links[id]
	link.uses++
	if kind == trace.String {
		link.strings++
	}
	if next := int32(l.foundHere.Len()); l.foundHere.Insert(jsonvalue.Mix(jsonvalue.Mix(value, uint64(id)+1), uint64(trajectory)), next) == next {
		link.found++
	}
	l.hitValues += link.count(trajectory, held(s, value), s, l.hitValues >= maxHits)
	if s.Relation.toText() {
		if s.Relation != Normalized {
			link.around.add(s.Before, s.After)
		}
	} else if link.uses <= maxVotes {
		l.keys += link.choices.add(s, l.global, l.keys >= maxKeys)
	}
	return id
}

// isPlain reports whether the link has no template.
func (k *linkKey) isPlain() bool { return k.template == "" && k.part == 0 }

// plain returns a key that no other link without a template has.
func (k *linkKey) plain() uint64 {
	return lookup.Pair(uint32(k.source)<<3|uint32(k.relation), uint32(k.param))
}

// link returns the number of a link, or -1 if it is not known.
func (l *Links) link(k *linkKey) int32 {
	if k.isPlain() {
		return l.plainOf.Find(k.plain())
	}
	if id, ok := l.linkOf[*k]; ok {
		return id
	}
	return -1
}

// held returns the hash of what the source of an argument held: for equal
// values that of the argument.
func held(s *Source, value uint64) uint64 {
	if s.Relation == Equal {
		return value
	}
	return s.value
}

// count counts a value that the link gave in a trajectory. It returns how many
// more values are kept; scarce says that there should be few.
func (k *linkStat) count(trajectory int32, value uint64, s *Source, scarce bool) (more int) {
	if k.last != trajectory {
		k.last = trajectory
		k.hits++
	}
	v := k.values[value]
	if v == nil {
		if len(k.values) == maxHitValues || scarce && len(k.values) >= minHitValues {
			k.more = true
			return 0
		}
		if k.values == nil {
			k.values = map[uint64]*hitValue{}
		}
		v = &hitValue{form: s.Relation, words: s.words}
		k.values[value] = v
		more = 1
	}
	if v.last != trajectory {
		v.last = trajectory
		v.trajectories++
	}
	return more
}

// addPattern counts the list of sources in l.ids.
func (l *Links) addPattern(param int32) {
	h := jsonvalue.Mix(uint64(param), uint64(len(l.ids)))
	for _, id := range l.ids {
		h = jsonvalue.Mix(h, uint64(id))
	}
	at := l.patternOf.Find(h)
	if at < 0 {
		if len(l.patterns) == maxPatterns {
			l.overflow[param]++
			return
		}
		at = int32(len(l.patterns))
		l.patternOf.Insert(h, at)
		l.patterns = append(l.patterns, pattern{param: param, links: slices.Clone(l.ids)})
	}
	l.patterns[at].count++
}
