package process

import "math"

// durationError is how far a quantile of Durations can be off, relative to the
// duration that it should be.
const durationError = 0.01

// Durations counts durations in buckets whose bounds grow geometrically, so that a
// quantile is off by at most 1 % of itself, whatever was counted and in whatever
// order (DDSketch: Masson, Rim and Lee, VLDB 2019). It takes O(log of the range),
// about 1,400 buckets from a microsecond to a month. The zero value is empty.
type Durations struct {
	n       int
	total   float64
	zero    int // of less than a microsecond
	buckets map[int16]int
}

var durationGrowth = (1 + durationError) / (1 - durationError)

// Add counts a duration in seconds; less than nothing is not counted.
func (d *Durations) Add(seconds float64) {
	if !(seconds >= 0) || seconds > 1e9 {
		return
	}
	d.n++
	d.total += seconds
	if seconds < 1e-6 {
		d.zero++
		return
	}
	if d.buckets == nil {
		d.buckets = map[int16]int{}
	}
	d.buckets[int16(math.Ceil(math.Log(seconds)/math.Log(durationGrowth)))]++
}

// N is how many durations were counted.
func (d *Durations) N() int { return d.n }

// Quantile returns the duration in seconds that a share q of all does not exceed,
// and whether there are any.
func (d *Durations) Quantile(q float64) (seconds float64, known bool) {
	if d.n == 0 {
		return 0, false
	}
	rank := int(math.Ceil(q*float64(d.n))) - d.zero
	if rank <= 0 {
		return 0, true
	}
	least, most := int16(math.MaxInt16), int16(math.MinInt16)
	for b := range d.buckets {
		least, most = min(least, b), max(most, b)
	}
	for b := int(least); b <= int(most); b++ {
		if rank -= d.buckets[int16(b)]; rank <= 0 {
			return 2 * math.Pow(durationGrowth, float64(b)) / (durationGrowth + 1), true
		}
	}
	return 0, false // not reached: the buckets hold all that are not zero
}
