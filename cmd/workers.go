package cmd

import (
	"cmp"
	"runtime"

	"github.com/awo-dev/awo/internal/par"
)

// workers returns how many pieces of work run at once.
func (j *job) workers() int { return cmp.Or(j.Workers, runtime.GOMAXPROCS(0)) }

// each runs independent pieces of work on the job's workers.
func (j *job) each() func(n int, do func(i int)) {
	return func(n int, do func(i int)) {
		numbers := func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		}
		for range par.Map(j.workers(), numbers, func(i int) struct{} { do(i); return struct{}{} }) {
			continue // the work is in do
		}
	}
}
