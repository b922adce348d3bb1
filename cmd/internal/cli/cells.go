package cli

import (
	"fmt"
	"math"
	"strconv"

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

// Amounts writes amounts of US dollars that are read beside each other with as many digits
// as the first of them needs: at least two behind the point, at most five.
func Amounts(first float64, others ...float64) []string {
	digits := 2
	for v := math.Abs(first); v > 0 && v < 0.1 && digits < 5; v *= 10 {
		digits++
	}
	out := []string{strconv.FormatFloat(first, 'f', digits, 64)}
	for _, v := range others {
		out = append(out, strconv.FormatFloat(v, 'f', digits, 64))
	}
	return out
}

// Wilson returns the 95 % interval of a rate, by the method of that name.
func Wilson(count, n int) stat.Interval { return stat.Share(count, n).Interval }

// Map returns what f makes of each element of a list.
func Map[T, U any](list []T, f func(*T) U) []U {
	out := make([]U, len(list))
	for i := range list {
		out[i] = f(&list[i])
	}
	return out
}
