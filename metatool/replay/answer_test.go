package replay_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// answeredSets are the recorded sets and the office, with rules or without.
var answeredSets = []struct {
	file  string
	rules func(testing.TB) *rules.Set
}{
	{"tau2/airline_azure-gpt-4o.json", recordings.AirlineRules},
	{"tau2/airline_gpt-oss-120b.json", recordings.AirlineRules},
	{"taubench/gpt-4o-airline.json", recordings.AirlineRules},
	{"tau2/retail_gpt-4.1.json", nil},
	{"tau2/retail_toolorchestra-gpt-5.json", nil},
	{"", officeRules},
}

// TestAnswersAtPlaces runs every meta-tool that can be offered at every place of every
// recorded set: an answer is hardly longer than the results in it, and where the replay
// is exact, it holds every value of the results that the recording uses later.
func TestAnswersAtPlaces(t *testing.T) {
	values := 0
	for _, set := range answeredSets {
		name := filepath.Base(set.file)
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(officeFolder, "trajectories.jsonl.gz")
			if set.file != "" {
				path = recordings.Recorded(t, set.file)
			}
			list := recordings.Read(t, path)
			var ruleset *rules.Set
			if set.rules != nil {
				ruleset = set.rules(t)
			}
			for _, algorithm := range []compile.Algorithm{compile.AWO, compile.Patterns} {
				count := answersAtPlaces(t, list, ruleset, algorithm)
				t.Logf("%s: %+v, %.3f times the results", algorithm, count, float64(count.answerBytes)/float64(max(count.resultBytes, 1)))
				if count.tools > 0 && count.values == 0 || count.dropped > 0 {
					t.Errorf("%s: %d places, %d values are used later, %d of them are dropped", algorithm, count.places, count.values, count.dropped)
				}
				values += count.values
			}
		})
	}
	if values < 3000 { // the office alone has more
		t.Errorf("only %d values are used later", values)
	}
}

// answerCount is what was counted over the places of a set.
type answerCount struct {
	tools, places, exact, values, dropped, plumbing int
	resultBytes, answerBytes, omitted               int
}

func answersAtPlaces(t *testing.T, list []*trace.Trajectory, set *rules.Set, algorithm compile.Algorithm) answerCount {
	tools := writtenAndRead(t, compiled(t, list, set, compile.Options{Algorithm: algorithm}))
	count := answerCount{tools: len(tools)}
	for _, tool := range tools {
		for i := range tool.Steps {
			if !tool.Output.Returns(i) {
				count.plumbing++
			}
		}
	}
	finder := replay.NewFinder(tools)
	marks := marker(set)
	for _, one := range list {
		for _, p := range finder.Find(one, marks(one)) {
			if p.Replay.NotComparable {
				continue
			}
			count.add(t, one, tools[p.Tool], p.Replay)
		}
	}
	return count
}

func (n *answerCount) add(t *testing.T, one *trace.Trajectory, tool *metatool.Tool, r *replay.Replay) {
	n.places++
	inputs, missing := replay.Inputs(tool, one, r.Occurrence)
	if missing != "" {
		return
	}
	out := execute.Run(t.Context(), tool, inputs, replay.NewRecordings(one, r.Occurrence.First()), execute.Options{MaxCalls: 1000, SkipFailedReads: true})
	answer := string(out.AppendAnswer(nil, tool, execute.AnswerOptions{}))
	if out.State == execute.Done {
		results, allowed := 0, 0
		for i := range out.Steps {
			if !tool.Output.Returns(i) {
				continue
			}
			allowed += 40
			for _, c := range out.Steps[i].Calls {
				results += bytesOf(&c.Result.Value)
			}
			if tool.Steps[i].Each != nil {
				allowed += 40 * len(out.Steps[i].Calls) // each is told with its element
			}
		}
		n.resultBytes, n.answerBytes = n.resultBytes+results, n.answerBytes+len(answer)
		n.omitted += strings.Count(answer, `{"in":`)
		if limit := int(1.05*float64(results)) + allowed; len(answer) > limit {
			t.Errorf("%s at call %d of %s: %d bytes for %d bytes of results, at most %d are allowed", tool.Name, r.Occurrence.First(), one.ID, len(answer), results, limit)
		}
	}
	if !r.Exact {
		return
	}
	n.exact++
	for _, calls := range r.Occurrence.Calls {
		for _, c := range calls {
			for _, value := range leavesOf(one.Calls[c].Result) {
				if !usedAfter(one, value, r.Occurrence) || knownBefore(one, value, r.Occurrence.First()) {
					continue
				}
				n.values++
				if !strings.Contains(answer, quoted(value)) {
					n.dropped++
					t.Errorf("%s at call %d of %s drops a value of call %d that is used later", tool.Name, r.Occurrence.First(), one.ID, c)
				}
			}
		}
	}
}

// bytesOf returns how long a result is as the tool gave it.
func bytesOf(v *trace.Value) int {
	if v.Kind == trace.String {
		return len(v.Text)
	}
	return len(v.AppendCanonical(nil))
}

func quoted(value string) string {
	text := string(trace.NewString(value).AppendCanonical(nil))
	return text[1 : len(text)-1]
}

// leavesOf returns the texts and numbers of a result that no small number or short word
// is equal to by chance.
func leavesOf(result trace.Raw) []string {
	v, err := trace.ParseValue([]byte(result.Text()))
	if err != nil {
		v = trace.NewString(result.Text())
	}
	var out []string
	var walk func(v *trace.Value)
	walk = func(v *trace.Value) {
		text := v.Text
		if v.Kind == trace.Number {
			text = jsonvalue.Number(text) // 7.0 is told as 7
		}
		if len(text) >= 4 {
			out = append(out, text)
		}
		for i := range v.Elems {
			walk(&v.Elems[i])
		}
		for i := range v.Members {
			walk(&v.Members[i].Value)
		}
	}
	walk(&v)
	return out
}

// usedAfter reports whether a value of a result of an occurrence stands in the arguments
// of a later call that is not part of it, or in what the model said behind it.
func usedAfter(one *trace.Trajectory, value string, o replay.Occurrence) bool {
	for i := o.First() + 1; i < len(one.Calls); i++ {
		inside := slices.ContainsFunc(o.Calls, func(calls []int) bool { return slices.Contains(calls, i) })
		if !inside && strings.Contains(one.Calls[i].Args.Text(), quoted(value)) {
			return true
		}
	}
	for i := range one.Turns {
		if one.Turns[i].FirstCall > o.Last() && strings.Contains(one.Turns[i].Text.Text(), value) {
			return true
		}
	}
	return false
}

// knownBefore reports whether a value was told before a call.
func knownBefore(one *trace.Trajectory, value string, before int) bool {
	for i := range one.Messages {
		if one.Messages[i].Call <= before && strings.Contains(one.Messages[i].Text.Text(), value) {
			return true
		}
	}
	for i := range before + 1 {
		if strings.Contains(one.Calls[i].Args.Text(), quoted(value)) || i < before && strings.Contains(one.Calls[i].Result.Text(), quoted(value)) {
			return true
		}
	}
	return false
}
