package compare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
)

// Warning is a reason to doubt a comparison.
type Warning struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

// Codes of warnings.
const (
	WarnNoControl = "no-control"     // one arm only
	WarnFewUnits  = "few-units"      // fewer than stat.GoodClusters in an arm
	WarnUnlike    = "arms-unlike"    // the arms differ in what no treatment changes
	WarnAssumed   = "turns-assumed"  // by the time between calls
	WarnMixed     = "designs-mixed"  // several shares, seeds or kinds of unit
	WarnCut       = "recordings-cut" // what they would have had after that is missing
	WarnForeign   = "not-recorded"   // trajectories without what the gateway says of itself
)

// unlike is the two-sided p below which the split of units is taken for broken.
const unlike = 0.001

func (r *Result) warn(c *Comparison) {
	warn := func(code, format string, args ...any) {
		r.Warnings = append(r.Warnings, Warning{code, fmt.Sprintf(format, args...)})
	}
	if c.none > 0 {
		warn(WarnForeign, "%d trajectories were not recorded by awo serve and are left out", c.none)
	}
	if c.cut > 0 {
		warn(WarnCut, "%d recordings are incomplete: they could not be written to their end, and count with what they have", c.cut)
	}
	if r.Treated.Units == 0 || r.Control.Units == 0 {
		warn(WarnNoControl, "there is one arm only: nothing is compared; awo serve --control 0.5 makes two")
		return
	}
	if n := min(r.Treated.Units, r.Control.Units); n < stat.GoodClusters {
		warn(WarnFewUnits, "an arm has %d units; below %d intervals are rough", n, stat.GoodClusters)
	}
	if len(c.shares) > 1 || len(c.seeds) > 1 || len(c.units) > 1 {
		warn(WarnMixed, "the sessions were drawn in different ways: compare each experiment by itself")
	} else if n := r.Treated.Units + r.Control.Units; n >= stat.GoodClusters && r.Share > 0 && r.Share < 1 {
		if in := stat.Exact(r.Control.Units, n, 1-unlike); r.Share < in.Lo || r.Share > in.Hi {
			warn(WarnUnlike, "%d of %d units are control and a share of %v was drawn: something decides who is recorded", r.Control.Units, n, r.Share)
		}
	}
	agents := [2]map[string]int{{}, {}}
	for _, s := range c.sessions {
		arm := 0
		if s.treated {
			arm = 1
		}
		agents[arm][s.agent]++
	}
	for _, name := range slices.Sorted(maps.Keys(agents[0])) {
		t, k := agents[1][name], agents[0][name]
		a, b := stat.Exact(k, r.Control.Sessions, 1-unlike), stat.Exact(t, r.Treated.Sessions, 1-unlike)
		if r.Unit == "session" && (a.Lo > b.Hi || b.Lo > a.Hi) {
			warn(WarnUnlike, "an agent has %d of %d sessions of control and %d of %d of the others", k, r.Control.Sessions, t, r.Treated.Sessions)
		}
	}
	if n := r.Treated.Assumed + r.Control.Assumed; n > 0 {
		warn(WarnAssumed, "%d turns are assumed from the time between calls", n)
	}
}

// Advice is what should become of a meta-tool or a rule.
type Advice string

// The advice.
const (
	Keep     Advice = "keep"
	Fix      Advice = "fix"
	Withdraw Advice = "withdraw"
	Wait     Advice = "wait" // nothing says so yet
)

const (
	enoughUses   = 20  // before advice is given on how uses end
	fewUses      = 5   // before it is said that there are too many
	enoughReads  = 20  // and reads
	goodShare    = 0.9 // of uses that complete
	badShare     = 0.5
	manyRepeated = 0.25 // of uses after which the agent makes the calls again
)

// judge says what should become of the meta-tool, and why: over is its over-use, at the
// level of the intervals that advice rests on.
func (t *Tool) judge(over stat.Interval, level float64) {
	t.Completion = stat.Share(t.Completed, t.Uses).Interval
	t.Advice, t.Reason = t.advice(over, level)
}

func (t *Tool) advice(over stat.Interval, level float64) (Advice, string) {
	wilson := func(count, n int) stat.Interval { return stat.Wilson(float64(count), float64(n), level) }
	completed := wilson(t.Completed, t.Uses)
	// The interval rests on sessions, so a few uses are enough for it.
	overUsed := over.Known() && over.Lo > 0 && t.Uses >= fewUses
	overUse := fmt.Sprintf("over-used: agents call it where they would not make its calls (a session has %s more than control)", signed(over))
	switch {
	case t.Uses == 0 && t.Wanted >= enoughUses:
		return Fix, fmt.Sprintf("never called in %d sessions that made its calls one by one: say in its description when it helps", t.Wanted)
	case t.Uses == 0 && t.Sessions >= enoughUses:
		return Withdraw, fmt.Sprintf("not called in %d sessions", t.Sessions)
	case overUsed && t.Uses < enoughUses:
		return Fix, overUse
	case t.Uses < enoughUses:
		return Wait, fmt.Sprintf("%d uses; from %d on there is advice", t.Uses, enoughUses)
	case completed.Hi < badShare:
		return Withdraw, fmt.Sprintf("%d of %d uses complete; most end with %s", t.Completed, t.Uses, t.commonest())
	case t.Saved <= 0:
		return Withdraw, fmt.Sprintf("it saves no turn: %d calls were made again after %d uses", t.Repeats, t.Uses)
	case overUsed:
		return Fix, overUse
	case wilson(t.Repeated, t.Uses).Lo > manyRepeated:
		return Fix, fmt.Sprintf("after %d of %d uses the agent makes a call of it again: does the answer show all results?", t.Repeated, t.Uses)
	case completed.Hi < goodShare:
		return Fix, fmt.Sprintf("%d of %d uses complete; most others end with %s", t.Completed, t.Uses, t.commonest())
	}
	return Keep, fmt.Sprintf("%d of %d uses complete", t.Completed, t.Uses)
}

func signed(in stat.Interval) string { return fmt.Sprintf("%.2f to %.2f", in.Lo, in.Hi) }

// commonest returns the code of most hand-backs.
func (t *Tool) commonest() string {
	best := ""
	for _, code := range slices.Sorted(maps.Keys(t.HandBacks)) {
		if best == "" || t.HandBacks[code] > t.HandBacks[best] {
			best = code
		}
	}
	return best
}

// judge says how often reads are asked for, what should become of the rule, and why.
func (u *Rule) judge(promised map[string]float64, level float64) {
	const none = "every read was attached to an answer, so that nobody sees whether it is used"
	u.Precision, u.Interval, u.Promised = stat.Ratio(u.Asked, u.Held, none), stat.NoInterval(none), stat.Unknown("--tools says what is promised")
	if u.Held > 0 {
		u.Interval = stat.Share(u.Asked, u.Held).Interval
	}
	share, known := promised[u.ID]
	if known {
		u.Promised = stat.Known(share)
	}
	if share <= 0 {
		share = badShare
	}
	u.Advice, u.Reason = u.advice(share, level)
}

func (u *Rule) advice(promised, level float64) (Advice, string) {
	wilson := func(count, n int) stat.Interval { return stat.Wilson(float64(count), float64(n), level) }
	share, known := u.Precision.Value()
	in := wilson(u.Asked, u.Held)
	switch {
	case u.Reads == 0 && u.Sessions >= enoughUses:
		return Withdraw, fmt.Sprintf("nothing was prefetched in %d sessions", u.Sessions)
	case u.Reads < enoughReads:
		return Wait, fmt.Sprintf("%d reads; from %d on there is advice", u.Reads, enoughReads)
	case wilson(u.Failed, u.Reads).Lo > 1-goodShare:
		return Fix, fmt.Sprintf("%d of %d reads fail", u.Failed, u.Reads)
	case known && u.Held >= 5 && in.Hi < promised:
		return Withdraw, fmt.Sprintf("%d of %d reads are asked for, %.0f %% are promised", u.Asked, u.Held, 100*promised)
	case u.Attached > 0 && wilson(u.InVain, u.Attached).Lo > manyRepeated:
		return Fix, fmt.Sprintf("agents ask again for %d of %d reads that they were given", u.InVain, u.Attached)
	case !known || u.Held < enoughReads && in.Lo < promised:
		return Wait, fmt.Sprintf("%d reads were not attached; more are needed to see whether they are used", u.Held)
	case in.Lo < promised && share < promised:
		return Wait, fmt.Sprintf("%d of %d reads are asked for, which is not clearly below what is promised (%.0f %%)", u.Asked, u.Held, 100*promised)
	}
	return Keep, fmt.Sprintf("%d of %d reads are asked for", u.Asked, u.Held)
}
