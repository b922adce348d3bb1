package stat

import (
	"encoding/json"
	"math"
)

// Estimate is a figure with the interval that it is given with. In JSON it is
// {"value","lo","hi","n"}, or null where there is no figure; lo and hi are null where there is
// no interval or where it has no bound. Intervals of estimates are of 95 %.
type Estimate struct {
	Figure
	Interval Interval
}

// NoEstimate returns an estimate that there is not, and why.
func NoEstimate(reason string) Estimate { return Estimate{Unknown(reason), NoInterval(reason)} }

// ShareOf returns count of n as an estimate: null for a reason where n is 0.
func ShareOf(count, n int, reason string) Estimate {
	if n == 0 {
		return NoEstimate(reason)
	}
	return Estimate{Known(float64(count) / float64(n)), Share(count, n).Interval}
}

// MarshalJSON writes {"value","lo","hi","n"} or null.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if !e.Known() {
		return []byte("null"), nil
	}
	bound := func(v float64) *float64 {
		if !e.Interval.Known() || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return json.Marshal(struct {
		Value float64  `json:"value"`
		Lo    *float64 `json:"lo"`
		Hi    *float64 `json:"hi"`
		N     int      `json:"n"`
	}{e.value, bound(e.Interval.Lo), bound(e.Interval.Hi), e.Interval.N})
}
