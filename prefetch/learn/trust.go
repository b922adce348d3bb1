package learn

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

const (
	maxTrust      = 3   // tools of an order of trust
	trustTried    = 8   // that are looked at
	onceShare     = 0.9 // of the sessions in which such a tool succeeds at most once
	trustCovers   = 0.95
	minTrustCalls = 20
	minWaited     = 5 // trajectories in which the value was known and the read waited
)

// findTrust gives the candidates whose values come from messages their order of trust: the
// smallest set of tools of which one had succeeded before the read, as agents identify a
// customer before they look at an order.
func (s *Survey) findTrust(runs []*corpus.Run) {
	var users []*candidate
	targets := map[string][]*candidate{}
	for _, c := range s.candidates {
		if c.rule.Source.Kind == prefetch.KindUser {
			users = append(users, c)
			targets[c.rule.Target.Tool] = append(targets[c.rule.Target.Tool], c)
		}
	}
	if len(users) == 0 {
		return
	}
	sessions, often := map[string]int{}, map[string]int{} // by tool: in which it succeeded, and did so several times
	reads := map[string][]map[string]int{}                // by target and call: the tools that had succeeded before, and when first
	waited := map[string]map[string]int{}                 // by target and tool: trajectories in which the read waited for it
	for _, one := range runs {
		first, times := map[string]int{}, map[string]int{}
		waits := map[[2]string]bool{}
		var r *run // as rules see it, once it calls a target
		var said map[string]int
		for i := range one.Calls {
			c := &one.Calls[i]
			if c.Origin != trace.OriginModel || c.Tool == (trace.Name{}) || c.Tool.Value() == "" {
				continue
			}
			name := c.Tool.Value()
			if list := targets[name]; list != nil {
				if r == nil {
					r = read(one.Trajectory, s.isRead)
					said = r.firstSaid(users)
				}
				if key := r.calls[i].key; key != "" {
					before := maps.Clone(first)
					delete(before, name)
					reads[name] = append(reads[name], before)
					if since, is := said[key]; is {
						for tool, at := range before {
							if since <= at {
								waits[[2]string{name, tool}] = true
							}
						}
					}
				}
			}
			if c.Status == trace.StatusFailed {
				continue
			}
			if _, met := first[name]; !met {
				first[name] = i
			}
			times[name]++
		}
		for tool, n := range times {
			sessions[tool]++
			if n > 1 {
				often[tool]++
			}
		}
		for pair := range waits {
			if waited[pair[0]] == nil {
				waited[pair[0]] = map[string]int{}
			}
			waited[pair[0]][pair[1]]++
		}
	}
	once := func(tool string) bool {
		return float64(sessions[tool]-often[tool]) >= onceShare*float64(sessions[tool])
	}
	for target, list := range targets {
		calls := reads[target]
		if len(calls) < minTrustCalls {
			continue
		}
		covers := map[string]int{}
		for _, before := range calls {
			for tool := range before {
				if once(tool) {
					covers[tool]++
				}
			}
		}
		tools := slices.SortedFunc(maps.Keys(covers), func(a, b string) int { return cmp.Or(covers[b]-covers[a], strings.Compare(a, b)) })
		tools = tools[:min(len(tools), trustTried)]
		best := smallest(tools, func(set []string) int {
			n := 0
			for _, before := range calls {
				if slices.ContainsFunc(set, func(tool string) bool { _, is := before[tool]; return is }) {
					n++
				}
			}
			return n
		}, trustCovers*float64(len(calls)))
		n := 0
		for _, tool := range best {
			n += waited[target][tool]
		}
		if len(best) == 0 || n < minWaited {
			continue
		}
		slices.Sort(best)
		for _, c := range list {
			c.rule.Source.Trust = best
		}
	}
}

// firstSaid returns, by the key of a call that messages offer by candidates, how many calls
// came before the first message that does.
func (r *run) firstSaid(list []*candidate) map[string]int {
	out := map[string]int{}
	for m := range r.t.UserMessages() {
		for _, c := range list {
			for _, o := range c.matcher.Said(m.Text.Text()) {
				if _, known := out[o.Key()]; !known {
					out[o.Key()] = m.Call
				}
			}
		}
	}
	return out
}

// smallest returns the smallest set of tools, of at most maxTrust, that covers enough; of
// equally small ones the one that covers most, nil for none.
func smallest(tools []string, covered func(set []string) int, enough float64) []string {
	for size := 1; size <= maxTrust; size++ {
		var best []string
		most := 0
		var try func(from int, set []string)
		try = func(from int, set []string) {
			if len(set) == size {
				if n := covered(set); float64(n) >= enough && n > most {
					best, most = slices.Clone(set), n
				}
				return
			}
			for i := from; i < len(tools); i++ {
				try(i+1, append(set, tools[i]))
			}
		}
		try(0, nil)
		if best != nil {
			return best
		}
	}
	return nil
}
