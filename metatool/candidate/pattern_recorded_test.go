package candidate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// patternsOf makes both passes over trajectories.
func patternsOf(list []*trace.Trajectory, set *rules.Set, o Options, judged bool) (*merge.Merged, *Patterns) {
	merger := merge.NewMerger(set, merge.Options{})
	var collector dataflow.Collector
	links := dataflow.NewLinks()
	for _, one := range list {
		merger.Add(one)
		links.Add(collector.Collect(one))
	}
	m, s := merger.Merged(), links.Set()
	p := NewPatterns(m, s, o)
	judge := dataflow.NewJudge(s)
	for i, one := range list {
		judge.Add(judge.Check(one))
		p.Add(p.Symbols(i, one, collector.Collect(one)))
	}
	if judged {
		p.Judge(judge.Judgments())
	}
	return m, p
}

// describePattern writes a candidate for people.
func describePattern(c *Candidate) string {
	var b strings.Builder
	for i, s := range c.Pattern {
		if i > 0 {
			b.WriteString(" > ")
		}
		b.WriteString(s.Name)
		if s.Each != nil {
			fmt.Fprintf(&b, "*(%s of %d)", s.Each.From, s.From)
		}
	}
	return fmt.Sprintf("%4d turns %4d times %4d runs: %s", c.TurnsSaved, len(c.Occurrences), c.Support, b.String())
}

const retailRules = `{"version": 1, "rules": [
	{"id": "reads", "kind": "effect", "match": {"tool": ["get_*", "find_*", "list_*", "calculate"]}, "effect": "accessor"},
	{"id": "thinking", "kind": "effect", "match": {"tool": "think"}, "effect": "annotator"}
]}`

// TestRecordedPatterns: what patterns find on recorded sets against Algorithm 1.
func TestRecordedPatterns(t *testing.T) {
	const (
		reservations = ": get_user_details > get_reservation_details*(get_user_details.reservations[*] of 0)"
		orders       = ": find_user_id_by_name_zip > get_user_details > get_order_details*(get_user_details.orders[*] of 1)"
	)
	for _, set := range []struct {
		file, oracle string
		rules        bool
		pattern      string
	}{
		{"tau2/airline_azure-gpt-4o.json", "airline_azure-gpt-4o", true, reservations},
		{"tau2/airline_gpt-oss-120b.json", "airline_gpt-oss-120b", true, ""}, // one call, repeated, and nothing else
		{"taubench/gpt-4o-airline.json", "gpt-4o-airline", true, reservations},
		{"tau2/retail_gpt-4.1.json", "retail_gpt-4.1", false, orders},
		{"tau2/retail_toolorchestra-gpt-5.json", "retail_toolorchestra-gpt-5", false, orders},
	} {
		t.Run(set.oracle, func(t *testing.T) {
			list := recordings.Read(t, recordings.Recorded(t, set.file))
			rule := recordings.Parse(t, "retail.json", []byte(retailRules))
			if set.rules {
				rule = recordings.AirlineRules(t)
			}
			m, p := patternsOf(list, rule, Options{}, true)
			awo := Extract(m, Options{})
			x := p.Extraction()
			t.Logf("%d calling turns: awo saves %d, patterns %d (%.1f %%) with %d", x.Turns, awo.TurnsSaved(), x.TurnsSaved(),
				100*float64(x.TurnsSaved())/float64(x.Turns), len(x.Candidates))
			for _, c := range x.Candidates {
				t.Log(describePattern(c))
				checkOccurrences(t, m, c)
			}
			if x.TurnsSaved() < 3*awo.TurnsSaved() {
				t.Errorf("patterns save %d turns, Algorithm 1 %d", x.TurnsSaved(), awo.TurnsSaved())
			}
			if want := set.pattern; want != "" && !slices.ContainsFunc(x.Candidates, func(c *Candidate) bool { return strings.HasSuffix(describePattern(c), want) }) {
				t.Errorf("no pattern is %s", want)
			}
		})
	}
}

// checkOccurrences holds what every occurrence is: steps of the walk that call
// the pattern's tools one after the other, without a user message inside.
func checkOccurrences(t *testing.T, m *merge.Merged, c *Candidate) {
	t.Helper()
	runs := map[int]bool{}
	for _, o := range c.Occurrences {
		runs[o.Trajectory] = true
		place := o.First
		first, last := m.Walks.Of(o.Trajectory)
		for i, s := range c.Pattern {
			n := int32(1)
			if o.Counts != nil {
				n = o.Counts[i]
			}
			if n > 1 && s.Each == nil {
				t.Fatalf("a step is %d calls, but no fan-out", n)
			}
			for range n {
				tool, _ := m.Labels.Tool(m.Graph.Label(m.Walks.Edge(place)))
				if place < first || place >= last || tool != s.Tool || place > o.First && !m.Walks.Flags(place).Joined() {
					t.Fatalf("%s: not at %d of trajectory %d", describePattern(c), place, o.Trajectory)
				}
				place++
			}
		}
	}
	if len(runs) != c.Support {
		t.Fatalf("support is %d, want %d", c.Support, len(runs))
	}
}
