package summary

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/varint"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// appendSums appends the inputs and all that is added up.
func (s *Summary) appendSums(dst []byte) []byte {
	inputs := slices.Clone(s.inputs)
	slices.SortFunc(inputs, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	dst = varint.Append(dst, len(inputs))
	for _, h := range inputs {
		dst = append(dst, h[:]...)
	}
	dst = appendFigures(dst, s.intake.figures())
	dst = appendCounts(dst, s.intake.Problems.ByCode)
	dst = varint.Append(dst, len(s.intake.Bounds))
	for _, code := range slices.Sorted(maps.Keys(s.intake.Bounds)) {
		b := s.intake.Bounds[code]
		dst = varint.Append(varint.Append(varint.AppendText(dst, code), b.Places), b.LeftOut)
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
	slices.SortFunc(tools, func(a, b completeness.ToolSummary) int { return strings.Compare(a.Name, b.Name) })
	dst = varint.Append(dst, len(tools))
	for i := range tools {
		dst = appendFigures(varint.AppendText(dst, tools[i].Name), tools[i].Figures())
		defined := 0
		if tools[i].Defined {
			defined = 1
		}
		dst = varint.Append(dst, defined)
	}
	profiles := s.profile.Tools()
	dst = varint.Append(dst, len(profiles))
	for _, p := range profiles {
		dst = varint.AppendText(dst, p.Name)
		dst = appendDistribution(dst, &p.Latency)
		dst = appendDistribution(dst, &p.Result)
		dst = appendFigures(dst, []*int{&p.Turns, &p.TurnsUsage})
		dst = binary.AppendVarint(binary.AppendVarint(dst, p.Input), p.Output)
	}
	rework := s.reworkByName()
	dst = varint.Append(dst, len(rework))
	for i := range rework {
		dst = varint.AppendText(dst, rework[i].Kind)
		for _, tool := range rework[i].Tools {
			dst = varint.AppendText(dst, tool)
		}
		dst = binary.AppendVarint(appendFigures(dst, rework[i].figures()), rework[i].Tokens)
	}
	return dst
}

func appendDistribution(dst []byte, d *completeness.Distribution) []byte {
	n := 0
	for range d.All() {
		n++
	}
	dst = varint.Append(dst, n)
	for v, n := range d.All() {
		dst = varint.Append(binary.AppendUvarint(dst, v), n)
	}
	return dst
}

func (s *Summary) readSums(d *decoder) {
	for i := range d.Length(sha256.Size) {
		h := [sha256.Size]byte(d.Take(sha256.Size))
		if i > 0 && bytes.Compare(h[:], s.inputs[i-1][:]) < 0 {
			d.Fail("the order of inputs")
		}
		s.inputs = append(s.inputs, h)
	}
	d.figures(s.intake.figures())
	for code, n := range d.counts("problems") {
		s.intake.Problems.AddN(code, n)
	}
	before := ""
	for i := range d.Length(3) {
		code := d.Text()
		if i == 0 {
			s.intake.Bounds = map[string]Bound{}
		} else {
			d.ascending(strings.Compare(code, before), "bounds")
		}
		before = code
		s.intake.Bounds[code] = Bound{d.Int(), d.Int()}
	}
	var tally completeness.Tally
	d.figures(tally.Figures())
	for code, n := range d.counts("problems") {
		tally.Problems.AddN(code, n)
	}
	var failed []completeness.StatusReading
	for by, n := range d.counts("statuses") {
		failed = append(failed, completeness.StatusReading{By: by, Calls: n})
	}
	var tools []completeness.ToolSummary
	for i := range d.Length(11) {
		t := completeness.ToolSummary{Name: d.Text()}
		if i > 0 {
			d.ascending(strings.Compare(t.Name, tools[i-1].Name), "tools")
		}
		d.figures(t.Figures())
		defined := d.Uint()
		if defined > 1 {
			d.Fail("a tool")
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
	for i := range d.Length(7) {
		p := completeness.ToolProfile{Name: d.Text()}
		if i > 0 {
			d.ascending(strings.Compare(p.Name, before), "profiles")
		}
		before = p.Name
		d.distribution(&p.Latency)
		d.distribution(&p.Result)
		d.figures([]*int{&p.Turns, &p.TurnsUsage})
		p.Input, p.Output = d.Signed(), d.Signed()
		s.profile.AddSums(&p)
	}
}

func (d *decoder) distribution(out *completeness.Distribution) {
	before := uint64(0)
	var read []uint64
	for i := range d.Length(2) {
		v, count := d.Uint(), d.Int()
		if i > 0 {
			d.ascending(cmp.Compare(v, before), "a distribution")
		}
		if before = v; count == 0 {
			d.Fail("a distribution")
		}
		out.AddN(v, count)
		read = append(read, v)
	}
	var kept []uint64
	for v := range out.All() {
		kept = append(kept, v)
	}
	if !slices.Equal(kept, read) { // a value that a distribution keeps to fewer digits
		d.Fail("a distribution")
	}
}

func (s *Summary) readRework(d *decoder) {
	var before Rework
	for i := range d.Length(7) {
		r := Rework{Kind: d.Text(), Tools: []string{d.Text()}}
		k := reworkKey{kind: r.Kind, a: r.Tools[0]}
		switch r.Kind {
		case trace.ReworkRepeat:
		case trace.ReworkAlternation:
			k.b = d.Text()
			r.Tools = append(r.Tools, k.b)
		default:
			d.Fail("rework")
		}
		if i > 0 {
			d.ascending(cmp.Or(cmp.Compare(r.Kind, before.Kind), slices.Compare(r.Tools, before.Tools)), "rework")
		}
		d.figures(r.figures())
		r.Tokens = d.Signed()
		s.rework[k], before = &r, r
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
			d.Fail("the figures of a tool")
		}
	}
	for _, r := range s.rework {
		for _, tool := range r.Tools {
			if _, ok := s.tools.index[tool]; !ok {
				d.Fail("rework")
			}
		}
	}
}
