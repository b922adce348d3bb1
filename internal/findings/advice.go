package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/failure"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// advice says in sentences that can be pasted into a ticket what was found and what to do.
// They hold no word of the traces but names of tools.
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
	case Fields:
		return unreadAdvice(out)
	case NoCache:
		return fmt.Sprintf("No prompt caching: %s read again, at the full price, what the turn before had sent. Keep tools and system prompt unchanged at the beginning of every request, and set cache breakpoints where the provider needs them (Anthropic: cache_control).%s", counted(out.Count, "turn"), differs(out))
	case BrokenCache:
		said := fmt.Sprintf("Prompt caching is on, but %s read less than half of what a cache could hold.", counted(out.Count, "turn"))
		if out.Differs == 0 {
			return said + " Look for what changes early in the prompt, such as a time stamp or the list of tools, and for pauses of over five minutes."
		}
		return said + differs(out)
	}
	return fmt.Sprintf("%s of all turns call nothing and answer nobody. Let the model say what it thinks together with its next call.", rate(out))
}

// differs says where system prompts first differ.
func differs(out *Finding) string {
	if out.Differs == 0 {
		return ""
	}
	return fmt.Sprintf(" System prompts first differ at character %s of the first message: move what changes there, such as a time stamp, to the end.", plain(out.Differs))
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
	said := fmt.Sprintf("The agent repeats the same %s call %s although nothing changed", out.Tool, times(out.Count))
	const loops = " The agent loops: stop it, or return the earlier result and say that it is the same."
	switch {
	case f.outcomes > 0 && f.failed > 0 && 2*s.inFailed > s.count:
		return fmt.Sprintf("%s, %s in failed runs.", said, times(s.inFailed)) + loops
	case s.count >= 5*s.trajectories:
		return said + "." + loops
	}
	return said + ". Cache the result, or tell the model that it stays valid."
}

// fieldsNamed is how many fields a sentence names.
const fieldsNamed = 5

func unreadAdvice(out *Finding) string {
	u := out.Unread
	named := strings.Join(u.Fields[:min(fieldsNamed, len(u.Fields))], ", ")
	if more := len(u.Fields) - fieldsNamed; more > 0 {
		named += fmt.Sprintf(" and %s", counted(more, "other field"))
	}
	return fmt.Sprintf("%s of what %s returns is in fields of which no value occurs later: %s. Return the other fields alone, or these on request. On tasks held out %s of %s had a value of them that occurs later; a value may be read without being repeated, so ask who owns the tool.", rate(out), out.Tool, named, plain(u.Read), counted(u.Results, "result"))
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
	said := fmt.Sprintf("%s is called again unchanged %s after it failed, and %s.", out.Tool, times(out.Count), worked)
	if share >= 0.5 {
		return said + " Let the client retry, not the model."
	}
	return said + " Say in the error what has to change."
}

func failureAdvice(out *Finding, s *sums) string {
	if len(out.Statuses) > 0 && 2*out.Statuses[0].Count >= out.Count {
		status := out.Statuses[0]
		return fmt.Sprintf("%s returns %d in %s of its calls. %s", out.Tool, status.Status, percent(float64(status.Count)/float64(out.Of)), statusAdvice(status.Status))
	}
	return fmt.Sprintf("%s fails in %s of its calls%s. Say in its description what it refuses, and check arguments before the call.", out.Tool, rate(out), read(s))
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
		return "Give the agent its credentials or rights before it calls."
	case status == 404 || status == 410:
		return "The agent asks for what does not exist: let it look the name up first."
	case status == 429:
		return "It is called too often: let the client wait, not the model."
	case status >= 500:
		return "The tool is at fault: repair it, and let the client retry, not the model."
	}
	return "The agent sends what it refuses: say so in its description, and check arguments before the call."
}

func (f *Finder) batchAdvice(out *Finding, s *sums) string {
	said, do := "The agent makes independent reads one at a time", "Turn on parallel tool calls, and ask for them in the prompt."
	if f.parallel > 0 {
		said, do = fmt.Sprintf("%s, although %s several calls", said, has(f.parallel)), "Ask in the prompt for independent reads in one turn."
	}
	if len(s.by) > 0 {
		tools := slices.SortedFunc(maps.Keys(s.by), func(a, b trace.Name) int {
			return cmp.Or(cmp.Compare(s.by[b], s.by[a]), cmp.Compare(a.Value(), b.Value()))
		})
		said += ", most often with " + tools[0].Value()
	}
	return fmt.Sprintf("%s. %s That needs up to %s fewer.", said, do, counted(out.Count, "turn"))
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
