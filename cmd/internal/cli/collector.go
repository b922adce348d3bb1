package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// What the garbage collector may leave lying about, in bytes: half as much again as is
// live, but always some, of heaps that are small beside a laptop more than is live, and
// never more than fits beside it. Reading keeps a few megabytes live, and the default of the
// runtime would collect after every few megabytes of records.
const (
	garbageAllowed = 96 << 20
	garbageFast    = 512 << 20 // for one and a half times what is live
	garbageMost    = 1 << 30
	percentMost    = 400
	percentUsual   = 100
	percentLeast   = 25

	// idleAllowed is memory beyond that which is not given back to the system.
	idleAllowed = 24 << 20
)

// TuneCollector sets the percentage of garbage now and after every collection,
// so that small heaps are collected seldom and large ones are not let to grow to
// a multiple. See docs/decisions/0007-memory.md.
func TuneCollector() {
	most := debug.SetMemoryLimit(-1) // GOMEMLIMIT, if that is set
	debug.SetGCPercent(percentMost)
	var tick func(*sentinel)
	tick = func(*sentinel) {
		if small.Load() {
			return // KeepSmall has the last word
		}
		live := liveHeap()
		percent := collectorPercent(live)
		debug.SetGCPercent(percent)
		limit := most
		if live > garbageAllowed { // what is idle would add up to as much as garbage
			limit = min(most, int64(live+live/100*uint64(percent)+idleAllowed))
		}
		debug.SetMemoryLimit(limit)
		runtime.SetFinalizer(&sentinel{}, tick)
	}
	runtime.SetFinalizer(&sentinel{}, tick)
}

// small says that KeepSmall was called.
var small atomic.Bool

// KeepSmall is for commands that run for hours and keep little: garbage is at most what
// is live, and what starting up has left is given back.
func KeepSmall() {
	small.Store(true)
	debug.SetGCPercent(percentUsual)
	debug.FreeOSMemory()
}

// sentinel is garbage at once: its finalizer runs after each collection.
type sentinel struct{ _ [16]byte }

// collectorPercent returns the percentage for a heap of which so much is live.
func collectorPercent(live uint64) int {
	garbage := uint64(garbageAllowed)
	if live > garbageAllowed {
		garbage = min(max(garbageAllowed+(live-garbageAllowed)/2, min(live+live/2, garbageFast)), garbageMost)
	}
	percent := 100 * garbage / max(live, 1)
	return int(min(percentMost, max(percentLeast, percent)))
}

// liveHeap returns how many bytes the last collection found live.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
