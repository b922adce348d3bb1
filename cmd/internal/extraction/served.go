package extraction

import (
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/trace"
)

// addExpand defines the flag of recordings in which meta-tools were served.
func addExpand(f *pflag.FlagSet) {
	f.Bool("expand", true, "read the calls of meta-tools in recordings as their steps, made one by one")
}

// served are the calls that were steps of a meta-tool, by trajectory as it is read.
type served map[int]map[int]bool

// servedIn notes the steps in runs.
func servedIn(runs []*corpus.Run) served {
	s := served{}
	for n, r := range runs {
		s.note(n, r.Trajectory)
	}
	return s
}

func (s served) note(n int, t *trace.Trajectory) {
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Origin == trace.OriginModel && c.By != "" {
			if s[n] == nil {
				s[n] = map[int]bool{}
			}
			s[n][i] = true
		}
	}
}

// support returns in how many trajectories a candidate occurs as the steps of meta-tools
// only: where an agent called them by itself, no step is one.
func (s served) support(c *candidate.Candidate, walks *merge.Walks) int {
	if len(s) == 0 {
		return 0
	}
	n, last, only := 0, -1, false
	for _, o := range c.Occurrences {
		if o.Trajectory != last {
			if only {
				n++
			}
			last, only = o.Trajectory, true
		}
		places := merge.Place(c.Len())
		if o.Counts != nil {
			places = 0
			for _, k := range o.Counts {
				places += merge.Place(k)
			}
		}
		for p := o.First; only && p < o.First+places; p++ {
			first, _, made := walks.Calls(p)
			only = made == 0 || s[o.Trajectory][first]
		}
	}
	if only {
		n++
	}
	return n
}
