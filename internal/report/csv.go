package report

import (
	"encoding/csv"
	"io"
)

// writeCSV writes tables as described for Table.
func writeCSV(w io.Writer, tables []*Table) error {
	for i, t := range tables {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := t.writeCSV(w, len(tables) > 1); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) writeCSV(w io.Writer, named bool) error {
	out := csv.NewWriter(w)
	var record []string
	if named {
		record = append(record, "table")
	}
	for _, c := range t.Columns {
		if c.Interval {
			record = append(record, c.Key+"_lo", c.Key+"_hi")
		} else {
			record = append(record, c.Key)
		}
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for _, row := range t.Rows {
		record = record[:0]
		if named {
			record = append(record, t.ID)
		}
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
