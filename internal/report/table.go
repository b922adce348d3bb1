package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Table is columns and rows, with notes below.
//
// As text, missing cells carry a number that leads to a note with the reason,
// and columns that are too wide are cut or wrapped; Markdown cuts nothing. CSV
// has one header line of column keys (an interval is two columns, key_lo and
// key_hi) and empty fields for null. JSON and JSON Lines have the structs that the table
// was made of, with all their members, and the cells by key where it was made of cells;
// JSON Lines have a first member "table" where there are several tables.
type Table struct {
	ID      string // short, for programs
	Title   string // a line above the table; may be empty
	Columns []Column
	Rows    [][]Cell // as many cells as columns
	Notes   []string // sentences below the table; short text leaves them out
	Brief   int      // how many rows short text has; 0 is 8
	Most    int      // how many rows texts have; 0 is all

	// Open returns what a row of a page opens to.
	Open func(row int) []Block

	of     reflect.Type // of the structs; nil: it was made of cells
	data   []any        // pointers to the structs, as many as Rows
	ifAny  bool         // texts have it only with rows
	hidden bool         // texts have it never
	view   bool         // JSON has it never
}

// Column is one column of a Table.
type Column struct {
	Key      string // for CSV and JSON; snake_case, with the unit if there is one
	Title    string // for people; empty: the key
	Unit     string // shown in brackets behind the title; may be empty
	Align    Align
	Interval bool // the cells are Range, ShareRange or Missing

	// Max is the widest that a cell may be in text output, 0 is 60. A wider one
	// loses its middle, or goes on on the next line if Wrap is set.
	Max  int
	Wrap bool
	Rank int // where there is no room, columns of the highest rank go first, then the last

	Detail bool // short text leaves it out

	// How TableOf makes the cells.
	From    string // the member that they show, such as "intervals.top1"; empty: Key
	Digits  int    // after the point; of shares 0 means 1; see Whole
	Share   bool   // a part of one, shown in percent; a column with the unit % is one
	Words   bool   // texts are our own words and not from the traces
	Empty   string // what is shown for an empty text
	NoRange bool   // of an Estimate, the figure alone
	Range   string // the title of the interval of an Estimate; empty: 95 % interval
	Join    string // what stands between the elements of a list; empty: a comma
	Hide    bool   // there is nothing to show: the column is left out

	// Cell makes a cell of what is no member, or needs more than a column can say; see
	// By. Numbers then need their Align, and intervals Interval.
	Cell func(row reflect.Value) Cell
}

// Whole are the Digits of a figure that is a count, and of a share without digits
// after the point.
const Whole = -1

// Align is where the cells of a column stand. The zero value is Left.
type Align uint8

// The alignments.
const (
	Left Align = iota
	Right
)

// NewTable returns a table without rows.
func NewTable(id, title string, columns ...Column) *Table {
	return &Table{ID: id, Title: title, Columns: columns}
}

// Add appends a row. It panics if the number of cells is not that of columns.
func (t *Table) Add(cells ...Cell) {
	if len(cells) != len(t.Columns) {
		panic(fmt.Sprintf("report: table %s: a row of %d cells for %d columns", t.ID, len(cells), len(t.Columns)))
	}
	t.Rows = append(t.Rows, cells)
}

// Note appends a sentence below the table, made as by fmt.Sprintf.
func (t *Table) Note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

// Of returns the type of the structs that the rows were made of, nil if they are cells.
func (t *Table) Of() reflect.Type { return t.of }

// HasMoney reports whether some column is of money.
func (t *Table) HasMoney() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Unit == money && !c.Hide })
}

// money is the Unit of columns of money, and how sentences say it.
const money = "USD"

// all returns the indices of all columns.
func (t *Table) all() []int {
	out := make([]int, len(t.Columns))
	for j := range out {
		out[j] = j
	}
	return out
}

// Sort orders the rows by the column with a key, the largest first, with - before the key
// the smallest; missing cells come last, and rows that are equal stay in order. An empty
// key changes nothing. The error says which keys there are.
func (t *Table) Sort(key string) error {
	if key == "" {
		return nil
	}
	name, up := strings.CutPrefix(key, "-")
	column := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Key == name })
	if column < 0 {
		var keys []string
		for _, c := range t.Columns {
			keys = append(keys, c.Key)
		}
		return fmt.Errorf("the table %s has no column %q, but %s", t.ID, name, strings.Join(keys, ", "))
	}
	order := make([]int, len(t.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &t.Rows[a][column], &t.Rows[b][column]
		if x.isNull() || y.isNull() {
			return cmp.Compare(bit(x.isNull()), bit(y.isNull()))
		}
		if up {
			return x.compare(y)
		}
		return y.compare(x)
	})
	rows, data := make([][]Cell, len(order)), make([]any, len(t.data))
	for i, from := range order {
		rows[i] = t.Rows[from]
		if t.of != nil {
			data[i] = t.data[from]
		}
	}
	t.Rows, t.data = rows, data
	return nil
}

// Alone returns the table as the only one of a document, which every format has.
func (t *Table) Alone() *Table {
	one := *t
	one.hidden, one.view, one.Most = false, false, 0
	return &one
}

// Head leaves the table with its first n rows.
func (t *Table) Head(n int) {
	if n < len(t.Rows) {
		t.Rows = t.Rows[:n]
		t.data = t.data[:min(n, len(t.data))]
	}
}

func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (t *Table) empty() bool { return len(t.Rows) == 0 || len(t.Columns) == 0 }

func (c Column) heading() string {
	title := c.Title
	if title == "" {
		title = c.Key
	}
	if c.Unit == "" {
		return title
	}
	return title + " (" + c.Unit + ")"
}

func (c Column) max() int {
	if c.Max <= 0 {
		return 60
	}
	return c.Max
}

// footnotes numbers the reasons of missing cells by first appearance.
type footnotes struct {
	reasons []string
	numbers map[string]int
}

func (t *Table) footnotes() *footnotes {
	m := &footnotes{numbers: map[string]int{}}
	for _, row := range t.Rows {
		for _, c := range row {
			if c.kind != kindMissing {
				continue
			}
			if reason := c.missing(); m.numbers[reason] == 0 {
				m.reasons = append(m.reasons, reason)
				m.numbers[reason] = len(m.reasons)
			}
		}
	}
	return m
}

// number returns the superscript number that leads from a missing cell to its
// note, "" for other cells.
func (m *footnotes) number(c Cell) string {
	if c.kind != kindMissing {
		return ""
	}
	return superscript(m.numbers[c.missing()])
}

// notes returns the reasons with their numbers, but for those of columns that are not shown,
// then the table's own notes.
func (m *footnotes) notes(t *Table, columns []int) []string {
	shown := map[string]bool{}
	for _, row := range t.Rows {
		for _, j := range columns {
			if row[j].kind == kindMissing {
				shown[row[j].missing()] = true
			}
		}
	}
	var notes []string
	for i, reason := range m.reasons {
		if shown[reason] {
			notes = append(notes, superscript(i+1)+" "+reason)
		}
	}
	return append(notes, t.Notes...)
}

func superscript(n int) string {
	var out []rune
	for _, digit := range fmt.Sprint(n) {
		out = append(out, []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[digit-'0'])
	}
	return string(out)
}

// limited returns the table with as many rows as texts have, and what says how to see the
// others, "" if there are none.
func (t *Table) limited() (*Table, string) {
	more := len(t.Rows) - t.Most
	if t.Most == 0 || more <= 0 {
		return t, ""
	}
	short := *t
	short.Rows = t.Rows[:t.Most]
	return &short, fmt.Sprintf("%s more with --table %s.", Grouped(more), t.ID)
}

// Without returns the table without columns, which its JSON still has.
func (t *Table) Without(keys ...string) *Table {
	return t.only(func(c *Column) bool { return !slices.Contains(keys, c.Key) })
}

// only returns the table with some of its columns.
func (t *Table) only(is func(*Column) bool) *Table {
	short := *t
	short.Columns, short.Rows = nil, make([][]Cell, len(t.Rows))
	for j, c := range t.Columns {
		if !is(&c) {
			continue
		}
		short.Columns = append(short.Columns, c)
		for i, row := range t.Rows {
			short.Rows[i] = append(short.Rows[i], row[j])
		}
	}
	return &short
}

// row returns a row as JSON: its struct, or its cells by key in column order.
func (t *Table) row(i int) ([]byte, error) {
	if t.of != nil {
		return marshal(filled(t.data[i]))
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for j, c := range t.Rows[i] {
		if j > 0 {
			b.WriteByte(',')
		}
		key, err := marshal(t.Columns[j].Key)
		if err != nil {
			return nil, err
		}
		value, err := marshal(c.value())
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// writeJSONLines writes the rows of tables as described for Table.
func writeJSONLines(w io.Writer, tables []*Table) error {
	for _, t := range tables {
		first := ""
		if len(tables) > 1 {
			id, err := marshal(t.ID)
			if err != nil {
				return err
			}
			first = `"table":` + string(id) + ","
		}
		for i := range t.Rows {
			object, err := t.row(i)
			if err != nil {
				return err
			}
			if first != "" {
				object = append([]byte("{"+first), object[1:]...)
			}
			if _, err := w.Write(append(escapeJSON(object), '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}
