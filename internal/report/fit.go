package report

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// briefRows is how many rows of a table short text has, if the table does not say.
	briefRows = 8
	// comfortable is how narrow a column of texts gets before columns are dropped, and
	// narrowest how narrow when none can be.
	comfortable = 20
	narrowest   = 8
	between     = 2 // columns of space between two
)

// layout is how a table is drawn in a given width.
type layout struct {
	columns []int // indices of the columns shown
	widths  []int // of these; 0 is as wide as it is
	dropped []string
}

// fitted returns how the table fits into so many columns of a terminal; 0 is any
// number. Headings are wrapped first, then columns of texts become narrower down to a
// comfortable width, then the least important columns go, and at last what is left is
// cut. cells are those of all rows as they would be written.
func (t *Table) fitted(cells [][]string, room int, brief bool) layout {
	l := layout{}
	for j := range t.Columns {
		if !brief || !t.Columns[j].Detail {
			l.columns = append(l.columns, j)
		}
	}
	l.widths = make([]int, len(l.columns))
	if room <= 0 {
		return l
	}
	natural, least := make([]int, len(t.Columns)), make([]int, len(t.Columns))
	for j, c := range t.Columns {
		body := 0
		for _, row := range cells {
			for line := range strings.SplitSeq(row[j], "\n") {
				body = max(body, Width(line))
			}
		}
		word := 0 // of the heading
		for part := range strings.SplitSeq(Escape(c.heading()), " ") {
			word = max(word, Width(part))
		}
		natural[j] = max(body, Width(Escape(c.heading())))
		least[j] = max(body, word, 2) // a heading is not wrapped in less
		if c.isText() {
			least[j] = min(least[j], max(comfortable, word))
		}
	}
	for !fits(l.columns, least, room) && len(l.columns) > 1 {
		l.drop(t)
	}
	if !fits(l.columns, least, room) {
		for _, j := range l.columns {
			least[j] = min(least[j], max(narrowest, room))
		}
	}
	// What is left over goes to the columns that want more, the narrowest first.
	widths := slices.Clone(least)
	for grown := true; grown; {
		grown = false
		for _, j := range l.columns {
			if widths[j] < natural[j] && total(l.columns, widths) < room {
				widths[j]++
				grown = true
			}
		}
	}
	for k, j := range l.columns {
		l.widths = l.widths[:len(l.columns)]
		l.widths[k] = widths[j]
	}
	return l
}

// isText reports whether cells of the column can be made narrower: figures cannot.
func (c *Column) isText() bool { return c.Align == Left && !c.Interval }

func total(columns, widths []int) int {
	sum := between * (len(columns) - 1)
	for _, j := range columns {
		sum += widths[j]
	}
	return sum
}

func fits(columns, widths []int, room int) bool { return total(columns, widths) <= room }

// drop takes out the least important column: the one of the highest Rank, of several the
// last. The first column names the row and stays.
func (l *layout) drop(t *Table) {
	least := len(l.columns) - 1
	for k := len(l.columns) - 1; k > 0; k-- {
		if t.Columns[l.columns[k]].Rank > t.Columns[l.columns[least]].Rank {
			least = k
		}
	}
	l.dropped = append(l.dropped, t.Columns[l.columns[least]].heading())
	l.columns = slices.Delete(l.columns, least, least+1)
}

// note says which columns were dropped.
func (l *layout) note() string {
	if len(l.dropped) == 0 {
		return ""
	}
	slices.Reverse(l.dropped)
	return fmt.Sprintf("No room for: %s.", strings.Join(l.dropped, ", "))
}

// within makes a cell no wider than width: texts that may be wrapped are, others lose
// their middle.
func (c Column) within(s string, width int) string {
	if width <= 0 || widest(s) <= width {
		return s
	}
	if c.Wrap || c.isText() && strings.Contains(s, " ") && c.Words {
		return strings.Join(wrapAt(strings.ReplaceAll(s, "\n", " "), width), "\n")
	}
	return Cut(s, width)
}

func widest(s string) int {
	w := 0
	for line := range strings.SplitSeq(s, "\n") {
		w = max(w, Width(line))
	}
	return w
}
