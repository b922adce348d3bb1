package inertia

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/hex"
	"io"
	"slices"
	"sync"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/internal/lookup"
	"github.com/awo-dev/awo/internal/varint"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// Lessons are what trajectories teach a model that is calibrated: their graph, in parts by
// tasks, and a sample of them.
//
// Lessons add up. Merging is associative and commutative, Lessons of no trajectory are
// neutral, and those of the parts of some trajectories, merged in any order, give the same
// bytes and the same model as those of all: counts are sums, and the sample is of the
// trajectories with the smallest hashes (see [Sample]), so that of a union is in those of
// its parts. What was written holds digests of the sampled trajectories, with none of their
// values, and names and counts.
//
// Memory, and the file, grow with contexts, days and links, which are habits, and not with
// calls; the sample is bounded.
type Lessons struct {
	order   int
	seed    uint64
	part    func(task string) int
	trained *Trained
	sample  *Sample

	elements int // of lists that are read of the sample at most

	sorting sync.Mutex // equal ranks are told apart by digests, which are made then
}

// NewLessons returns the lessons of no trajectory, for contexts of up to order calls; seed
// deals tasks into parts and draws the sample.
func NewLessons(order int, seed uint64) *Lessons {
	part := holdout.HashFolds(CalibrationParts, seed).Of
	return &Lessons{order: order, seed: seed, part: part, trained: NewTrained(order, nil, part), sample: NewSample(seed), elements: maxElements}
}

// Add adds a trajectory and what it teaches.
func (l *Lessons) Add(t *trace.Trajectory, o *Observation) {
	l.trained.Add(o, l.part)
	l.sample.Add(t)
}

// Fits reports whether lessons are of contexts of the same length and of the same seed.
func (l *Lessons) Fits(o *Lessons) bool { return l.order == o.order && l.seed == o.seed }

// Merge adds lessons that fit, and that stay as they are.
func (l *Lessons) Merge(o *Lessons) {
	for i, g := range l.trained.parts {
		if err := g.Merge(o.trained.parts[i]); err != nil {
			panic(err) // lessons that fit are of one order
		}
	}
	l.sample.Merge(o.sample)
}

// Trained returns the graph in parts.
func (l *Lessons) Trained() *Trained { return l.trained }

// Model returns the model of all parts, calibrated on the sample, see
// [Trained.Calibrated]. Adapter rules read values, so with them the lessons must not have
// been read; it is false of those that were.
func (l *Lessons) Model(o ModelOptions, p PredictorOptions) (*Model, bool) {
	apart, _, ok := l.histories(p.Fill.Adapter != nil, true)
	if !ok {
		return nil, false
	}
	return l.trained.calibrated(o, p, apart), true
}

// HeldOut returns what the tasks of all parts but one teach: their graph, and its model,
// calibrated on the trajectories of the sample that are of these parts. It is false of
// lessons that contradict themselves.
func (l *Lessons) HeldOut(part int, o ModelOptions, p PredictorOptions) (*Graph, *Model, bool) {
	apart, _, ok := l.histories(false, true)
	if !ok {
		return nil, nil, false
	}
	others := &Trained{parts: append([]*Graph(nil), l.trained.parts...), order: l.order}
	others.parts[part], apart[part] = NewGraph(l.order), nil
	return others.Graph(-1), others.calibrated(o, p, apart), true
}

// Sampled returns the trajectories of the sample by the part of their tasks, as runs
// without values: which of these are equal, and where they stand, is in them, and what
// models said is not. Their tasks are hashes. It is false of lessons that contradict
// themselves.
func (l *Lessons) Sampled() ([][]*Run, bool) {
	apart, tasks, ok := l.histories(false, false)
	if !ok {
		return nil, false
	}
	runs := make([][]*Run, len(apart))
	for i := range apart {
		for k, h := range apart[i] {
			runs[i] = append(runs[i], &Run{History: h, Observation: &Observation{Task: tasks[i][k], Decisions: h.decisions()}, Task: tasks[i][k]})
		}
	}
	return runs, true
}

// histories returns what predictions read of the sampled trajectories, by part, with
// hashes of their tasks: of trajectories where they are at hand, else of digests, unless
// values are wanted, which these do not have. Digests whose lists have more elements than are
// left are passed over: those before them in the order of the sample have theirs. What is
// looked at once, one history of a part after the other, shares memory for values.
func (l *Lessons) histories(values, isOnce bool) (apart [][]*History, tasks [][]string, ok bool) {
	apart, tasks = make([][]*History, CalibrationParts), make([][]string, CalibrationParts)
	known, left, rooms := vocabulary{}, l.elements, make([]*scratch, CalibrationParts)
	for i := range rooms {
		rooms[i] = newScratch()
	}
	for _, x := range l.sorted() {
		var h *History
		if x.trajectory != nil {
			h = NewHistory(x.trajectory) // its digest would give the same
			if isOnce {
				h.scratch, h.paths = rooms[x.part], rooms[x.part].paths
			}
		} else if !values {
			if known.names == nil {
				known = l.trained.Graph(-1).vocabulary()
			}
			if h, ok = readDigest(x.digest, x.size, known, &left); ok && h == nil {
				continue
			}
		}
		if h == nil {
			return nil, nil, false
		}
		apart[x.part], tasks[x.part] = append(apart[x.part], h), append(tasks[x.part], hex.EncodeToString(x.task[:]))
	}
	return apart, tasks, true
}

// sorted returns the sample in order. It may be called concurrently.
func (l *Lessons) sorted() []*sampled {
	l.sorting.Lock()
	defer l.sorting.Unlock()
	return l.sample.sorted()
}

// Trajectories returns how many trajectories taught.
func (l *Lessons) Trajectories() (n uint64) {
	for _, g := range l.trained.parts {
		n += g.trajectories
	}
	return n
}

// Append appends the lessons: the same bytes for the same lessons, compressed, behind the
// length of what is compressed. Tools, contexts and texts are those of all parts, each in
// its order.
func (l *Lessons) Append(dst []byte) []byte {
	out := l.appendWhole(nil)
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.DefaultCompression) // the level exists
	_, _ = w.Write(out)                                   // a buffer takes everything
	_ = w.Close()
	return append(varint.Append(dst, len(out)), b.Bytes()...)
}

// appendWhole appends the lessons as they are before they are compressed.
func (l *Lessons) appendWhole(out []byte) []byte {
	whole := l.trained.Graph(-1)
	order, renumbered := whole.sorted()
	out = varint.Append(out, l.order, int(l.seed>>32), int(l.seed&(1<<32-1)), len(order))
	for _, s := range order {
		out = varint.AppendText(out, whole.names[s].Value())
	}
	texts := slices.Sorted(slices.Values(whole.texts))
	out = varint.AppendTexts(out, texts)
	parents, symbols, nodes := whole.breadthFirst(renumbered)
	out = varint.Append(out, len(parents))
	before := uint32(0)
	for i, parent := range parents {
		symbol := symbols[i] // of a state, else of a tool
		if symbol == startSymbol {
			symbol = 0
		}
		out = varint.Append(out, int(parent-before), int(symbol))
		before = parent
	}
	for _, g := range l.trained.parts {
		out = g.appendPart(out, whole, order, renumbered, nodes, texts)
	}
	return l.sample.append(out)
}

// appendPart appends a graph by the numbers of the whole that it is a part of.
func (g *Graph) appendPart(dst []byte, whole *Graph, order, renumbered, nodes []uint32, texts []string) []byte {
	dst = varint.Append(dst, int(g.trajectories), int(g.newest), g.Tools())
	toWhole := make([]uint32, len(g.names)) // symbols
	for i := 1; i < len(g.names); i++ {
		toWhole[i] = renumbered[whole.symbols[g.names[i]]]
	}
	text := func(s string) uint32 {
		i, _ := slices.BinarySearch(texts, s)
		return uint32(i)
	}
	before := uint32(0)
	for _, s := range order {
		mine, ok := g.symbols[whole.names[s]]
		if !ok {
			continue
		}
		t := &g.tools[mine]
		dst = varint.Append(dst, int(toWhole[mine]-before))
		before = toWhole[mine]
		dst = appendCounted(dst, t.counts)
		dst = varint.AppendText(varint.Append(dst, int(t.calls), int(flag(t.schema))), t.description)
		dst = varint.AppendTexts(dst, sortedKeys(t.required))
		dst = varint.Append(dst, len(t.params))
		for _, p := range sortedKeys(t.params) {
			dst = varint.Append(varint.AppendText(dst, p), int(t.params[p]))
		}
	}
	places := make([]uint32, len(g.parents)) // of contexts, as the whole has them
	inWhole := make([]uint32, len(g.parents))
	for i := 1; i < len(g.parents); i++ {
		e := g.parents[i]
		symbol := e.symbol
		if e.node != 0 && symbol != startSymbol {
			symbol = whole.symbols[g.names[symbol]]
		}
		inWhole[i] = uint32(whole.children.Find(lookup.Pair(inWhole[e.node], symbol)))
		places[i] = nodes[inWhole[i]]
	}
	cells := slices.Clone(g.cells)
	for i := range cells {
		c := &cells[i]
		c.node, c.next = places[c.node], toWhole[c.next]
	}
	slices.SortFunc(cells, func(a, b cellCount) int { return a.compare(b.cell) })
	dst = varint.Append(dst, len(cells))
	before = 0
	for _, c := range cells {
		dst = appendCounted(varint.Append(dst, int(c.node-before), int(c.next), int(c.period)), c.counts)
		before = c.node
	}
	links := slices.Clone(g.deps)
	for i := range links {
		d := &links[i]
		d.tool, d.from, d.param, d.path = toWhole[d.tool], toWhole[d.from], text(g.texts[d.param]), text(g.texts[d.path])
	}
	slices.SortFunc(links, func(a, b dependencyCount) int { return a.compare(b.dependency) })
	dst = varint.Append(dst, len(links))
	before = 0
	for _, d := range links {
		dst = varint.Append(dst, int(d.tool-before), int(d.param), int(d.side)*classes+int(d.class), int(d.from), int(d.path), int(d.worth.tried), int(d.worth.right))
		before = d.tool
	}
	return dst
}

func (c cell) compare(o cell) int {
	return cmp.Or(cmp.Compare(c.node, o.node), cmp.Compare(c.next, o.next), cmp.Compare(c.period, o.period))
}

func (d dependency) compare(o dependency) int {
	return cmp.Or(cmp.Compare(d.tool, o.tool), cmp.Compare(d.param, o.param), cmp.Compare(d.side, o.side),
		cmp.Compare(d.class, o.class), cmp.Compare(d.from, o.from), cmp.Compare(d.path, o.path))
}

func appendCounted(dst []byte, c Counts) []byte {
	return varint.Append(dst, int(c.OK), int(c.Failed), int(c.Unknown), int(c.Multiple))
}

// ReadLessons takes what Append wrote; false of what contradicts itself. Digests are read
// by Model. Memory is in proportion to what the data is once it is not compressed.
func ReadLessons(data []byte) (*Lessons, bool) {
	head := reader{varint.Reader{Data: data}}
	size := head.Uint()
	if head.Broken != "" || size > uint64(len(head.Data))*maxDeflated {
		return nil, false
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(head.Data)), int64(size)+1))
	if err != nil || uint64(len(text)) != size {
		return nil, false
	}
	return readLessons(text)
}

// readLessons takes lessons that are not compressed.
func readLessons(text []byte) (*Lessons, bool) {
	r := &reader{varint.Reader{Data: text}}
	order, seed := r.Below(MaxOrder+1), uint64(r.Below(1<<32))<<32
	seed |= uint64(r.Below(1 << 32))
	if order == 0 {
		return nil, false
	}
	l := NewLessons(order, seed)
	w := &wholeReader{reader: r, order: order}
	w.read()
	for _, g := range l.trained.parts {
		w.part(g)
	}
	l.sample.read(r)
	return l, r.Broken == "" && len(r.Data) == 0
}

// maxDeflated is how many bytes one byte may stand for.
const maxDeflated = 1032

// wholeReader reads what the parts have in common.
type wholeReader struct {
	*reader
	order   int
	tools   []trace.Name // by number, from 1
	texts   []string
	parents []edge // of contexts, as those of a graph
}

func (w *wholeReader) read() {
	w.tools = []trace.Name{noName}
	for _, name := range w.ascending() {
		w.tools = append(w.tools, trace.Intern(name))
	}
	if w.texts = w.ascending(); len(w.texts) == 0 || w.texts[0] != "" {
		w.fail()
	}
	w.parents = make([]edge, 1)
	depth := []int{0}
	parent := 0
	for range w.Length(2) {
		parent += w.Below(len(w.parents))
		symbol := w.Below(len(w.tools) + states)
		switch {
		case w.Broken != "" || parent >= len(w.parents) || depth[parent] > w.order,
			parent == 0 && symbol >= states,
			parent != 0 && (symbol >= len(w.tools) || depth[parent] > 1 && w.parents[parent].symbol == startSymbol):
			w.fail()
			return
		case parent != 0 && symbol == 0:
			symbol = int(startSymbol)
		}
		w.parents, depth = append(w.parents, edge{uint32(parent), uint32(symbol)}), append(depth, depth[parent]+1)
	}
}

// ascending takes texts in order, each once.
func (w *wholeReader) ascending() []string {
	texts := w.reader.Texts()
	for i := 1; i < len(texts); i++ {
		if texts[i] <= texts[i-1] {
			w.fail()
		}
	}
	return texts
}

// part reads a graph.
func (w *wholeReader) part(g *Graph) {
	g.trajectories, g.newest = w.Uint(), int32(w.Below(digestMost))
	known := make([]uint32, len(w.tools)) // symbols of g
	at := 0
	for range w.Length(8) {
		step := w.Below(len(w.tools))
		if at += step; step == 0 || at >= len(w.tools) {
			w.fail()
			return
		}
		known[at] = g.symbol(w.tools[at])
		w.tool(&g.tools[known[at]])
	}
	if !w.cells(g, known) || !w.links(g, known) {
		w.fail()
	}
}

func (w *wholeReader) tool(t *tool) {
	t.counts = w.counts()
	t.calls, t.schema, t.description = w.Uint(), w.Below(2) == 1, w.Text()
	for _, p := range w.ascending() {
		if t.required == nil {
			t.required = map[string]bool{}
		}
		t.required[p] = true
	}
	for range w.Length(2) {
		p := w.Text()
		t.params[p] = w.Uint()
	}
}

func (w *wholeReader) counts() Counts {
	return Counts{OK: w.Uint(), Failed: w.Uint(), Unknown: w.Uint(), Multiple: w.Uint()}
}

func (w *wholeReader) cells(g *Graph, known []uint32) bool {
	nodes := map[uint32]uint32{0: 0} // of g
	var node func(n uint32) (uint32, bool)
	node = func(n uint32) (uint32, bool) {
		if mine, ok := nodes[n]; ok {
			return mine, true
		}
		e := w.parents[n]
		parent, ok := node(e.node)
		symbol := e.symbol
		if e.node != 0 && symbol != startSymbol {
			symbol = known[symbol]
			ok = ok && symbol != 0
		}
		if !ok {
			return 0, false
		}
		nodes[n] = g.child(parent, symbol)
		return nodes[n], true
	}
	last := cell{period: -1}
	for range w.Length(7) {
		c := cell{last.node + uint32(w.Below(len(w.parents))), uint32(w.Below(len(w.tools))), int32(w.Below(digestMost))}
		n := w.counts()
		if w.Broken != "" || c.compare(last) <= 0 || int(c.node) >= len(w.parents) || c.next != NoneSymbol && known[c.next] == 0 {
			return false
		}
		last = c
		mine, ok := node(c.node)
		if !ok {
			return false
		}
		g.count(cell{mine, known[c.next], c.period}, n)
	}
	return true
}

func (w *wholeReader) links(g *Graph, known []uint32) bool {
	var last dependency
	for range w.Length(7) {
		d := dependency{tool: last.tool + uint32(w.Below(len(w.tools))), param: uint32(w.Below(len(w.texts)))}
		kind := w.Below((int(dataflow.Task) + 1) * classes)
		d.side, d.class = dataflow.Side(kind/classes), Class(kind%classes)
		d.from, d.path = uint32(w.Below(len(w.tools))), uint32(w.Below(len(w.texts)))
		n := ruleCounts{w.Uint(), w.Uint()}
		if w.Broken != "" || d.compare(last) <= 0 || int(d.tool) >= len(known) || known[d.tool] == 0 || d.from != 0 && known[d.from] == 0 {
			return false
		}
		last = d
		d.tool, d.from, d.param, d.path = known[d.tool], known[d.from], g.text(w.texts[d.param]), g.text(w.texts[d.path])
		g.depend(d, n)
	}
	return true
}
