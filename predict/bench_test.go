package predict

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/awo-dev/awo/trace"
)

const (
	benchTools    = 1600
	benchChildren = 25
)

// large is a model of 1,600 tools and a million contexts of up to three calls.
func large() *Model {
	m := &Model{Info: ModelInfo{Order: 3}, tools: make([]Tool, 1), rules: make([][]Rule, benchTools+1), symbols: map[trace.Name]uint32{}}
	for i := range benchTools {
		name := trace1(fmt.Sprintf("tool_%04d", i))
		m.tools = append(m.tools, Tool{Name: name})
		m.symbols[name] = uint32(i + 1)
	}
	// By level: the empty context, one state, every tool, and 25 below each twice.
	below := []int{1, benchTools, benchChildren, benchChildren, 0}
	level, next := 1, uint32(1)
	m.cellFrom = []uint32{0}
	for depth, children := range below {
		for i := range level {
			m.childFrom = append(m.childFrom, next)
			for c := range children {
				symbol := uint32(c)
				if depth > 0 {
					symbol = uint32(c+1) + uint32(i)%(benchTools-uint32(children)+1)
				}
				m.childState = append(m.childState, symbol)
				next++
			}
			cells := []int{benchTools, benchTools, 20, 5, 2}[depth]
			for c := range cells {
				m.cellNext = append(m.cellNext, uint32(c+1))
				m.cellShare = append(m.cellShare, 0.7/float64(cells))
				m.cellScore = append(m.cellScore, Counts{OK: 1})
			}
			m.cellFrom = append(m.cellFrom, uint32(len(m.cellNext)))
			m.backoff = append(m.backoff, 0.3)
		}
		level *= max(children, 1)
	}
	m.childFrom = append(m.childFrom, next)
	return m
}

// asked are contexts that the large model has seen.
func (m *Model) asked(n int) [][]trace.Name {
	var out [][]trace.Name
	for i := range n {
		node, calls := uint32(1), []trace.Name{}
		for depth := range 3 {
			from, to := m.childFrom[node], m.childFrom[node+1]
			node = from + uint32(i*7919+depth*31)%(to-from)
			calls = append(calls, m.tools[m.childState[node-1]].Name)
		}
		slices.Reverse(calls)
		out = append(out, calls)
	}
	return out
}

func BenchmarkPredict(b *testing.B) {
	m := large()
	asked := m.asked(1000)
	p := NewPredictor(m, PredictorOptions{})
	p.rank(0, asked[0], 3)
	b.ReportAllocs()
	b.ReportMetric(float64(m.Contexts()), "contexts")
	times := make([]time.Duration, 0, 1<<16)
	i := 0
	for b.Loop() {
		begin := time.Now()
		p.rank(0, asked[i%len(asked)], 3)
		if len(times) < cap(times) {
			times = append(times, time.Since(begin))
		}
		i++
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
}

// BenchmarkAdd adds trajectories of ten calls to a graph.
func BenchmarkAdd(b *testing.B) {
	var observations []*Observation
	for i := range 500 {
		parts := make([]string, 10)
		for j := range parts {
			parts[j] = fmt.Sprintf("t%d", (i*31+j*j*7)%60)
		}
		observations = append(observations, runOf(trajectoryOf(fmt.Sprint(i), parts...)).Observation)
	}
	g := NewGraph(3)
	i := 0
	for b.Loop() {
		g.Add(observations[i%len(observations)])
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10, "ns/call")
}

func TestPredictionAllocatesNothing(t *testing.T) {
	m, _ := calibrated(t)
	p := NewPredictor(m, PredictorOptions{})
	calls := names("get_user", "get_order")
	if n := testing.AllocsPerRun(100, func() { p.rank(0, calls, 3) }); n != 0 {
		t.Errorf("a prediction allocates %v times", n)
	}
}
