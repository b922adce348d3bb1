package report

import (
	"encoding/csv"
	"io"
	"reflect"
)

// writeCSV writes the first table as described for Table, or one of the figures, in one row,
// if there is none.
func (d *Document) writeCSV(w io.Writer) error {
	if tables := d.Tables(); len(tables) > 0 {
		return tables[0].writeCSV(w)
	}
	if d.Figures == nil {
		return nil
	}
	of := reflect.TypeOf(d.Figures)
	row := reflect.New(of)
	row.Elem().Set(reflect.ValueOf(d.Figures))
	return tableOf("figures", "", of, []any{row.Interface()}, nil).writeCSV(w)
}

// Header returns the names of the columns in CSV.
func (t *Table) Header() (names []string) {
	for _, c := range t.Columns {
		if c.Interval {
			names = append(names, c.Key+"_lo", c.Key+"_hi")
		} else {
			names = append(names, c.Key)
		}
	}
	return names
}

func (t *Table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	record := t.Header()
	if err := out.Write(record); err != nil {
		return err
	}
	for _, row := range t.Rows {
		record = record[:0]
		for j, c := range row {
			switch {
			case !t.Columns[j].Interval:
				record = append(record, c.raw())
			case c.kind == kindInterval:
				record = append(record, rawFloat(c.interval.Lo), rawFloat(c.interval.Hi))
			default:
				record = append(record, "", "")
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
