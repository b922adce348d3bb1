package report

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/stat"
)

// TableOf returns a table of structs. A column shows the member of a row that it
// names as JSON does, so that a result is described once: its tags say what it is
// called, its type how it is written and on which side it stands, and the column what
// else a reader needs. It panics if a row has no such member.
//
// Integers are counts, floats and Figures have the digits of their column, an
// Interval its bounds, and an Estimate is two columns: the figure and its interval. Without
// columns every member that fits into a cell has one. A string is a Name unless the column has Words, a list is one
// text with Join between its elements, anything with a method String is its text. A
// nil pointer is an empty cell.
func TableOf[T any](id, title string, rows []T, columns []Column) *Table {
	data := make([]any, len(rows))
	for i := range rows {
		data[i] = &rows[i]
	}
	return tableOf(id, title, reflect.TypeFor[T](), data, columns)
}

// tableOf is TableOf of pointers to structs of a type.
func tableOf(id, title string, of reflect.Type, rows []any, columns []Column) *Table {
	t := &Table{ID: id, Title: title, of: of, data: rows}
	if columns == nil {
		columns = columnsOf(of)
	}
	var paths [][]string
	for _, c := range columns {
		if c.Hide {
			continue
		}
		path := strings.Split(cmp.Or(c.From, c.Key), ".")
		n := 1
		if c.Cell == nil {
			member := memberType(of, path, id)
			if c.describe(member); member == estimateType && !c.Interval && !c.NoRange {
				n = 2
			}
		}
		for range n {
			t.Columns, paths = append(t.Columns, c), append(paths, path)
			c.Title, c.Interval = cmp.Or(c.Range, "95 % interval"), true
		}
	}
	for _, at := range rows {
		row := reflect.ValueOf(at).Elem()
		cells := make([]Cell, len(t.Columns))
		for j := range t.Columns {
			if c := &t.Columns[j]; c.Cell != nil {
				cells[j] = c.Cell(row)
			} else {
				cells[j] = c.cell(memberOf(row, paths[j]))
			}
		}
		t.Add(cells...)
	}
	return t
}

// By makes the Cell of a column from a function of a row: T is the type of the rows,
// without pointers.
func By[T any](cell func(row *T) Cell) func(reflect.Value) Cell {
	return func(v reflect.Value) Cell {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		return cell(v.Addr().Interface().(*T))
	}
}

// columnsOf returns a column for each member of a struct that fits into a cell.
func columnsOf(t reflect.Type) (columns []Column) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || tag == "-" || tag == "" && f.Anonymous {
			continue
		}
		of := f.Type
		for of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		switch of {
		case figureType, intervalType, estimateType:
		default:
			if kind := of.Kind(); of.Implements(stringer) || kind == reflect.Bool || kind >= reflect.Int && kind <= reflect.Float64 || kind == reflect.String ||
				kind == reflect.Slice && of.Elem().Kind() == reflect.String {
				break
			}
			continue
		}
		columns = append(columns, Column{Key: cmp.Or(tag, f.Name)})
	}
	return columns
}

// Hidden returns t, which no text has.
func (t *Table) Hidden() *Table {
	t.hidden = true
	return t
}

// View returns t, which JSON does not have: its rows stand in another table, or are made of
// those of others. A table of the same ID goes before it.
func (t *Table) View() *Table {
	t.view = true
	return t
}

// IfAny returns t, which texts then leave out if it has no rows.
func (t *Table) IfAny() *Table {
	if t != nil {
		t.ifAny = true
	}
	return t
}

// NoteIf is Note where it applies.
func (t *Table) NoteIf(applies bool, format string, args ...any) {
	if applies {
		t.Note(format, args...)
	}
}

// describe completes a column by the type of what it shows.
func (c *Column) describe(t reflect.Type) {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float64:
		if !t.Implements(stringer) {
			c.Align = Right
		}
	}
	switch t {
	case figureType, estimateType:
		c.Align = Right
	case intervalType:
		c.Interval = true
	}
}

// cell writes what a column shows; an invalid value is nothing.
func (c *Column) cell(v reflect.Value) Cell {
	if !v.IsValid() {
		return Text(c.Empty)
	}
	share, digits := c.Share || c.Unit == "%", c.Digits
	if share && digits == 0 {
		digits = 1
	}
	whole := digits == Whole
	digits = max(digits, 0)
	value := v.Interface()
	if e, ok := value.(stat.Estimate); ok {
		if value = e.Figure; c.Interval {
			value = e.Interval
		}
	}
	switch x := value.(type) {
	case stat.Figure:
		switch {
		case share:
			return ShareOf(x, digits)
		case whole:
			return IntOf(x)
		}
		return FloatOf(x, digits)
	case stat.Interval:
		if share {
			return ShareRange(x, digits)
		}
		return Range(x, digits)
	case fmt.Stringer:
		return c.text(x.String())
	}
	switch {
	case v.Kind() == reflect.Bool:
		return Bool(v.Bool())
	case v.CanInt():
		return Int64(v.Int())
	case v.CanUint():
		return Int64(int64(v.Uint()))
	case v.CanFloat() && share:
		return Share(v.Float(), digits)
	case v.CanFloat():
		return Float(v.Float(), digits)
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = fmt.Sprint(v.Index(i))
		}
		return c.text(strings.Join(parts, cmp.Or(c.Join, ", ")))
	}
	return c.text(v.String())
}

func (c *Column) text(s string) Cell {
	switch {
	case s == "":
		return Text(c.Empty)
	case c.Words:
		return Text(s)
	}
	return Name(s)
}

var stringer = reflect.TypeFor[fmt.Stringer]()

// memberType returns the type of the member of t at a path of JSON names.
func memberType(t reflect.Type, path []string, table string) reflect.Type {
	whole := t
	for _, name := range path {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Map, reflect.Slice, reflect.Array:
			t = t.Elem()
			continue
		case reflect.Struct:
			if f, ok := field(t, name); ok {
				t = f.Type
				continue
			}
		}
		panic(fmt.Sprintf("report: table %s: %s has no member %s", table, whole, strings.Join(path, ".")))
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// memberOf returns the member of v at a path, an invalid value if there is none.
func memberOf(v reflect.Value, path []string) reflect.Value {
	for _, name := range path {
		for v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Struct:
			f, _ := field(v.Type(), name)
			next, err := v.FieldByIndexErr(f.Index)
			if err != nil {
				return reflect.Value{} // in a nil pointer
			}
			v = next
		case reflect.Map:
			v = v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
		case reflect.Slice, reflect.Array:
			i, err := strconv.Atoi(name)
			if err != nil || i >= v.Len() {
				return reflect.Value{}
			}
			v = v.Index(i)
		default:
			return reflect.Value{}
		}
	}
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}

// field returns the field of a struct that JSON calls name, also one that is
// promoted from an embedded struct.
func field(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && tag != "-" && cmp.Or(tag, f.Name) == name && (tag != "" || !f.Anonymous) {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
