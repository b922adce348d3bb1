package summary

import (
	"bytes"
	"encoding/binary"
	"strings"
)

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
