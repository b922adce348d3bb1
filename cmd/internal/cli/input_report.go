package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// InputJSON is the block "input" of every result: what came in, after filters
// and exclusions.
type InputJSON struct {
	Files          int          `json:"files"`
	Records        int          `json:"records"`
	Trajectories   int          `json:"trajectories"`
	Empty          int          `json:"empty"`
	Calls          int          `json:"calls"`
	OtherCalls     int          `json:"other_calls"`
	Tools          int          `json:"tools"`
	LLMTurns       stat.Figure  `json:"llm_turns"`
	CallingTurns   stat.Figure  `json:"calling_turns"`
	UserMessages   int          `json:"user_messages"`
	CallsAfterUser int          `json:"calls_after_user"`
	WithoutResult  int          `json:"without_result"`
	Expanded       int          `json:"expanded,omitempty"`      // calls of meta-tools that were read as their steps
	TurnsAssumed   int          `json:"turns_assumed,omitempty"` // of llm_turns: by the time between calls
	OrphanResults  int          `json:"orphan_results"`
	LeftOut        LeftOutJSON  `json:"left_out"`
	Problems       ProblemsJSON `json:"problems"`
	Lacks          []LackJSON   `json:"lacks,omitempty"`

	// Bounded says which bounds were reached, and what was left out beyond them.
	Bounded []bounds.Report `json:"bounded,omitempty"`

	// StatusFrom says what failed calls were known by where the format has no flag.
	StatusFrom []completeness.StatusReading `json:"status_from,omitempty"`

	// Mined says what was mined where that is not all; see corpus.
	Mined *MinedJSON `json:"mined,omitempty"`
}

// LackJSON is what the traces do not support of what a command rests on.
type LackJSON struct {
	Capability string  `json:"capability"`
	Share      float64 `json:"share"` // of what it needs that is there
	Of         int     `json:"of"`
	Units      string  `json:"units"`
	Reason     string  `json:"reason"`
}

// enough is the share of what a command needs from which on it is not worth a
// word that some is not there.
const enough = 0.95

// lacks returns which of its needs the traces do not support, or only in part.
func (in *Intake) lacks() []LackJSON {
	var out []LackJSON
	for _, c := range in.Tally.Capabilities() {
		if c.Share < enough && slices.Contains(in.Needs, c.Name) && in.Tally.Calls > 0 {
			out = append(out, LackJSON{c.Name, c.Share, c.Of, c.Units, c.Reason})
		}
	}
	return out
}

// Refuse is the error for traces that do not support what rules ask for.
func (in *Intake) Refuse(set *rules.Set) error {
	if set != nil && set.Outcome == rules.OutcomeSuccess && in.Tally.Trajectories > 0 && in.Tally.OutcomeKnown == 0 {
		return diag.New(diag.Pos{}, "outcome-unknown", "the rules read successful trajectories only, and of these traces (%s) none records its outcome", CountOf(in.Tally.Trajectories, "trajectory"))
	}
	return nil
}

// LeftOutJSON counts the trajectories that were read but not wanted.
type LeftOutJSON struct {
	filter.Counts
	Excluded int `json:"excluded,omitempty"`
}

// ProblemsJSON counts problems, by their code.
type ProblemsJSON struct {
	Total  int            `json:"total"`
	ByCode map[string]int `json:"by_code"`
}

// JSON returns the block "input". Call it when All has ended.
func (in *Intake) JSON() InputJSON {
	y := in.Tally
	var counts trace.Counts
	if in.stored != nil {
		counts = trace.Counts{Records: in.stored.Records, Problems: in.stored.Problems}
	} else {
		counts = in.Reader.Counts()
	}
	problems := diag.Counts{ByCode: map[string]int{}}
	for _, c := range []diag.Counts{counts.Problems, y.Problems} {
		for code, n := range c.ByCode {
			problems.AddN(code, n)
		}
	}
	out := InputJSON{
		Files: in.files(), Records: counts.Records, Trajectories: y.Trajectories, Empty: y.Empty,
		Calls: y.Calls, OtherCalls: y.OtherCalls, Tools: y.Tools(), LLMTurns: stat.Count(y.LLMTurns), CallingTurns: stat.Count(y.CallingTurns),
		UserMessages: y.UserMessages, CallsAfterUser: y.CallsAfterUser, WithoutResult: y.WithoutResult, OrphanResults: y.OrphanResults, TurnsAssumed: y.TurnsAssumed, Expanded: in.expanded,
		LeftOut:  LeftOutJSON{Counts: in.left, Excluded: in.excluded},
		Problems: ProblemsJSON{Total: problems.Total, ByCode: problems.ByCode},
		Lacks:    in.lacks(), Bounded: in.bounded(), StatusFrom: y.StatusReadings(), Mined: in.mined,
	}
	if y.TurnsUnknown > 0 && y.TurnsUnknown == y.Calls {
		const reason = "these traces do not record which model response made a call"
		out.LLMTurns, out.CallingTurns = stat.Unknown(reason), stat.Unknown(reason)
	}
	return out
}

// Summary says in a few sentences what came in.
func (in *Intake) Summary() report.Paragraph {
	y := in.Tally
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s", CountOf(y.Trajectories, "trajectory"), CountOf(in.files(), "file"))
	if y.Empty > 0 {
		fmt.Fprintf(&b, " (%s without a call)", report.Grouped(y.Empty))
	}
	fmt.Fprintf(&b, ": %s of %s", CountOf(y.Calls, "call"), CountOf(y.Tools(), "tool"))
	switch {
	case y.TurnsUnknown == y.Calls && y.Calls > 0:
		b.WriteString("; model turns are not recorded")
	case y.LLMTurns > 0:
		fmt.Fprintf(&b, ", made in %s of %s", report.Grouped(y.CallingTurns), CountOf(y.LLMTurns, "model turn"))
		if y.TurnsAssumed > 0 {
			fmt.Fprintf(&b, " (%s assumed from the time between calls)", report.Grouped(y.TurnsAssumed))
		}
	}
	fmt.Fprintf(&b, "; %s.", CountOf(y.UserMessages, "user message"))
	if y.OtherCalls > 0 {
		fmt.Fprintf(&b, " Not part of any sequence, because no model decided on them: %s.", CountOf(y.OtherCalls, "call"))
	}
	if in.expanded > 0 {
		fmt.Fprintf(&b, " Of meta-tools, and read as their steps made one by one: %s.", CountOf(in.expanded, "call"))
	}
	if y.WithoutResult > 0 {
		fmt.Fprintf(&b, " %s without a result.", CountOf(y.WithoutResult, "call"))
	}
	if y.OrphanResults > 0 {
		fmt.Fprintf(&b, " %s that no call asked for.", CountOf(y.OrphanResults, "result"))
	}
	if n := in.left.Total() + in.excluded; n > 0 {
		fmt.Fprintf(&b, " %s left out by filters%s.", CountOf(n, "trajectory"), untimed(in.left))
	}
	if by := y.StatusReadings(); len(by) > 0 {
		n, names := 0, make([]string, len(by))
		for i, r := range by {
			n += r.Calls
			names[i] = fmt.Sprintf("%s %s", readingName(r.By), report.Grouped(r.Calls))
		}
		fmt.Fprintf(&b, " Failed by what %s returned, not by a flag: %s%s.", CountOf(n, "call"), strings.Join(names, ", "), in.unruled(by))
	}
	b.WriteString(in.lackWords())
	b.WriteString(in.minedWords())
	b.WriteString(bounded(in.bounded()))
	if in.stored != nil && in.stored.Summaries > 0 {
		fmt.Fprintf(&b, " Counted before, and read from %s.", CountOf(in.stored.Summaries, "summary"))
	}
	return report.Paragraph(b.String())
}

// lackWords say what the traces do not support, or only in part.
func (in *Intake) lackWords() string {
	var b strings.Builder
	for _, l := range in.lacks() {
		if l.Share == 0 {
			fmt.Fprintf(&b, " %s%s.", strings.ToUpper(l.Reason[:1]), l.Reason[1:])
		} else {
			fmt.Fprintf(&b, " For %s only %.1f %% count: the %s.", l.Capability, 100*l.Share, l.Units)
		}
	}
	return b.String()
}

// bounded says which bounds were reached.
func bounded(reached []bounds.Report) string {
	var b strings.Builder
	for _, r := range reached {
		fmt.Fprintf(&b, " Bounded (%s): at most %s %s are looked at; %s %s were left out.", r.Code, report.Grouped(r.Limit), r.Of, report.Grouped(r.LeftOut), r.Unit)
	}
	return b.String()
}

// unruled says, where failures were read by built-in patterns only, how to write rules.
func (in *Intake) unruled(by []completeness.StatusReading) string {
	for _, r := range by {
		if r.By == trace.ByRule {
			return ""
		}
	}
	return "; `awo rules suggest` drafts rules for them"
}

// readingName is the name of what a status was read by.
func readingName(by string) string {
	if by == trace.ByRule {
		return "rules"
	}
	return by
}

func untimed(left filter.Counts) string {
	if left.Untimed == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them because no time is recorded", report.Grouped(left.Untimed))
}
