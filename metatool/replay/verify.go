package replay

import (
	"maps"
	"slices"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// Verifier replays meta-tools at the places where they would save a turn. Check is pure and may run in parallel; Add takes its results in the order
// of the input.
type Verifier struct {
	tally []*Verification
	extra []map[int]int

	finder *Finder
	added  int   // trajectories
	last   []int // by tool: the trajectory that was counted last
}

// NewVerifier returns a verifier of tools.
func NewVerifier(tools []*metatool.Tool) *Verifier {
	v := &Verifier{finder: NewFinder(tools), last: make([]int, len(tools))}
	for _, t := range tools {
		of := &Verification{Tool: t}
		for i := range t.Steps {
			of.Steps = append(of.Steps, StepTally{Tool: t.Steps[i].Tool})
		}
		v.tally = append(v.tally, of)
		v.extra = append(v.extra, map[int]int{})
	}
	return v
}

// Verification is how often a meta-tool did what was recorded.
type Verification struct {
	Tool         *metatool.Tool `json:"-"`
	Occurrences  int            `json:"occurrences"`  // places where it would save a turn, as Finder.Find gives them; they may overlap
	Trajectories int            `json:"trajectories"` // with at least one
	Exact        int            `json:"exact"`        // occurrences that were replayed exactly
	Known        int            `json:"inputs_known"` // of all: those whose inputs were known before the first call
	Saves        int            `json:"saving"`       // exact and known
	TurnsSaved   int            `json:"turns_saved"`  // calling turns that these save, each meta-tool for itself

	// NotComparable are places that are not among Occurrences, because the recording
	// lacks what the replay would be compared with; see Replay.NotComparable.
	NotComparable int `json:"not_comparable"`

	Steps []StepTally `json:"steps"`

	ExtraMean float64 `json:"extra_reads_mean"` // reads that were not recorded, by exact occurrence
	ExtraP95  int     `json:"extra_reads_p95"`

	Disagreements []Disagreement `json:"-"`             // the first ones, at most MaxDisagreements
	Disagreed     diag.Counts    `json:"disagreements"` // all, by code
}

// MaxDisagreements is how many disagreements of a meta-tool are kept.
const MaxDisagreements = 10

// StepTally is how often a step made the recorded calls.
type StepTally struct {
	Tool  string `json:"tool"`
	Exact int    `json:"exact"`
	Total int    `json:"total"` // occurrences in which the step was reached
}

// Disagreement is one occurrence that was not replayed exactly. It holds no
// value of the trajectory.
type Disagreement struct {
	Trajectory string // its ID
	Source     diag.Pos
	Call       int // index into Trajectory.Calls of the first call of the step
	Step       int
	Code       string
	Argument   string // which argument or input it is about, if one
}

// Agreement returns the share of occurrences that were replayed exactly, with its
// interval.
func (v *Verification) Agreement() stat.Proportion {
	return stat.Share(v.Exact, v.Occurrences)
}

// Checks are the replays of one trajectory.
type Checks struct {
	replays []toolReplay // by place
	id      string
	source  diag.Pos
}

// toolReplay is the replay of one meta-tool.
type toolReplay struct {
	tool int
	*Replay
}

// Check replays every meta-tool at every place of t. marks are those of its
// calls under rules, nil without rules.
func (v *Verifier) Check(t *trace.Trajectory, marks []merge.Mark) *Checks {
	c := &Checks{id: t.ID, source: t.Source}
	for _, p := range v.finder.Find(t, marks) {
		if !p.Across {
			c.replays = append(c.replays, toolReplay{p.Tool, p.Replay})
		}
	}
	return c
}

// Add counts the replays of one trajectory.
func (v *Verifier) Add(c *Checks) {
	v.added++
	for _, r := range c.replays {
		if v.last[r.tool] != v.added {
			v.last[r.tool] = v.added
			v.tally[r.tool].Trajectories++
		}
		v.tally[r.tool].add(r.Replay, c)
		if r.Exact {
			v.extra[r.tool][r.extra()]++
		}
	}
}

// extra returns the reads that were not recorded.
func (r *Replay) extra() int {
	n := 0
	for _, s := range r.Steps {
		n += s.Extra
	}
	return n
}

func (v *Verification) add(r *Replay, c *Checks) {
	if r.NotComparable {
		v.NotComparable++
		return
	}
	v.Occurrences++
	if r.Known {
		v.Known++
	}
	if r.Exact {
		v.Exact++
	}
	if r.Saves {
		v.Saves++
		v.TurnsSaved += r.Turns
	}
	for i, s := range r.Steps {
		v.Steps[i].Total++
		if s.Exact {
			v.Steps[i].Exact++
			continue
		}
		v.Disagreed.AddN(s.Code, 1)
		if len(v.Disagreements) < MaxDisagreements {
			v.Disagreements = append(v.Disagreements, Disagreement{
				Trajectory: c.id, Source: c.source, Call: r.Occurrence.Calls[i][0], Step: i, Code: s.Code, Argument: s.Argument,
			})
		}
		break // what comes after the first disagreement follows from it
	}
}

// Verifications returns what was counted, in the order of the tools.
func (v *Verifier) Verifications() []*Verification {
	for i, t := range v.tally {
		t.ExtraMean, t.ExtraP95 = 0, 0
		total, below := 0, 0
		for n, count := range v.extra[i] {
			total += n * count
		}
		if t.Exact == 0 {
			continue
		}
		t.ExtraMean = float64(total) / float64(t.Exact)
		for _, n := range slices.Sorted(maps.Keys(v.extra[i])) {
			if below += v.extra[i][n]; below*100 >= t.Exact*95 {
				t.ExtraP95 = n
				break
			}
		}
	}
	return v.tally
}
