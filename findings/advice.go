package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/awo-dev/awo/internal/failure"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// advice says in a sentence what was found and what to do. It holds no word of the traces
// but names of tools.
func (f *Finder) advice(out *Finding, s *sums) string {
	switch out.Code {
	case Loop:
		return f.loopAdvice(out, s)
	case Retry:
		return retryAdvice(out)
	case Failures:
		return failureAdvice(out, s)
	case Batch:
		return f.batchAdvice(out, s)
	}
	return silentAdvice(out)
}

// percent writes a share as sentences do: whole from 10 % on.
func percent(share float64) string {
	if p := 100 * share; p < 10 {
		return fmt.Sprintf("%.1f %%", p)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

func rate(out *Finding) string {
	v, _ := out.Rate.Value()
	return percent(v)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return report.Grouped(n) + " times"
}

func (f *Finder) loopAdvice(out *Finding, s *sums) string {
	said := "asks the same again " + times(out.Count) + ", with nothing changed between"
	switch {
	case f.outcomes > 0 && f.failed > 0 && 2*s.inFailed > s.count:
		return fmt.Sprintf("%s, %s of these in failed runs: the agent loops; stop it, or return the earlier result with a word that it is the same", said, plain(s.inFailed))
	case s.count >= 5*s.trajectories:
		return said + ": the agent loops; stop it, or return the earlier result with a word that it is the same"
	}
	return said + ": keep results, or say in the prompt that they stay true"
}

func plain(n int) string { return report.Grouped(n) }

func retryAdvice(out *Finding) string {
	share := float64(out.Recovered) / float64(out.Count)
	worked := percent(share) + " of these retries did not fail"
	switch out.Recovered {
	case 0:
		worked = "all of these retries failed"
	case out.Count:
		worked = "none of these retries failed"
	}
	said := fmt.Sprintf("is called again unchanged %s after it failed, and %s", times(out.Count), worked)
	if share >= 0.5 {
		return said + ": let the client retry, not the model"
	}
	return said + ": say in the error what would have to change"
}

func failureAdvice(out *Finding, s *sums) string {
	if len(out.Statuses) > 0 && 2*out.Statuses[0].Count >= out.Count {
		status := out.Statuses[0]
		return fmt.Sprintf("returns %d in %s of its calls: %s", status.Status, percent(float64(status.Count)/float64(out.Of)), statusAdvice(status.Status))
	}
	return fmt.Sprintf("fails in %s of its calls%s: say in its description what it refuses, and check arguments before the call", rate(out), read(s))
}

// read says what failures were read from, where no flag of the format says so.
func read(s *sums) string {
	words := slices.DeleteFunc(slices.Sorted(maps.Keys(s.words)), func(w string) bool { return w == "" || w == trace.ByRule })
	if len(words) == 0 {
		return ""
	}
	most := slices.MaxFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(s.words[a], s.words[b]), cmp.Compare(b, a)) })
	if p := failure.Named(most); p != nil {
		return " (" + p.Doc + ")"
	}
	return ""
}

func statusAdvice(status int) string {
	switch {
	case status == 401 || status == 403:
		return "give the agent its credentials or rights before it calls"
	case status == 404 || status == 410:
		return "the agent asks for what is not there; let it look the name up first"
	case status == 429:
		return "it is called too often; let the client wait, not the model"
	case status >= 500:
		return "the tool is at fault; mend it, and let the client retry, not the model"
	}
	return "the agent sends what it refuses; say so in its description, and check arguments before the call"
}

func (f *Finder) batchAdvice(out *Finding, s *sums) string {
	said := "makes independent calls one by one"
	if f.parallel > 0 {
		said = fmt.Sprintf("makes independent calls one by one, although %s several calls", has(f.parallel))
	}
	most := ""
	if len(s.by) > 0 {
		tools := slices.SortedFunc(maps.Keys(s.by), func(a, b trace.Name) int {
			return cmp.Or(cmp.Compare(s.by[b], s.by[a]), cmp.Compare(a.Value(), b.Value()))
		})
		most = fmt.Sprintf(", most often of %s", tools[0].Value())
	}
	return fmt.Sprintf("%s%s: turn on parallel tool calls, and ask for them; at most %s fewer", said, most, counted(out.Count, "turn"))
}

func silentAdvice(out *Finding) string {
	return fmt.Sprintf("%s of all turns call nothing: %s are answers, after the other %s the model goes on alone; let it say what it thinks together with the next call", rate(out), plain(out.Answers), plain(out.Count-out.Answers))
}

func has(turns int) string {
	if turns == 1 {
		return "1 turn has"
	}
	return plain(turns) + " turns have"
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", plain(n), noun)
}
