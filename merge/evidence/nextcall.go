package evidence

import (
	"math"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// nextCalls is what was called in which state: 8 bytes a call.
type nextCalls struct {
	states, tools []uint32
	runs          []stretch
	tasks         []string // by number
	known         map[trace.Name]uint32
}

// stretch is the calls of one trajectory, up to end.
type stretch struct {
	end  int
	task uint32
}

func newNextCalls() nextCalls { return nextCalls{known: map[trace.Name]uint32{}} }

func (n *nextCalls) begin(task uint32, key string) {
	if int(task) == len(n.tasks) {
		n.tasks = append(n.tasks, key)
	}
	n.runs = append(n.runs, stretch{len(n.tools), task})
}

func (n *nextCalls) add(state uint32, tool trace.Name) {
	number, known := n.known[tool]
	if !known {
		number = uint32(len(n.known))
		n.known[tool] = number
	}
	n.states, n.tools = append(n.states, state), append(n.tools, number)
	n.runs[len(n.runs)-1].end = len(n.tools)
}

func (n *nextCalls) calls() int { return len(n.tools) }

// stateTool is a tool called in a state.
type stateTool struct{ state, tool uint32 }

// toolModel predicts the next tool from the state: absolute discounting with
// what it leaves given to how often tools are called at all, which in turn
// leaves a share for tools never seen. The discounts are those of
// [ngram.Model]: n1/(n1+2 n2), within 0.1 and 0.9.
type toolModel struct {
	calls     *numberedCalls
	pairs     []int   // how often each is called
	states    []Share // successors seen, calls
	tools     []int
	n, seen   int
	high, low float64
}

// numberedCalls are the calls again, with what they count towards numbered from
// 0 on, so that a model is a few slices and not maps that grow: a fold needs
// one, and choosing rules many folds.
type numberedCalls struct {
	pair   []uint32    // by call
	pairs  []stateTool // by pair, with numbers for states
	states int         // how many there are
}

func (n *nextCalls) numbered() *numberedCalls {
	out := &numberedCalls{pair: make([]uint32, n.calls())}
	known, states := map[stateTool]uint32{}, map[uint32]uint32{}
	for i, tool := range n.tools {
		p := stateTool{n.states[i], tool}
		number, seen := known[p]
		if !seen {
			number = uint32(len(out.pairs))
			known[p] = number
			state, seen := states[p.state]
			if !seen {
				state = uint32(len(states))
				states[p.state] = state
			}
			out.pairs = append(out.pairs, stateTool{state, tool})
		}
		out.pair[i] = number
	}
	out.states = len(states)
	return out
}

// counted counts how many counts are 1 and how many 2.
type counted struct{ ones, twos int }

func (c *counted) add(n int) {
	switch n {
	case 1:
		c.ones++
	case 2:
		c.twos++
	}
}

func (c counted) discount() float64 {
	if c.ones == 0 {
		return 0.1
	}
	return min(max(float64(c.ones)/float64(c.ones+2*c.twos), 0.1), 0.9)
}

// finish works out what the counts give.
func (m *toolModel) finish() {
	var high, low counted
	for i, n := range m.pairs {
		if n == 0 {
			continue
		}
		s := &m.states[m.calls.pairs[i].state]
		s.Count++
		s.Of += n
		high.add(n)
	}
	for _, n := range m.tools {
		m.n += n
		low.add(n)
		if n > 0 {
			m.seen++
		}
	}
	m.high, m.low = high.discount(), low.discount()
}

// probability returns the probability of a pair's tool given nothing, and given
// its state.
func (m *toolModel) probability(pair uint32) (alone, given float64) {
	p := m.calls.pairs[pair]
	alone = 1 / float64(len(m.tools)+1)
	if m.n > 0 {
		alone *= m.low * float64(m.seen) / float64(m.n)
		if n := m.tools[p.tool]; n > 0 {
			alone += (float64(n) - m.low) / float64(m.n)
		}
	}
	s := m.states[p.state]
	if s.Of == 0 {
		return alone, alone
	}
	given = m.high * float64(s.Count) / float64(s.Of) * alone
	if n := m.pairs[pair]; n > 0 {
		given += (float64(n) - m.high) / float64(s.Of)
	}
	return alone, given
}

// heldOut returns what predicting the tool of every call costs on tasks that the
// model has not seen: at order 0 from how often tools are called, at order 1
// from the state. The tools are those recorded, whatever rules call them, so
// that sets of rules can be compared: where rules make states one that go on
// differently the loss rises, and where they tell apart what is alike too,
// because such states are new in every task.
func (n *nextCalls) heldOut(folds int, seed uint64) ngram.Losses {
	called := map[uint32]bool{}
	start := 0
	for _, r := range n.runs {
		if r.end > start {
			called[r.task] = true
		}
		start = r.end
	}
	if len(called) < 2 {
		return ngram.Losses{}
	}
	if folds <= 0 {
		folds = 10
	}
	var keys []string
	for task, key := range n.tasks {
		if called[uint32(task)] {
			keys = append(keys, key)
		}
	}
	folds = max(2, min(folds, len(keys)))
	dealt := holdout.NewFolds(keys, folds, seed)
	out := ngram.Losses{Folds: folds}
	place := make([]int, len(n.tasks))
	for task, key := range n.tasks {
		if called[uint32(task)] {
			place[task] = len(out.Tasks)
			out.Tasks = append(out.Tasks, ngram.TaskLoss{Task: uint32(task), Fold: dealt.Of(key), Loss: ngram.Loss{Bits: make([]float64, 2)}})
		}
	}
	calls := n.numbered()
	for fold := range folds {
		n.predict(calls, out.Tasks, place, fold)
	}
	return out
}

// predict adds the losses of one fold, by a model of the others.
func (n *nextCalls) predict(calls *numberedCalls, tasks []ngram.TaskLoss, place []int, fold int) {
	m := &toolModel{calls: calls, pairs: make([]int, len(calls.pairs)), states: make([]Share, calls.states), tools: make([]int, len(n.known))}
	each := func(tested bool, do func(t *ngram.TaskLoss, pair uint32)) {
		start := 0
		for _, r := range n.runs {
			if r.end > start {
				if t := &tasks[place[r.task]]; (t.Fold == fold) == tested {
					for _, pair := range calls.pair[start:r.end] {
						do(t, pair)
					}
				}
			}
			start = r.end
		}
	}
	each(false, func(_ *ngram.TaskLoss, pair uint32) {
		m.pairs[pair]++
		m.tools[calls.pairs[pair].tool]++
	})
	m.finish()
	each(true, func(t *ngram.TaskLoss, pair uint32) {
		alone, given := m.probability(pair)
		t.N++
		if m.tools[calls.pairs[pair].tool] == 0 {
			t.Unseen++
		}
		t.Bits[0] -= math.Log2(alone)
		t.Bits[1] -= math.Log2(given)
	})
}
