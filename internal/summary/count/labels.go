package count

import (
	"strings"

	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/trace"
)

// Labels are what trajectories in a summary can be divided by later.
var Labels = []string{"agent", "model", "outcome", "tool-prefix"}

func labels() []summary.Label {
	var out []summary.Label
	for _, name := range Labels {
		out = append(out, summary.Label{Name: name, Of: LabelOf(name)})
	}
	return out
}

// LabelOf returns the function that gives a trajectory its label, nil if name is none of
// Labels.
func LabelOf(name string) func(*trace.Trajectory) string {
	switch name {
	case "model":
		return func(t *trace.Trajectory) string {
			if t.Model == "" && len(t.Turns) > 0 {
				return Named(t.Turns[0].Model)
			}
			return Named(t.Model)
		}
	case "agent":
		return func(t *trace.Trajectory) string { return Named(t.Agent) }
	case "outcome":
		return func(t *trace.Trajectory) string { return t.Outcome.String() }
	case "tool-prefix":
		return func(t *trace.Trajectory) string { return Named(toolPrefix(t)) }
	}
	return nil
}

// Named returns what a group is called whose name may not be recorded.
func Named(s string) string {
	if s == "" {
		return "(not recorded)"
	}
	return s
}

// toolPrefix returns the prefix that most calls of a trajectory share: the part
// of a tool's name before its first separator, as in "mail.send", "mail__send"
// or "mail/send"; of "get_user" it is "get".
func toolPrefix(t *trace.Trajectory) string {
	counts := map[string]int{}
	for i := range t.Calls {
		name := t.Calls[i].Tool.Value()
		prefix := name
		for _, separator := range []string{"__", ".", "/", ":", "_", "-"} {
			if head, _, ok := strings.Cut(name, separator); ok && head != "" {
				prefix = head
				break
			}
		}
		counts[prefix]++
	}
	best := ""
	for prefix, n := range counts {
		if n > counts[best] || n == counts[best] && prefix < best || best == "" {
			best = prefix
		}
	}
	return best
}
