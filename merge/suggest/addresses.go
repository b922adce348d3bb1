package suggest

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// A tool that takes urls does many things: `/orders/17` and `/orders/18` are one action,
// `/orders` and `/users` two. Of a host and of the parts of a path those are words of
// an action that enough calls of different tasks share behind the same beginning; all
// others may be ids, or names of somebody, and any value stands in their place.
const (
	minSharing      = 5  // calls that share a word
	minSharingTasks = 2  // and their tasks
	minAddresses    = 3  // different urls of an action
	maxActions      = 20 // of a tool
	maxParts        = 12 // of a path; longer ones are no action
)

// addressNames are arguments that hold urls, or the paths of urls beside a method.
var addressNames = []string{"url", "uri", "href", "endpoint", "path"}

var methodNames = []string{"method", "http_method", "verb"}

var wordOfPath = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]{0,30}$|^v\d{1,2}$`)

var hostName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,100}(?::\d{1,5})?$`)

// address is a url in the arguments of a call.
type address struct {
	arg, methodArg string
	method         string // in capitals, "" if there is none
	parts          []string
	text, task     string

	shape string // what is decided of its parts, each behind a separator; anyPart for others
}

// anyPart stands in a shape for a part that is no word of the action; no part holds it.
const anyPart = "\x00"

// addressOf finds the url among arguments, false if there is none: an absolute one, or a
// path beside a method.
func addressOf(args trace.Value) (a address, ok bool) {
	for _, name := range methodNames {
		if v, has := args.Lookup(name); has && v.Kind == trace.String && len(v.Text) < 10 {
			a.methodArg, a.method = name, strings.ToUpper(v.Text)
			break
		}
	}
	for _, name := range addressNames {
		v, has := args.Lookup(name)
		if !has || v.Kind != trace.String || len(v.Text) > 2000 {
			continue
		}
		host, path := "", v.Text
		if _, rest, absolute := strings.Cut(v.Text, "://"); absolute && strings.HasPrefix(v.Text, "http") {
			end := strings.IndexAny(rest, "/?#")
			if end < 0 {
				end = len(rest)
			}
			host, path = rest[:end], rest[end:]
		} else if a.method == "" || !strings.HasPrefix(path, "/") {
			continue
		}
		if end := strings.IndexAny(path, "?#"); end >= 0 {
			path = path[:end]
		}
		a.arg, a.text, a.parts = name, v.Text, []string{host}
		if path = strings.Trim(path, "/"); path != "" {
			a.parts = append(a.parts, strings.Split(path, "/")...)
		}
		return a, len(a.parts) <= maxParts && !strings.Contains(v.Text, anyPart)
	}
	return a, false
}

// addressCandidates proposes to call requests after what the urls of many of them share.
func (s *Suggester) addressCandidates() []candidate {
	byTool := map[trace.Name][]*address{}
	var order []trace.Name
	for i := range s.kept {
		run := &s.kept[i]
		for c := range run.Calls {
			call := &run.Calls[c]
			args, _ := call.ArgsValue()
			if a, ok := addressOf(args); ok && call.Origin == trace.OriginModel {
				if byTool[call.Tool] == nil {
					order = append(order, call.Tool)
				}
				a.task = run.TaskKey()
				byTool[call.Tool] = append(byTool[call.Tool], &a)
			}
		}
	}
	var found []candidate
	for _, tool := range order {
		if f := (&toolFacts{name: tool}); f.nameable() && !s.speaksOf(f, rules.KindRename) {
			found = append(found, s.actions(tool, byTool[tool])...)
		}
	}
	return found
}

// action is what many urls of one tool do.
type action struct {
	*address
	calls     int
	addresses map[string]bool // at most minAddresses
}

// actions proposes names for the actions of one tool, if there are at least two.
func (s *Suggester) actions(tool trace.Name, all []*address) []candidate {
	decideWords(all)
	type key struct{ arg, methodArg, method, shape string }
	index := map[key]*action{}
	var order []*action
	hosts := map[string]bool{}
	for _, a := range all {
		k := key{a.arg, a.methodArg, a.method, a.shape}
		one := index[k]
		if one == nil {
			one = &action{address: a, addresses: map[string]bool{}}
			index[k] = one
			order = append(order, one)
		}
		one.calls++
		if len(one.addresses) < minAddresses {
			one.addresses[a.text] = true
		}
		hosts[strings.Split(a.shape, "/")[0]] = true
	}
	order = slices.DeleteFunc(order, func(a *action) bool {
		parts := strings.Split(a.shape, "/")
		return a.calls < minRenamed || len(a.addresses) < minAddresses || parts[0] == anyPart || len(parts) < 2 || parts[1] == anyPart
	})
	if len(order) < 2 {
		return nil
	}
	slices.SortStableFunc(order, func(a, b *action) int { return cmp.Compare(b.calls, a.calls) })
	var found []candidate
	for _, a := range order[:min(len(order), maxActions)] {
		found = append(found, s.actionCandidate(tool, a, len(hosts) > 1))
	}
	return found
}

// decideWords decides which parts of urls are words of an action, from the host on: what
// enough calls share behind a beginning that they share.
func decideWords(all []*address) {
	type place struct{ shape, part string }
	for depth := range maxParts {
		counts, tasks := map[place]int{}, map[place]map[string]bool{}
		for _, a := range all {
			if depth >= len(a.parts) {
				continue
			}
			p := place{a.shape, a.parts[depth]}
			counts[p]++
			if tasks[p] == nil {
				tasks[p] = map[string]bool{}
			}
			if len(tasks[p]) < minSharingTasks {
				tasks[p][a.task] = true
			}
		}
		for _, a := range all {
			if depth >= len(a.parts) {
				continue
			}
			part, p := a.parts[depth], place{a.shape, a.parts[depth]}
			named := wordOfPath.MatchString(part) && !secret.LooksLike("", part)
			if depth == 0 {
				named = part == "" || hostName.MatchString(part)
			} else {
				a.shape += "/"
			}
			if named && counts[p] >= minSharing && len(tasks[p]) >= minSharingTasks {
				a.shape += part
			} else {
				a.shape += anyPart
			}
		}
	}
}

// actionCandidate is the rename of the calls of one action.
func (s *Suggester) actionCandidate(tool trace.Name, a *action, withHost bool) candidate {
	parts := strings.Split(a.shape, "/")
	pattern, name := "^", []string{"${0}"}
	if a.method != "" {
		name = append(name, strings.ToLower(a.method))
	}
	if parts[0] != "" {
		pattern += `https?://` + regexp.QuoteMeta(parts[0])
		if withHost {
			name = append(name, strings.NewReplacer(".", "_", ":", "_", "-", "_").Replace(parts[0]))
		}
	}
	for _, part := range parts[1:] {
		if part == anyPart {
			pattern += `/[^/?#]+`
			name = append(name, "id")
			continue
		}
		pattern += "/" + regexp.QuoteMeta(part)
		name = append(name, strings.ReplaceAll(part, "-", "_"))
	}
	pattern += `/?(?:[?#].*)?$`
	arg := func(name, pattern string) rules.ArgPattern {
		return rules.ArgPattern{Path: rules.Path{{Kind: rules.SegmentName, Name: name}}, Pattern: regexp.MustCompile(pattern)}
	}
	rule := &rules.Rule{
		Kind: rules.KindRename, To: strings.Join(name, "_"),
		Match: rules.Match{Tools: []rules.Glob{rules.Glob(tool.Value())}, Args: []rules.ArgPattern{arg(a.arg, pattern)}},
	}
	if a.method != "" {
		rule.Match.Args = append(rule.Match.Args, arg(a.methodArg, "^(?i:"+regexp.QuoteMeta(a.method)+")$"))
	}
	return candidate{
		rule: rule, stem: strings.Join(append([]string{tool.Value()}, name[1:]...), "-"), basis: "urls of one shape are one action", pro: a.calls,
		address: a.arg, gets: a.method == "GET" || a.method == "HEAD",
	}
}

// renamed renames what was kept by one rule alone, and returns how many calls of each
// tool get another name, and the names by which tool they were before.
func (s *Suggester) renamed(rule *rules.Rule) (counts map[trace.Name]int, names map[trace.Name]trace.Name, order []trace.Name) {
	counts, names = map[trace.Name]int{}, map[trace.Name]trace.Name{}
	s.rename(&rules.Set{Rules: []*rules.Rule{rule}})
	for i := range s.kept {
		for c, name := range s.kept[i].names {
			if tool := s.kept[i].Calls[c].Tool; name != dropped && name != tool {
				if counts[tool] == 0 {
					order = append(order, tool)
				}
				counts[tool]++
				names[name] = tool
			}
		}
	}
	return counts, names, order
}

// markRenamed notes what the facts about renamed tools have to know of the renames.
func (s *Suggester) markRenamed(list []candidate) {
	for i := range list {
		c := &list[i]
		for _, name := range slices.SortedFunc(maps.Keys(c.names), func(a, b trace.Name) int { return cmp.Compare(a.Value(), b.Value()) }) {
			f := s.tool(name)
			f.program, f.gets, f.address = f.program || c.address == "", f.gets || c.gets, cmp.Or(f.address, c.address)
		}
	}
}
