package cli

import (
	"fmt"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// ToolsShown is how many tools a table of them lists in text.
const ToolsShown = 20

// Grouped writes a number with its digits in groups of three.
func Grouped(n int64) string { return report.Grouped(int(n)) }

// Dollars writes an amount of US dollars with as many digits as say something.
func Dollars(v float64) string {
	if v != 0 && v < 0.1 && v > -0.1 {
		return fmt.Sprintf("%.5f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// RangeCell is a cell with an interval of a figure; reason says why there is none.
func RangeCell(i *entropy.Interval, digits int, reason string) report.Cell {
	if i == nil {
		return report.Missing(reason)
	}
	return report.Range(stat.Interval{Lo: i.Lo, Hi: i.Hi, Level: i.Level, Method: i.Method}, digits)
}

// ShareRangeCell is a cell with an interval of a share.
func ShareRangeCell(i *entropy.Interval) report.Cell {
	return report.ShareRange(stat.Interval{Lo: i.Lo, Hi: i.Hi, Level: i.Level, Method: i.Method}, 1)
}

// Wilson returns the 95 % interval of a rate, by the method of that name.
func Wilson(count, n int) *entropy.Interval {
	i := dataflow.Wilson(count, n)
	return &entropy.Interval{Lo: i.Lo, Hi: i.Hi, Level: 0.95, Method: "Wilson"}
}

// Map returns what f makes of each element of a list.
func Map[T, U any](list []T, f func(*T) U) []U {
	out := make([]U, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}
