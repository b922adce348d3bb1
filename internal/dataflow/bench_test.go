package dataflow_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/trace"
)

// committed returns the committed runs and the bytes of their arguments, results
// and messages.
func committed(b *testing.B) (list []*trace.Trajectory, calls int, bytes int64) {
	const path = "../../testdata/office/trajectories.jsonl.gz"
	if _, err := os.Stat(path); err != nil {
		b.Skip("the office corpus is not there")
	}
	list = read(b, path)
	for _, t := range list {
		calls += len(t.Calls)
		for i := range t.Calls {
			bytes += int64(len(t.Calls[i].Args.Data) + len(t.Calls[i].Result.Data))
		}
		for i := range t.Messages {
			bytes += int64(len(t.Messages[i].Text.Data))
		}
	}
	return list, calls, bytes
}

func perCall(b *testing.B, calls int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(calls), "ns/call")
}

func BenchmarkCollect(b *testing.B) {
	list, calls, bytes := committed(b)
	var c dataflow.Collector
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range list {
			c.Collect(t)
		}
	}
	perCall(b, calls)
}

// BenchmarkReading asks for the arguments of all calls when the one before was made.
func BenchmarkReading(b *testing.B) {
	list, calls, bytes := committed(b)
	var c dataflow.Collector
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range list {
			r := c.Read(t, nil, len(t.Calls), parsed{t})
			for i := range t.Calls {
				r.CallKnown(i, max(i-1, 0))
			}
			r.Close(&c)
		}
	}
	perCall(b, calls)
}

func BenchmarkLinksAdd(b *testing.B) {
	list, calls, _ := committed(b)
	flows, _ := collected(list)
	b.ReportAllocs()
	for b.Loop() {
		l := dataflow.NewLinks()
		for _, f := range flows {
			l.Add(f)
		}
	}
	perCall(b, calls)
}

func BenchmarkSet(b *testing.B) {
	list, _, _ := committed(b)
	var c dataflow.Collector
	l := dataflow.NewLinks()
	for _, t := range list {
		l.Add(c.Collect(t))
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Set()
	}
}

func BenchmarkCheck(b *testing.B) {
	list, calls, _ := committed(b)
	_, set := collected(list)
	j := dataflow.NewJudge(set)
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range list {
			j.Check(t)
		}
	}
	perCall(b, calls)
}

// longRun is one trajectory of n calls whose values come back again and again.
func longRun(n int) *script {
	s := run("long").user("please work through all of it")
	for i := range n {
		var rows []string
		for k := range 10 {
			rows = append(rows, fmt.Sprintf(`{"id":"row-%d-%d","status":"open","n":%d,"text":"the row number %d of many"}`, i, k, k, k))
		}
		s.call("step", fmt.Sprintf(`{"id":"row-%d-%d","status":"open","n":%d,"note":"row-%d-3 done, next row-%d-4"}`, max(i-1, 0), i%10, i%7, i/2, i/3),
			`{"rows":[`+strings.Join(rows, ",")+`],"path":"/data/`+fmt.Sprint(i%50)+`"}`)
	}
	return s
}

func BenchmarkCollectLong(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := longRun(n)
			var c dataflow.Collector
			b.ReportAllocs()
			for b.Loop() {
				c.Collect(&s.t)
			}
			perCall(b, n)
		})
	}
}

// TestLongRunsStayLinear: eight times the calls give about eight times the
// sources and choices to look at, though every value comes back again and
// again. (BenchmarkCollectLong has the time.)
func TestLongRunsStayLinear(t *testing.T) {
	size := func(n int) (size int) {
		f := longRun(n).flow()
		for i := range f.Uses {
			size += 1 + len(f.Uses[i].Sources)
			for j := range f.Uses[i].Sources {
				size += len(f.Uses[i].Sources[j].Keys)
			}
		}
		return size + len(f.Slots)
	}
	if small, large := size(100), size(800); large > 10*small || large < 6*small {
		t.Errorf("100 calls give %d, 800 calls %d", small, large)
	}
}
