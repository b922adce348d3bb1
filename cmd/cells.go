package cmd

import (
	"fmt"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/report"
)

// toolsShown is how many tools the text lists.
const toolsShown = 20

// grouped writes a number with its digits in groups.
func grouped(n int64) string { return report.Grouped(int(n)) }

// dollars writes an amount with as many digits as say something.
func dollars(v float64) string {
	if v != 0 && v < 0.1 && v > -0.1 {
		return fmt.Sprintf("%.5f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// intervalCell is a cell with an interval of a share, or why there is none.
func intervalCell(i report.Interval) report.Cell {
	if i.Reason != "" {
		return report.Missing(i.Reason)
	}
	return report.ShareRange(i, 1)
}

// rangeCell is a cell with an interval of a figure; reason says why there is none.
func rangeCell(i *entropy.Interval, digits int, reason string) report.Cell {
	if i == nil {
		return report.Missing(reason)
	}
	return report.Range(report.Interval{Lo: i.Lo, Hi: i.Hi, Level: i.Level, Method: i.Method}, digits)
}

// shareRangeCell is a cell with an interval of a share.
func shareRangeCell(i *entropy.Interval) report.Cell {
	return report.ShareRange(report.Interval{Lo: i.Lo, Hi: i.Hi, Level: i.Level, Method: i.Method}, 1)
}

// wilson returns the 95 % interval of a rate.
func wilson(count, n int) *entropy.Interval {
	i := dataflow.Wilson(count, n)
	return &entropy.Interval{Lo: i.Lo, Hi: i.Hi, Level: 0.95, Method: "Wilson"}
}
