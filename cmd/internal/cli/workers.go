package cli

import (
	"cmp"
	"runtime"

	"github.com/awo-dev/awo/internal/par"
)

// Parallel returns how many pieces of work run at once.
func (j *Job) Parallel() int { return cmp.Or(j.Workers, runtime.GOMAXPROCS(0)) }

// Each runs independent pieces of work on the job's workers.
func (j *Job) Each() func(n int, do func(i int)) {
	return func(n int, do func(i int)) {
		numbers := func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		}
		done, counts := 0, !j.Progress.isStepping()
		for range par.Map(j.Parallel(), numbers, func(i int) struct{} { do(i); return struct{}{} }) {
			if done++; counts { // the work is in do
				j.Progress.Step("computing", done, n)
			}
		}
		if counts {
			j.Progress.Step("", 0, 0)
		}
	}
}
