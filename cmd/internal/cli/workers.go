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
		counts := !j.Progress.isStepping()
		for i := range par.Each(j.Parallel(), n, do) {
			if counts {
				j.Progress.Step("computing", i+1, n)
			}
		}
		if counts {
			j.Progress.Step("", 0, 0)
		}
	}
}
