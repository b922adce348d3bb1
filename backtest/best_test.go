package backtest

import "testing"

// TestBestOutcome has one technique that saves turns and costs money, one the other
// way round, and some that are none to recommend.
func TestBestOutcome(t *testing.T) {
	turns := Outcome{Name: "patterns", CallingTurnsSaved: 50, USD: 10, USDSaved: -3, TokensSaved: -900}
	money := Outcome{Name: "preload", USD: 10, USDSaved: 1, TokensSaved: 100}
	wrong := Outcome{Name: "inertia", CallingTurnsSaved: 60, Wrong: 20, USD: 10, USDSaved: 0.5, TokensSaved: 300}
	counted := Outcome{Name: "awo-paper", CallingTurnsSaved: 90, USD: 10, USDSaved: 9, TokensSaved: 900}
	together := Outcome{Name: "all", CallingTurnsSaved: 80, USD: 10, USDSaved: 5, TokensSaved: 800}
	unpriced := func(o Outcome) Outcome {
		o.USD, o.USDSaved = 0, 0
		return o
	}
	none := Outcome{Name: "none", USD: 10}
	for name, tc := range map[string]struct {
		by   Selection
		list []Outcome
		want string
	}{
		"turns":                 {"", []Outcome{none, counted, turns, money, wrong, together}, "patterns"},
		"net":                   {SelectNet, []Outcome{none, counted, turns, money, wrong, together}, "preload"},
		"net without a price":   {SelectNet, []Outcome{none, unpriced(turns), unpriced(money), unpriced(wrong)}, "inertia"},
		"net, nothing pays":     {SelectNet, []Outcome{none, turns}, "patterns"},
		"no turn, money":        {"", []Outcome{none, money}, "preload"},
		"wrong calls taken off": {"", []Outcome{none, wrong, {Name: "awo", CallingTurnsSaved: 41, USD: 10}}, "awo"},
		"nothing":               {"", []Outcome{none, counted, together}, ""},
	} {
		got := ""
		if best := (&Result{Techniques: tc.list}).Best(tc.by); best != nil {
			got = best.Name
		}
		if got != tc.want {
			t.Errorf("%s: %q is best, want %q", name, got, tc.want)
		}
	}
	if turns.Pays() || !money.Pays() || none.Pays() {
		t.Error("what costs more than it saves pays")
	}
}
