package merge

import (
	"slices"

	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Catalog is what trajectories tell about tools: their definitions, and what
// arguments they were called with. It holds types and counts, and of values
// only hashes: O(tools) in memory. A Rewriter fills it; it is not safe for
// concurrent use while that goes on.
type Catalog struct {
	tools map[trace.Name]*CatalogTool
	order []*CatalogTool
	nodes int

	// The trajectory that is being read.
	current    *trace.Trajectory
	trajectory uint32
	task       hash128.Hash
	taskKnown  bool

	set       *rules.Set // nil for none
	seeds     hash128.Seeds
	lastTools *trace.ToolDef
	open      []*observed // scratch of observe
}

// NewCatalog returns an empty catalog of calls that the rules of a set, which may be nil,
// are about.
func NewCatalog(set *rules.Set) *Catalog {
	return &Catalog{tools: map[trace.Name]*CatalogTool{}, seeds: hash128.NewSeeds(), set: set}
}

// Public returns the words of the definitions so far and of the user's own rules.
func (c *Catalog) Public() *secret.Public {
	return secret.NewPublic(func(yield func(string) bool) {
		for _, t := range c.order {
			if t.Definition.Known {
				yield(t.Name.Value() + " " + t.Definition.Description + " " + string(t.Definition.Input.AppendCanonical(nil)))
			}
		}
		c.set.Own()(yield)
	})
}

// CatalogTool is one tool.
type CatalogTool struct {
	Name       trace.Name
	Called     bool
	Definition Definition // the last one recorded; zero if there was none
	Versions   int        // how many different ones followed each other

	args   observed
	digest hash128.Hash // of the definition's raw bytes
}

// Tools returns the tools, in the order in which they first appeared.
func (c *Catalog) Tools() []*CatalogTool { return c.order }

// Tool returns what is known about a tool, nil if nothing is.
func (c *Catalog) Tool(name trace.Name) *CatalogTool { return c.tools[name] }

// Values returns what values the top-level argument of that name was seen to have.
func (t *CatalogTool) Values(argument string) (Values, bool) {
	if node := t.args.member(argument); node != nil {
		return Values{node}, true
	}
	return Values{}, false
}

// Arguments returns the names of the top-level arguments that calls of the tool had
// and somebody chose: names that may be data are left out.
func (t *CatalogTool) Arguments() []string {
	var names []string
	for i, name := range t.args.names {
		if LooksLikeName(name) && (t.Definition.Property(name).Kind != trace.Null || 2*t.args.members[i].seen > t.args.seen) {
			names = append(names, name)
		}
	}
	return names
}

func (c *Catalog) tool(name trace.Name) *CatalogTool {
	t := c.tools[name]
	if t == nil {
		t = &CatalogTool{Name: name}
		c.tools[name] = t
		c.order = append(c.order, t)
	}
	return t
}

// begin notes the definitions of the trajectory whose calls come next.
func (c *Catalog) begin(t *trace.Trajectory) {
	c.current, c.taskKnown = t, false
	c.trajectory++
	if len(t.Tools) == 0 || &t.Tools[0] == c.lastTools {
		return
	}
	c.lastTools = &t.Tools[0]
	for i := range t.Tools {
		def := &t.Tools[i]
		digest := c.seeds.Raw(def.Input)
		digest = hash128.Mix(digest, hash128.Mix(c.seeds.Raw(def.Description), c.seeds.Raw(def.Annotations)))
		if tool := c.tool(def.Name); tool.Versions == 0 || tool.digest != digest {
			tool.digest = digest
			tool.Versions++
			tool.Definition = newDefinition(def)
		}
	}
}

// taskHash is the task of the current trajectory, worked out when asked for.
func (c *Catalog) taskHash() hash128.Hash {
	if !c.taskKnown {
		c.task, c.taskKnown = hash128.Of([]byte(c.current.TaskKey())), true
	}
	return c.task
}

// observe notes the arguments of a call, which it need not see more than once.
// It returns the values among them that are the same in all calls so far: see
// counts their trajectories.
func (c *Catalog) observe(name trace.Name, args trace.Value) []*observed {
	tool := c.tool(name)
	tool.Called = true
	c.open = c.open[:0]
	c.observeValue(&tool.args, args, 0)
	return slices.Clone(c.open)
}

// observed is what was seen at one place of the arguments of a tool.
type observed struct {
	kinds   valueKinds
	seen    int // values here, each call counted at least once
	objects int // of those, objects
	names   []string
	members []*observed // by names
	crowded bool        // more names than are kept
	elems   *observed

	value        hash128.Hash // of the first value here, if that is no object and no array
	varies       bool         // not all values are the same
	trajectories uint8        // that have it, up to constTrajectories
	tasks        uint8        // that have it, up to constTasks
	last         uint32
	task         hash128.Hash
}

// A value is a constant of its tool if it is the same wherever it occurs, in at
// least so many trajectories of so many tasks.
const (
	constTrajectories = 5
	constTasks        = 2
)

// Bounds of what is kept about arguments: beyond them are data, not parameters.
const (
	maxMembers = 200
	maxDepth   = 12
	maxNodes   = 1 << 18
)

// valueKinds is a set of JSON types, integers apart from other numbers.
type valueKinds uint8

const (
	sawNull valueKinds = 1 << iota
	sawBool
	sawInteger
	sawNumber
	sawString
	sawArray
	sawObject
)

func kindsOf(v trace.Value) valueKinds {
	switch v.Kind {
	case trace.Bool:
		return sawBool
	case trace.Number:
		if isInteger(v.Text) {
			return sawInteger
		}
		return sawNumber
	case trace.String:
		return sawString
	case trace.Array:
		return sawArray
	case trace.Object:
		return sawObject
	}
	return sawNull
}

// isInteger reports whether canonical number text has no fraction or exponent.
func isInteger(text string) bool {
	for i := range len(text) {
		if (text[i] < '0' || text[i] > '9') && !(i == 0 && text[i] == '-') {
			return false
		}
	}
	return text != ""
}

func (o *observed) member(name string) *observed {
	if i, found := slices.BinarySearch(o.names, name); found {
		return o.members[i]
	}
	return nil
}

// hasAlways reports whether the member of that name is part of what objects here
// are made of: all of them, at least two, have it, or it is a constant.
func (o *observed) hasAlways(name string) bool {
	if o == nil {
		return false
	}
	member := o.member(name)
	return member != nil && (o.objects >= 2 && member.seen == o.objects || member.isConstant())
}

func (c *Catalog) observeValue(o *observed, v trace.Value, depth int) {
	o.kinds |= kindsOf(v)
	o.seen++
	switch {
	case depth == maxDepth:
		o.crowded = true
	case v.Kind == trace.Object:
		o.objects++
		for _, m := range v.Members {
			if member := c.memberOf(o, m.Name); member != nil {
				c.observeValue(member, m.Value, depth+1)
			}
		}
	case v.Kind == trace.Array:
		if o.elems == nil && len(v.Elems) > 0 {
			o.elems = &observed{}
		}
		for _, e := range v.Elems {
			c.observeValue(o.elems, e, depth+1)
		}
	case !o.varies:
		h := hash128.Of(v.AppendCanonical(nil))
		if o.seen == 1 {
			o.value = h
		}
		o.varies = o.value != h
		if o.counts() {
			c.open = append(c.open, o)
		}
	}
}

func (c *Catalog) memberOf(o *observed, name string) *observed {
	i, found := slices.BinarySearch(o.names, name)
	if found {
		return o.members[i]
	}
	if len(o.names) >= maxMembers || c.nodes >= maxNodes {
		o.crowded = true
		return nil
	}
	c.nodes++
	member := &observed{}
	o.names = slices.Insert(o.names, i, name)
	o.members = slices.Insert(o.members, i, member)
	return member
}

// counts reports whether it is still open if the value is a constant.
func (o *observed) counts() bool {
	return !o.varies && (o.trajectories < constTrajectories || o.tasks < constTasks)
}

// isConstant reports whether all values here are the same and common enough.
// A place that also holds objects or arrays has no constant.
func (o *observed) isConstant() bool {
	return !o.varies && o.kinds&(sawObject|sawArray) == 0 && o.trajectories == constTrajectories && o.tasks == constTasks
}

// see counts the current trajectory for values that it has, and returns those
// that are still to be counted.
func (c *Catalog) see(open []*observed) []*observed {
	return slices.DeleteFunc(open, func(o *observed) bool {
		if !o.varies && o.last != c.trajectory {
			o.last = c.trajectory
			o.trajectories = min(o.trajectories+1, constTrajectories)
			switch task := c.taskHash(); {
			case o.tasks == 0:
				o.tasks, o.task = 1, task
			case o.tasks == 1 && o.task != task:
				o.tasks = 2
			}
		}
		return !o.counts()
	})
}

// Values is what a place in the arguments of a tool was seen to hold.
type Values struct{ node *observed }

// Types returns the JSON Schema types seen, in the order null, boolean,
// integer, number, string, array, object; number includes integers.
func (v Values) Types() []string {
	var types []string
	for i, name := range [...]string{"null", "boolean", "integer", "number", "string", "array", "object"} {
		if v.node.kinds&(1<<i) == 0 {
			continue
		}
		if name == "integer" && v.node.kinds&sawNumber != 0 {
			continue
		}
		types = append(types, name)
	}
	return types
}

// Elements returns what the elements of lists here were seen to be; false if
// there were none.
func (v Values) Elements() (Values, bool) {
	return Values{v.node.elems}, v.node.elems != nil
}

// Members returns the names of the members of objects here, in order, and
// whether that are all: objects that are maps of data have too many to keep.
func (v Values) Members() (names []string, all bool) {
	return v.node.names, !v.node.crowded
}

// Member returns what a member of objects here was seen to hold, and whether
// every object had it.
func (v Values) Member(name string) (values Values, always bool) {
	node := v.node.member(name)
	return Values{node}, node != nil && node.seen == v.node.objects
}
