package comparing

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/contrast"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// gate is a condition of --fail-on: a change beyond its limit fails the comparison.
type gate struct {
	text    string
	measure int
	below   bool // the change must not be below the limit; else not above it
	limit   float64
	percent bool // of the figure before; of shares percentage points
}

// condition is how a gate is written.
var condition = regexp.MustCompile(`^([A-Za-z_ -]+?)\s*([<>])\s*([+-]?[0-9]*\.?[0-9]+)\s*(%?)$`)

// readGates reads the value of --fail-on, which may be empty.
func readGates(text string) ([]gate, error) {
	if text == "" {
		return nil, nil
	}
	var gates []gate
	column := 1
	for part := range strings.SplitSeq(text, ",") {
		pos := diag.Pos{File: "--fail-on", Line: 1, Col: column + len(part) - len(strings.TrimLeft(part, " "))}
		column += len(part) + 1
		part = strings.TrimSpace(part)
		m := condition.FindStringSubmatch(part)
		if m == nil {
			return nil, diag.New(pos, "condition-invalid", "a condition is a figure, < or >, and a change, such as cost > +10%%")
		}
		name := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(m[1]))
		if name == "cost" {
			name = "money"
		}
		g := gate{text: part, measure: -1, below: m[2] == "<", percent: m[4] != ""}
		var known []string
		for i := range contrast.Measures {
			if known = append(known, contrast.Measures[i].Name); known[i] == name {
				g.measure = i
			}
		}
		if g.measure < 0 {
			return nil, diag.New(pos, "condition-invalid", "there is no figure %q; there are %s", name, strings.Join(known, ", "))
		}
		var err error
		if g.limit, err = strconv.ParseFloat(m[3], 64); err != nil {
			return nil, diag.New(pos, "condition-invalid", "%q is no number", m[3])
		}
		gates = append(gates, g)
	}
	return gates, nil
}

// The verdicts on a gate.
const (
	gatePassed       = "passed"
	gateFailed       = "failed"
	gateInconclusive = "inconclusive"
)

// gateRow is a gate with what became of it.
type gateRow struct {
	Condition string      `json:"condition"`
	Figure    string      `json:"figure"`
	Change    stat.Figure `json:"change"` // in the unit of the condition
	P         stat.Figure `json:"p"`      // one-sided against no change, adjusted like p_adjusted
	Verdict   string      `json:"verdict"`
	More      int         `json:"trajectories_needed"` // more, about, that would decide; 0 if none or not known
}

// judge says what becomes of a gate: a change beyond its limit fails it if chance does not
// explain it.
func (g *gate) judge(e *contrast.Estimate, runs int) gateRow {
	row := gateRow{Condition: g.text, Figure: contrast.Measures[g.measure].Name, Change: e.Difference, P: stat.Unknown("no test"), Verdict: gateInconclusive}
	change, known := e.Difference.Value()
	if !known {
		return row
	}
	if g.percent {
		base := 1.0
		if row.Figure != "success" {
			base, _ = e.Before.Value()
		}
		change *= 100 / base
		if row.Change = stat.Finite(change, "the figure was 0 before"); !row.Change.Known() {
			return row
		}
	}
	if g.below && change >= g.limit || !g.below && change <= g.limit {
		row.Verdict = gatePassed
		return row
	}
	p, known := e.PAdjusted.Value()
	if !known {
		return row
	}
	if p /= 2; g.below != (change < 0) {
		p = 1 - p // the limit is beyond no change, and what changed is on the other side of it
	}
	if row.P = stat.Known(p); p < gateLevel {
		row.Verdict = gateFailed
		return row
	}
	// The normal score of p grows with the root of the number of runs; it has to be that of
	// the smallest of all figures.
	raw, _ := e.P.Value()
	score, wanted := stat.NormalQuantile(1-raw/2), stat.NormalQuantile(1-gateLevel/float64(len(contrast.Measures)))
	if more := math.Ceil(float64(runs) * (wanted*wanted/(score*score) - 1)); g.below == (change < 0) && more > 0 && more < 1e6 {
		row.More = int(more)
	}
	return row
}

// gateLevel is how small p must be for a gate to fail.
const gateLevel = 0.05

// gatesAnswer says what became of the gates.
func gatesAnswer(rows []gateRow) string {
	var failed, open []string
	for i := range rows {
		r := &rows[i]
		change, known := r.Change.Value()
		said := "is not known"
		if known {
			said = "changed by " + strings.Replace(fmt.Sprintf("%+.3g", change), "-", "\u2212", 1)
			if strings.HasSuffix(r.Condition, "%") {
				said += " %"
			}
		}
		text := fmt.Sprintf("%s %s (%s)", strings.ReplaceAll(r.Figure, "_", " "), said, r.Condition)
		switch {
		case r.Verdict == gateFailed:
			failed = append(failed, text)
		case r.Verdict == gateInconclusive && r.More > 0:
			open = append(open, fmt.Sprintf("%s: about %s more would decide", text, cli.CountOf(r.More, "trajectory")))
		case r.Verdict == gateInconclusive:
			open = append(open, text)
		}
	}
	var parts []string
	if len(failed) > 0 {
		parts = append(parts, "FAILED: "+strings.Join(failed, "; ")+".")
	}
	if len(open) > 0 {
		parts = append(parts, "Inconclusive: "+strings.Join(open, "; ")+".")
	}
	if parts == nil {
		return "Passed: " + cli.CountOf(len(rows), "condition") + "."
	}
	return strings.Join(parts, " ")
}

func gatesTable(rows []gateRow) *report.Table {
	table := report.TableOf("conditions", "Conditions", rows, []report.Column{
		{Key: "condition"}, {Key: "change", Digits: 2}, {Key: "p", Digits: 3}, {Key: "verdict", Words: true}, {Key: "trajectories_needed", Title: "more needed"},
	})
	table.Brief = len(rows)
	table.NoteIf(len(rows) > 0, "A condition fails if the change is beyond its limit, and chance does not explain a change to that side (one-sided p below 0.05, adjusted for all figures by Holm).")
	return table.IfAny()
}
