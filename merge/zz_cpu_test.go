package merge

import (
	"fmt"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/awo-dev/awo/trace"
)

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestCPU(t *testing.T) {
	runs, calls := habits(100_000)
	debug.SetGCPercent(-1)
	for _, bench := range []struct {
		name string
		m    func() *Merger
	}{
		{"prefix tree", func() *Merger { return NewMerger(nil, Options{NoWalks: true}) }},
		{"merged", func() *Merger { return NewMerger(habitRules(), Options{NoWalks: true}) }},
		{"merged walks", func() *Merger { return NewMerger(habitRules(), Options{}) }},
		{"table", func() *Merger { return NewMerger(habitRules(), Options{Table: true}) }},
	} {
		var best [4]time.Duration
		for range 7 {
			debug.FreeOSMemory()
			m := bench.m()
			c0 := cpuTime()
			n := 0
			for range 100 {
				for _, tr := range runs[:1000] {
					n += len(m.rewriter.Rewrite(tr))
				}
			}
			c1 := cpuTime()
			c1 += (c1 - c0) * time.Duration(calls-n) / time.Duration(n)
			c0, c1 = 0, c1-c0
			upd(&best[0], c1-c0)
			c1 = cpuTime()
			c0 = c1
			for _, tr := range runs {
				m.Add(tr)
			}
			c2 := cpuTime()
			for _, tr := range runs {
				m.Add(tr)
			}
			c3 := cpuTime()
			upd(&best[1], c2-c1)
			upd(&best[2], c3-c2)
		}
		fmt.Printf("%-14s rewrite %4d ns, first %4d ns (%.1f M/s), again %4d ns\n", bench.name, int(best[0])/calls, int(best[1])/calls, float64(calls)/best[1].Seconds()/1e6, int(best[2])/calls)
	}
	_ = trace.OriginModel
}

func upd(b *time.Duration, d time.Duration) {
	if *b == 0 || d < *b {
		*b = d
	}
}
