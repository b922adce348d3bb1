package summary

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/awo-dev/awo/internal/varint"
)

// append appends tools, sequences, classes and rows. A row stands behind the task
// that it has in common with others.
func (o *ordered) append(dst []byte) []byte {
	for _, list := range [][]string{o.tools, o.sequences, o.classes} {
		dst = varint.Append(dst, len(list))
		for _, text := range list {
			dst = varint.AppendText(dst, text)
		}
	}
	dst = varint.Append(dst, len(o.tasks()))
	for first := 0; first < len(o.rows); {
		end := first + 1
		for end < len(o.rows) && o.rows[end].task == o.rows[first].task {
			end++
		}
		dst = varint.Append(append(dst, o.rows[first].task[:]...), end-first)
		for _, r := range o.rows[first:end] {
			dst = binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(dst, uint64(r.class)), uint64(r.sequence)), r.n)
		}
		first = end
	}
	return dst
}

func (s *Summary) readRows(d *decoder) {
	for _, list := range []*table{&s.tools, &s.sequences, &s.classes} {
		before := ""
		for i := range d.Length(1) {
			text := d.Text()
			if i > 0 {
				d.ascending(strings.Compare(text, before), "a list")
			}
			before = text
			list.add(text)
		}
	}
	for _, text := range s.sequences.values {
		e := decoder{varint.Reader{Data: []byte(text)}}
		for len(e.Data) > 0 {
			if tool := e.Uint(); tool >= uint64(len(s.tools.values)) {
				e.Fail("a sequence")
			}
		}
		if e.Broken != "" {
			d.Fail("a sequence")
		}
	}
	for _, text := range s.classes.values {
		e := decoder{varint.Reader{Data: []byte(text)}}
		for range s.labels {
			e.Text()
		}
		if len(e.Data) > 0 || e.Broken != "" {
			d.Fail("labels")
		}
	}
	s.readCounts(d)
}

// readCounts reads the rows themselves.
func (s *Summary) readCounts(d *decoder) {
	var before [16]byte
	total, empty, whole := uint64(0), uint64(0), uint64(s.facts.Tally.Trajectories)
	for i := range d.Length(20) {
		task := [16]byte(d.Take(16))
		if i > 0 {
			d.ascending(bytes.Compare(task[:], before[:]), "tasks")
		}
		before = task
		var last row
		rows := d.Length(3)
		if rows == 0 {
			d.Fail("a task")
		}
		for j := range rows {
			class, sequence, n := d.Uint(), d.Uint(), d.Uint()
			if class >= uint64(len(s.classes.values)) || sequence >= uint64(len(s.sequences.values)) || n == 0 || n > whole-total {
				d.Fail("a row")
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
		d.Fail("the number of trajectories")
	}
}
