package summary

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
)

// The layout of a file. All that is fixed is little-endian:
//
//	 0  8  magic
//	 8  4  version
//	12  4  nothing, 0
//	16  8  size of the file
//	24 32  SHA-256 of the options and labels as they stand in the body
//	56     body
//	-32 32 SHA-256 of everything before
//
// Numbers in the body are varints in their shortest form, texts stand behind their
// length, lists behind the number of their elements and in ascending order.
const (
	magic      = "\x89awosum\n"
	version    = 1
	headerSize = 56
)

// Append appends the summary as it stands in a file: the same bytes for the same counts.
func (s *Summary) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = append(dst, make([]byte, headerSize-16)...)
	body := len(dst)
	dst = appendChoices(dst, s.choices, s.labels)
	options := sha256.Sum256(dst[body:])
	copy(dst[start+24:], options[:])
	dst = s.appendSums(dst)
	dst = s.appendRows(dst)
	binary.LittleEndian.PutUint64(dst[start+16:], uint64(len(dst)-start+sha256.Size))
	sum := sha256.Sum256(dst[start:])
	return append(dst, sum[:]...)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendInt(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }

func appendChoices(dst []byte, choices []Option, labels []string) []byte {
	dst = appendInt(dst, len(choices))
	for _, o := range choices {
		dst = appendText(appendText(dst, o.Name), o.Value)
	}
	dst = appendInt(dst, len(labels))
	for _, l := range labels {
		dst = appendText(dst, l)
	}
	return dst
}

func appendFigures(dst []byte, figures []*int) []byte {
	for _, figure := range figures {
		dst = appendInt(dst, *figure)
	}
	return dst
}

func appendCounts(dst []byte, counts map[string]int) []byte {
	dst = appendInt(dst, len(counts))
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		dst = appendInt(appendText(dst, code), counts[code])
	}
	return dst
}

// appendSums appends the inputs and all that is added up.
func (s *Summary) appendSums(dst []byte) []byte {
	inputs := slices.Clone(s.inputs)
	slices.SortFunc(inputs, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	dst = appendInt(dst, len(inputs))
	for _, h := range inputs {
		dst = append(dst, h[:]...)
	}
	dst = appendFigures(dst, s.intake.figures())
	dst = appendCounts(dst, s.intake.Problems.ByCode)
	dst = appendInt(dst, len(s.intake.Bounds))
	for _, code := range slices.Sorted(maps.Keys(s.intake.Bounds)) {
		b := s.intake.Bounds[code]
		dst = appendInt(appendInt(appendText(dst, code), b.Places), b.LeftOut)
	}
	tally := &s.facts.Tally
	dst = appendFigures(dst, tally.Figures())
	dst = appendCounts(dst, tally.Problems.ByCode)
	failed := map[string]int{}
	for _, r := range tally.StatusReadings() {
		failed[r.By] = r.Calls
	}
	dst = appendCounts(dst, failed)

	tools := s.facts.Tools()
	slices.SortFunc(tools, func(a, b trace.ToolSummary) int { return strings.Compare(a.Name, b.Name) })
	dst = appendInt(dst, len(tools))
	for i := range tools {
		dst = appendFigures(appendText(dst, tools[i].Name), tools[i].Figures())
		defined := 0
		if tools[i].Defined {
			defined = 1
		}
		dst = appendInt(dst, defined)
	}
	profiles := s.profile.Tools()
	dst = appendInt(dst, len(profiles))
	for _, p := range profiles {
		dst = appendText(dst, p.Name)
		dst = appendDistribution(dst, &p.Latency)
		dst = appendDistribution(dst, &p.Result)
		dst = appendFigures(dst, []*int{&p.Turns, &p.TurnsUsage})
		dst = binary.AppendVarint(binary.AppendVarint(dst, p.Input), p.Output)
	}
	rework := s.reworkByName()
	dst = appendInt(dst, len(rework))
	for i := range rework {
		dst = appendText(dst, rework[i].Kind)
		for _, tool := range rework[i].Tools {
			dst = appendText(dst, tool)
		}
		dst = binary.AppendVarint(appendFigures(dst, rework[i].figures()), rework[i].Tokens)
	}
	return dst
}

func appendDistribution(dst []byte, d *trace.Distribution) []byte {
	n := 0
	for range d.All() {
		n++
	}
	dst = appendInt(dst, n)
	for v, n := range d.All() {
		dst = appendInt(binary.AppendUvarint(dst, v), n)
	}
	return dst
}

// appendRows appends tools, sequences, classes and rows. A row stands behind the task
// that it has in common with others.
func (s *Summary) appendRows(dst []byte) []byte {
	o := s.ordered()
	for _, list := range [][]string{o.tools, o.sequences, o.classes} {
		dst = appendInt(dst, len(list))
		for _, text := range list {
			dst = appendText(dst, text)
		}
	}
	tasks := 0
	for i := range o.rows {
		if i == 0 || o.rows[i].task != o.rows[i-1].task {
			tasks++
		}
	}
	dst = appendInt(dst, tasks)
	for first := 0; first < len(o.rows); {
		end := first + 1
		for end < len(o.rows) && o.rows[end].task == o.rows[first].task {
			end++
		}
		dst = appendInt(append(dst, o.rows[first].task[:]...), end-first)
		for _, r := range o.rows[first:end] {
			dst = binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(dst, uint64(r.class)), uint64(r.sequence)), r.n)
		}
		first = end
	}
	return dst
}

// Read takes the bytes of a summary; file is only a name. Errors are of type *diag.Error.
//
// Every file is taken for hostile: what contradicts itself is an error, and memory is in
// proportion to the file.
func Read(file string, data []byte) (*Summary, error) {
	problem := func(code, format string, args ...any) error {
		return diag.New(diag.Pos{File: file}, code, format, args...)
	}
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return nil, problem(CodeForeign, "this is no summary of awo")
	}
	if len(data) < headerSize+sha256.Size {
		return nil, problem(CodeTruncated, "the file ends inside its header")
	}
	if v := binary.LittleEndian.Uint32(data[8:]); v != version {
		return nil, problem(CodeVersion, "the summary is of version %d, and this program reads version %d: summarize the traces again", v, version)
	}
	if size := binary.LittleEndian.Uint64(data[16:]); size != uint64(len(data)) {
		return nil, problem(CodeTruncated, "the file has %d bytes and says that it has %d", len(data), size)
	}
	end := len(data) - sha256.Size
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil, problem(CodeCorrupt, "the file is not what was written: its checksum differs")
	}
	s := New(Options{})
	s.scratch, s.file = nil, file
	d := &decoder{data: data[headerSize:end]}
	s.readChoices(d)
	options := sha256.Sum256(data[headerSize : end-len(d.data)])
	if binary.LittleEndian.Uint32(data[12:]) != 0 || !bytes.Equal(options[:], data[24:headerSize]) {
		d.fail("its header")
	}
	s.readSums(d)
	s.readRows(d)
	if len(d.data) > 0 {
		d.fail("its end")
	}
	s.check(d)
	if d.broken != "" {
		return nil, problem(CodeCorrupt, "the file contradicts itself in %s", d.broken)
	}
	return s, nil
}

// decoder takes values off its data. After a failure it takes zeros.
type decoder struct {
	data   []byte
	broken string // what is wrong
}

func (d *decoder) fail(what string) {
	if d.broken == "" {
		d.broken = what
	}
	d.data = nil
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 || n > 1 && d.data[n-1] == 0 {
		d.fail("a number")
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) int() int {
	v := d.uint()
	if v > 1<<62 {
		d.fail("a count")
		return 0
	}
	return int(v)
}

func (d *decoder) signed() int64 {
	u := d.uint()
	return int64(u>>1) ^ -int64(u&1)
}

// length takes the length of a list whose elements take at least so many bytes.
func (d *decoder) length(least int) int {
	n := d.uint()
	if n > uint64(len(d.data)/least) {
		d.fail("the length of a list")
		return 0
	}
	return int(n)
}

func (d *decoder) text() string { return string(d.take(d.length(1))) }

func (d *decoder) take(n int) []byte {
	if n > len(d.data) {
		d.fail("its length")
		return make([]byte, n)
	}
	out := d.data[:n]
	d.data = d.data[n:]
	return out
}

func (d *decoder) figures(figures []*int) {
	for _, figure := range figures {
		*figure = d.int()
	}
}

// ascending notes a failure unless c, a comparison of an element with the one before,
// says that it is greater.
func (d *decoder) ascending(c int, what string) {
	if c <= 0 {
		d.fail("the order of " + what)
	}
}

func (d *decoder) counts(what string) map[string]int {
	n := d.length(2)
	out := make(map[string]int, n)
	before := ""
	for i := range n {
		code := d.text()
		if i > 0 {
			d.ascending(strings.Compare(code, before), what)
		}
		before = code
		if out[code] = d.int(); out[code] == 0 {
			d.fail("the counts of " + what)
		}
	}
	return out
}

func (s *Summary) readChoices(d *decoder) {
	for i := range d.length(2) {
		o := Option{d.text(), d.text()}
		if i > 0 {
			d.ascending(strings.Compare(o.Name, s.choices[i-1].Name), "options")
		}
		s.choices = append(s.choices, o)
	}
	for range d.length(1) {
		s.labels = append(s.labels, d.text())
	}
}

func (s *Summary) readSums(d *decoder) {
	for i := range d.length(sha256.Size) {
		h := [sha256.Size]byte(d.take(sha256.Size))
		if i > 0 && bytes.Compare(h[:], s.inputs[i-1][:]) < 0 {
			d.fail("the order of inputs")
		}
		s.inputs = append(s.inputs, h)
	}
	d.figures(s.intake.figures())
	for code, n := range d.counts("problems") {
		s.intake.Problems.AddN(code, n)
	}
	before := ""
	for i := range d.length(3) {
		code := d.text()
		if i == 0 {
			s.intake.Bounds = map[string]Bound{}
		} else {
			d.ascending(strings.Compare(code, before), "bounds")
		}
		before = code
		s.intake.Bounds[code] = Bound{d.int(), d.int()}
	}
	var tally trace.Tally
	d.figures(tally.Figures())
	for code, n := range d.counts("problems") {
		tally.Problems.AddN(code, n)
	}
	var failed []trace.StatusReading
	for by, n := range d.counts("statuses") {
		failed = append(failed, trace.StatusReading{By: by, Calls: n})
	}
	var tools []trace.ToolSummary
	for i := range d.length(11) {
		t := trace.ToolSummary{Name: d.text()}
		if i > 0 {
			d.ascending(strings.Compare(t.Name, tools[i-1].Name), "tools")
		}
		d.figures(t.Figures())
		defined := d.uint()
		if defined > 1 {
			d.fail("a tool")
		}
		t.Defined = defined == 1
		tools = append(tools, t)
	}
	s.facts.AddSums(&tally, tools, failed)
	s.readProfiles(d)
	s.readRework(d)
}

func (s *Summary) readProfiles(d *decoder) {
	before := ""
	for i := range d.length(7) {
		p := trace.ToolProfile{Name: d.text()}
		if i > 0 {
			d.ascending(strings.Compare(p.Name, before), "profiles")
		}
		before = p.Name
		d.distribution(&p.Latency)
		d.distribution(&p.Result)
		d.figures([]*int{&p.Turns, &p.TurnsUsage})
		p.Input, p.Output = d.signed(), d.signed()
		s.profile.AddSums(&p)
	}
}

func (d *decoder) distribution(out *trace.Distribution) {
	before := uint64(0)
	var read []uint64
	for i := range d.length(2) {
		v, count := d.uint(), d.int()
		if i > 0 {
			d.ascending(cmp.Compare(v, before), "a distribution")
		}
		if before = v; count == 0 {
			d.fail("a distribution")
		}
		out.AddN(v, count)
		read = append(read, v)
	}
	var kept []uint64
	for v := range out.All() {
		kept = append(kept, v)
	}
	if !slices.Equal(kept, read) { // a value that a distribution keeps to fewer digits
		d.fail("a distribution")
	}
}

func (s *Summary) readRework(d *decoder) {
	var before Rework
	for i := range d.length(7) {
		r := Rework{Kind: d.text(), Tools: []string{d.text()}}
		k := reworkKey{kind: r.Kind, a: r.Tools[0]}
		switch r.Kind {
		case trace.ReworkRepeat:
		case trace.ReworkAlternation:
			k.b = d.text()
			r.Tools = append(r.Tools, k.b)
		default:
			d.fail("rework")
		}
		if i > 0 {
			d.ascending(cmp.Or(cmp.Compare(r.Kind, before.Kind), slices.Compare(r.Tools, before.Tools)), "rework")
		}
		d.figures(r.figures())
		r.Tokens = d.signed()
		s.rework[k], before = &r, r
	}
}

func (s *Summary) readRows(d *decoder) {
	for _, list := range []*table{&s.tools, &s.sequences, &s.classes} {
		before := ""
		for i := range d.length(1) {
			text := d.text()
			if i > 0 {
				d.ascending(strings.Compare(text, before), "a list")
			}
			before = text
			list.add(text)
		}
	}
	for _, text := range s.sequences.values {
		e := decoder{data: []byte(text)}
		for len(e.data) > 0 {
			if tool := e.uint(); tool >= uint64(len(s.tools.values)) {
				e.fail("a sequence")
			}
		}
		if e.broken != "" {
			d.fail("a sequence")
		}
	}
	for _, text := range s.classes.values {
		e := decoder{data: []byte(text)}
		for range s.labels {
			e.text()
		}
		if len(e.data) > 0 || e.broken != "" {
			d.fail("labels")
		}
	}
	s.readCounts(d)
}

// readCounts reads the rows themselves.
func (s *Summary) readCounts(d *decoder) {
	var before [16]byte
	total, empty, whole := uint64(0), uint64(0), uint64(s.facts.Tally.Trajectories)
	for i := range d.length(20) {
		task := [16]byte(d.take(16))
		if i > 0 {
			d.ascending(bytes.Compare(task[:], before[:]), "tasks")
		}
		before = task
		var last row
		rows := d.length(3)
		if rows == 0 {
			d.fail("a task")
		}
		for j := range rows {
			class, sequence, n := d.uint(), d.uint(), d.uint()
			if class >= uint64(len(s.classes.values)) || sequence >= uint64(len(s.sequences.values)) || n == 0 || n > whole-total {
				d.fail("a row")
				return
			}
			r := row{task, uint32(class), uint32(sequence)}
			if j > 0 {
				d.ascending(r.compare(last), "rows")
			}
			last = r
			total += n
			if s.sequences.values[r.sequence] == "" {
				empty += n
			}
			s.rows[r] = n
		}
	}
	if total != whole || empty != uint64(s.facts.Tally.Empty) {
		d.fail("the number of trajectories")
	}
}

// check notes a failure where sums speak of tools that something else must know too.
func (s *Summary) check(d *decoder) {
	profiled := map[string]bool{}
	for _, p := range s.profile.Tools() {
		profiled[p.Name] = true
	}
	for _, t := range s.facts.Tools() {
		if t.Calls > 0 && !profiled[t.Name] {
			d.fail("the figures of a tool")
		}
	}
	for _, r := range s.rework {
		for _, tool := range r.Tools {
			if _, ok := s.tools.index[tool]; !ok {
				d.fail("rework")
			}
		}
	}
}
