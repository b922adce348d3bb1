package predict

import (
	"cmp"
	"io/fs"
	"os"
	"slices"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/sealed"
	"github.com/awo-dev/awo/trace"
)

// snapshotKind is what files with snapshots are.
var snapshotKind = sealed.Kind{Name: "snapshot", Schema: "awo.snapshot-data/v1"}

// The codes of problems with snapshots.
const (
	CodeSnapshotMissing   = "snapshot-missing"   // there is no such file, or it cannot be read
	CodeSnapshotForeign   = "snapshot-foreign"   // no snapshot
	CodeSnapshotVersion   = "snapshot-version"   // of a version that this program does not read
	CodeSnapshotTruncated = "snapshot-truncated" // cut off
	CodeSnapshotCorrupt   = "snapshot-corrupt"   // something in it contradicts itself or its checksum
)

// SnapshotData is what the file of a snapshot holds. Tools are numbered from 1 in the order
// of Tools, 0 is a turn that makes no call; numbers of contexts stand for themselves.
//
// Model is what predictions are made from, for readers in other languages. Counts is what
// it was made of: this package reads those, and makes the model again.
type SnapshotData struct {
	HalfLife     float64     `json:"half_life_days"`
	Trajectories uint64      `json:"trajectories"`
	Newest       int32       `json:"newest"` // days since 1970 of the newest trajectory, 0 for none
	Tools        []ToolData  `json:"tools"`
	Model        ContextData `json:"model"`
	Counts       CountData   `json:"counts"`
	Calibration  Calibration `json:"calibration"`
}

// ToolData is a tool of a snapshot.
type ToolData struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Effect      Effect            `json:"effect"` // 0 unknown, 1 reads, 2 writes
	Counts      Counts            `json:"counts"` // of all calls
	Calls       uint64            `json:"calls"`  // of the model
	Schema      bool              `json:"schema"` // an input schema was recorded
	Required    []string          `json:"required,omitempty"`
	Params      map[string]uint64 `json:"params,omitempty"` // calls that have each
}

// ContextData are the contexts of a model, breadth first from the empty one. The children
// of context n are those from ChildFrom[n] to before ChildFrom[n+1], in order of the symbol
// by which each is longer, ChildSymbol[child-1]: of children of the empty context a state,
// of others a tool, or 4294967295 for the start of a trajectory. What follows it stands in
// Next and Share from CellFrom[n] to before CellFrom[n+1].
type ContextData struct {
	Order       int       `json:"order"` // the longest context, in calls
	ChildFrom   []uint32  `json:"child_from"`
	ChildSymbol []uint32  `json:"child_symbol"`
	CellFrom    []uint32  `json:"cell_from"`
	Next        []uint32  `json:"next"`
	Share       []float64 `json:"share"`
	Backoff     []float64 `json:"backoff"` // what the context leaves to the shorter one
}

// CountData are the counts of a graph.
type CountData struct {
	Parents []uint32   `json:"parents"` // of contexts 1, 2, ...
	Symbols []uint32   `json:"symbols"`
	Cells   []CellData `json:"cells"`
	Links   []LinkData `json:"links"`
}

// CellData is what followed a context in a period.
type CellData struct {
	Context uint32 `json:"context"`
	Next    uint32 `json:"next"`
	Day     int32  `json:"day"`
	Counts
}

// LinkData is what a source of an argument was worth: Side is 0 for results, 1 for
// arguments, 4 for what the user said, Class 0 for a call of the last turn, 1 where the
// last call was of the same tool, 2 for anything older.
type LinkData struct {
	Tool  uint32        `json:"tool"`
	Param string        `json:"param"`
	Side  dataflow.Side `json:"side"`
	Class Class         `json:"class"`
	From  uint32        `json:"from"`
	Path  string        `json:"path"`
	Tried uint64        `json:"tried"`
	Right uint64        `json:"right"`
}

// A Snapshot is a graph and the model that was made of it, as a file has them. It is
// immutable and safe for concurrent use.
//
// Every file is taken for hostile: what contradicts itself is an error, whose codes are
// above, and never a crash.
type Snapshot struct {
	Model *Model
	Graph *Graph
}

// AppendSnapshot appends the file of m, which was made of g. Equal graphs and models give
// equal bytes.
func (m *Model) AppendSnapshot(dst []byte, g *Graph) []byte {
	return append(dst, snapshotKind.Encode(m.data(g))...)
}

// Open reads the file of a snapshot. Errors are of type *diag.Error.
func Open(path string) (*Snapshot, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		e := diag.New(diag.Pos{File: path}, CodeSnapshotMissing, "the file cannot be read as a snapshot")
		if reason, ok := err.(*fs.PathError); ok {
			e.Msg = "the file cannot be read: " + reason.Err.Error()
		}
		return nil, e
	}
	return Read(path, data)
}

// Read takes the bytes of a snapshot. file is only a name.
func Read(file string, data []byte) (*Snapshot, error) {
	d := &SnapshotData{}
	if err := snapshotKind.Decode(file, data, d); err != nil {
		return nil, err
	}
	g, ok := d.graph()
	if c := &d.Calibration; !ok || c.Examples < 0 || c.Examples > 0 && len(c.Weights) != 1+numTerms || !(d.HalfLife >= 0) {
		return nil, snapshotKind.Problem(file, sealed.Corrupt, "the counts contradict each other")
	}
	return &Snapshot{Model: g.Model(ModelOptions{HalfLife: d.HalfLife}).Calibrated(d.Calibration), Graph: g}, nil
}

func (m *Model) data(g *Graph) *SnapshotData {
	g = g.bounded()
	order, renumbered := g.sorted()
	d := &SnapshotData{
		HalfLife: m.Info.HalfLife, Trajectories: g.trajectories, Newest: g.newest, Calibration: m.calibration,
		Model:  ContextData{m.Info.Order, m.childFrom, m.childState, m.cellFrom, m.cellNext, m.cellShare, m.backoff},
		Counts: g.counts(renumbered),
	}
	for _, s := range order {
		t := &g.tools[s]
		d.Tools = append(d.Tools, ToolData{
			Name: g.names[s].Value(), Description: t.description, Effect: t.effect, Counts: t.counts, Calls: t.calls, Schema: t.schema,
			Required: sortedKeys(t.required), Params: t.params,
		})
	}
	return d
}

// counts returns the counts of a graph, its tools and contexts numbered as those of a
// model.
func (g *Graph) counts(renumbered []uint32) CountData {
	var out CountData
	var nodes []uint32
	out.Parents, out.Symbols, nodes = g.breadthFirst(renumbered)
	for c, n := range g.cells {
		out.Cells = append(out.Cells, CellData{nodes[c.node], renumbered[c.next], c.period, *n})
	}
	slices.SortFunc(out.Cells, func(a, b CellData) int {
		return cmp.Or(cmp.Compare(a.Context, b.Context), cmp.Compare(a.Next, b.Next), cmp.Compare(a.Day, b.Day))
	})
	for l, n := range g.links {
		out.Links = append(out.Links, LinkData{renumbered[l.tool], g.texts[l.param], l.side, l.class, renumbered[l.from], g.texts[l.path], n.Tried, n.Right})
	}
	slices.SortFunc(out.Links, func(a, b LinkData) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Param, b.Param), cmp.Compare(a.Side, b.Side),
			cmp.Compare(a.From, b.From), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Class, b.Class))
	})
	return out
}

// breadthFirst numbers contexts in the order of their symbols.
func (g *Graph) breadthFirst(renumbered []uint32) (parents, symbols, nodes []uint32) {
	children := make([][]uint32, len(g.parents))
	symbol := func(n uint32) uint32 {
		e := g.parents[n]
		if e.node == 0 || e.symbol == startSymbol {
			return e.symbol
		}
		return renumbered[e.symbol]
	}
	for n := 1; n < len(g.parents); n++ {
		children[g.parents[n].node] = append(children[g.parents[n].node], uint32(n))
	}
	nodes = make([]uint32, len(g.parents))
	queue := []uint32{0}
	for i := 0; i < len(queue); i++ {
		below := children[queue[i]]
		slices.SortFunc(below, func(a, b uint32) int { return cmp.Compare(symbol(a), symbol(b)) })
		for _, n := range below {
			nodes[n] = uint32(len(queue))
			queue = append(queue, n)
			parents, symbols = append(parents, uint32(i)), append(symbols, symbol(n))
		}
	}
	return parents, symbols, nodes
}

// graph returns the graph of a file, false if it contradicts itself.
func (d *SnapshotData) graph() (*Graph, bool) {
	if d.Model.Order < 1 || d.Model.Order > MaxOrder {
		return nil, false
	}
	g := NewGraph(d.Model.Order)
	g.trajectories, g.newest = d.Trajectories, d.Newest
	for i := range d.Tools {
		k := &d.Tools[i]
		s := g.symbol(trace.Intern(k.Name))
		if int(s) != i+1 || k.Effect > EffectWrites {
			return nil, false
		}
		to := &g.tools[s]
		to.counts, to.calls, to.effect, to.description, to.schema = k.Counts, k.Calls, k.Effect, k.Description, k.Schema
		for name, n := range k.Params {
			to.params[name] = n
		}
		for _, name := range k.Required {
			to.require(name)
		}
	}
	return g, g.readContexts(&d.Counts) && g.readLinks(d.Counts.Links)
}

func (g *Graph) readContexts(d *CountData) bool {
	if len(d.Symbols) != len(d.Parents) {
		return false
	}
	depth := make([]int, len(d.Parents)+1)
	for i, parent := range d.Parents {
		symbol := d.Symbols[i]
		state := parent == 0 && symbol < uint32(states)
		tool := parent != 0 && (symbol == startSymbol || symbol > 0 && int(symbol) < len(g.names))
		if int(parent) > i || !state && !tool || depth[parent] > g.order {
			return false
		}
		depth[i+1] = depth[parent] + 1
		if int(g.child(parent, symbol)) != i+1 {
			return false // a context that stands twice
		}
	}
	for i := range d.Cells {
		c := &d.Cells[i]
		if int(c.Context) > len(d.Parents) || int(c.Next) >= len(g.names) || c.Day < 0 {
			return false
		}
		g.count(cell{c.Context, c.Next, c.Day}, c.Counts)
	}
	return true
}

func (g *Graph) readLinks(links []LinkData) bool {
	for _, l := range links {
		if l.Tool == 0 || int(l.Tool) >= len(g.names) || int(l.From) >= len(g.names) || l.Side > dataflow.Task || l.Class >= classes {
			return false
		}
		g.link(link{tool: l.Tool, param: g.text(l.Param), from: l.From, path: g.text(l.Path), side: l.Side, class: l.Class}, RuleUse{l.Tried, l.Right})
	}
	return true
}
