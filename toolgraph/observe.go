package toolgraph

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/toolgraph/catalog"
	"github.com/awo-dev/awo/trace"
)

// Counts are how often a tool was called, by how the call ended.
type Counts struct {
	OK      int `json:"ok"`
	Failed  int `json:"failed"`
	Unknown int `json:"unknown"`
}

// Calls returns all calls.
func (c Counts) Calls() int { return c.OK + c.Failed + c.Unknown }

// Succeeded returns the calls that count as successes in Equation 4: those of
// unknown status are among them.
func (c Counts) Succeeded() int { return c.OK + c.Unknown }

func (c *Counts) add(status trace.Status) {
	switch status {
	case trace.StatusOK:
		c.OK++
	case trace.StatusFailed:
		c.Failed++
	default:
		c.Unknown++
	}
}

// A Step is two tools that were called one right after the other.
type Step struct{ From, To string }

// The bounds of what is kept of results and arguments of a tool.
const (
	maxLeaves    = 2000   // places of the results of a tool
	maxNodes     = 20_000 // values of one result that are looked at
	maxArguments = 1000   // arguments of a tool
	maxName      = 40     // bytes of a member's name, in what is not data
	mapFrom      = 40     // members from which on an object maps data to values
)

// Observed is what trajectories show of tools: calls, what follows what, which
// arguments are given and where results hold values. It is O(tools, pairs of tools
// and days), and the same in whatever order trajectories are added. The zero value
// has seen nothing; it is used by one goroutine.
type Observed struct {
	Trajectories int
	Calls        map[string]Counts
	Follows      map[Step]Counts // of the second call
	// Days holds Follows, and from "" the first calls of trajectories, by the day (UTC, as
	// YYYY-MM-DD) on which the trajectory started; "" is those without a recorded time.
	Days map[string]map[Step]Counts
	// Given counts the calls that gave an argument, by tool and path.
	Given map[string]map[string]int

	leaves map[string]map[string]*leaf
	cut    map[string]bool
}

// A leaf is a place in results with what it held.
type leaf struct {
	names []string
	kinds [6]int
	list  bool
}

// Observe adds one trajectory. Only calls that a model decided on count.
func (o *Observed) Observe(t *trace.Trajectory) {
	if o.Calls == nil {
		o.Calls, o.Follows = map[string]Counts{}, map[Step]Counts{}
		o.Days, o.Given = map[string]map[Step]Counts{}, map[string]map[string]int{}
		o.leaves, o.cut = map[string]map[string]*leaf{}, map[string]bool{}
	}
	o.Trajectories++
	day := ""
	if at := t.Started(); !at.IsZero() {
		day = at.UTC().Format(time.DateOnly)
	}
	if o.Days[day] == nil {
		o.Days[day] = map[Step]Counts{}
	}
	before := ""
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel || c.Tool.Value() == "" {
			continue
		}
		name := c.Tool.Value()
		n := o.Calls[name]
		n.add(c.Status)
		o.Calls[name] = n
		s := Step{before, name}
		n = o.Days[day][s]
		n.add(c.Status)
		o.Days[day][s] = n
		if before != "" {
			n := o.Follows[s]
			n.add(c.Status)
			o.Follows[s] = n
		}
		before = name
		o.arguments(name, c)
		if c.HasResult && c.Status != trace.StatusFailed {
			if v, ok := c.ResultValue(); ok {
				nodes := 0
				o.result(name, v, "$", nil, false, &nodes)
			}
		}
	}
}

func (o *Observed) arguments(name string, c *trace.Call) {
	args, ok := c.ArgsValue()
	if !ok {
		return
	}
	if o.Given[name] == nil {
		o.Given[name] = map[string]int{}
	}
	for _, m := range args.Members {
		path := memberPath("$", m.Name)
		if _, known := o.Given[name][path]; known || len(o.Given[name]) < maxArguments {
			o.Given[name][path]++
		}
	}
}

// result adds the places of a value.
func (o *Observed) result(name string, v trace.Value, path string, names []string, list bool, nodes *int) {
	if *nodes++; *nodes > maxNodes || len(names) > 12 {
		return
	}
	switch v.Kind {
	case trace.Object:
		if len(v.Members) >= mapFrom || mapsData(v) {
			for _, m := range v.Members {
				o.result(name, m.Value, path+"[*]", names, true, nodes)
			}
			return
		}
		for _, m := range v.Members {
			o.result(name, m.Value, memberPath(path, m.Name), append(names[:len(names):len(names)], m.Name), false, nodes)
		}
	case trace.Array:
		for _, e := range v.Elems {
			o.result(name, e, path+"[*]", names, true, nodes)
		}
	case trace.Null:
	default:
		if len(names) == 0 {
			return
		}
		places := o.leaves[name]
		if places == nil {
			places = map[string]*leaf{}
			o.leaves[name] = places
		}
		l := places[path]
		if l == nil {
			if len(places) == maxLeaves {
				o.cut[name] = true
				return
			}
			l = &leaf{names: names, list: list}
			places[path] = l
		}
		l.kinds[kindOfValue(v)]++
	}
}

// mapsData reports whether the members of an object are named by data: all names
// hold digits, or one is none that a programmer gives.
func mapsData(v trace.Value) bool {
	digits := 0
	for _, m := range v.Members {
		if len(m.Name) > maxName || strings.ContainsAny(m.Name, "@ /:\n") {
			return true
		}
		if strings.ContainsAny(m.Name, "0123456789") {
			digits++
		}
	}
	return digits == len(v.Members) && digits > 1
}

func kindOfValue(v trace.Value) kind {
	switch v.Kind {
	case trace.String:
		return kindString
	case trace.Number:
		return kindNumber
	case trace.Bool:
		return kindBoolean
	}
	return kindUnknown
}

// memberPath appends a member to a path.
func memberPath(path, name string) string {
	return path + jsonpath.Path{{Name: name}}.String()[1:]
}

// Results returns the places in the recorded results of a tool, by path: at most
// 400, those that were met most often.
func (o *Observed) Results(tool string) []catalog.Place {
	places := o.leaves[tool]
	met := func(path string) int {
		n := 0
		for _, k := range places[path].kinds {
			n += k
		}
		return n
	}
	// A name that was met once may be a datum.
	paths := slices.DeleteFunc(slices.Sorted(maps.Keys(places)), func(path string) bool { return met(path) < 2 })
	if len(paths) > 400 {
		slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(met(b), met(a)) })
		paths = paths[:400]
		slices.Sort(paths)
	}
	out := make([]catalog.Place, 0, len(paths))
	for _, path := range paths {
		l := places[path]
		out = append(out, catalog.Place{Path: path, Names: l.names, Type: l.typeName(), List: l.list})
	}
	return out
}

// typeName returns the type that all values had, "" if they had several.
func (l *leaf) typeName() string {
	name := ""
	for k, n := range l.kinds {
		if n == 0 {
			continue
		}
		if name != "" {
			return ""
		}
		name = kindNames[k]
	}
	return name
}

var kindNames = [...]string{"", "string", "number", "boolean", "array", "object"}

// Statuses returns how many calls there were, and how many of unknown status: these
// count as successes.
func (o *Observed) Statuses() (calls, unknown int) {
	for _, c := range o.Calls {
		calls += c.Calls()
		unknown += c.Unknown
	}
	return calls, unknown
}

// argumentPlaces returns the top-level arguments that calls of a tool gave, by path:
// required are those of at least three calls that none left out.
func (o *Observed) argumentPlaces(tool string) []catalog.Place {
	calls := o.Calls[tool].Calls()
	var out []catalog.Place
	for _, path := range slices.Sorted(maps.Keys(o.Given[tool])) {
		parsed, err := jsonpath.Parse(path)
		if err != nil || len(parsed) != 1 {
			continue
		}
		out = append(out, catalog.Place{Path: path, Names: []string{parsed[0].Name}, Required: calls >= 3 && o.Given[tool][path] == calls})
	}
	return out
}
