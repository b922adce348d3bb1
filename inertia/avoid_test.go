package inertia

import "testing"

// What a trajectory avoids adds up to what a replay of all of them counts.
func TestAvoidedIsReplay(t *testing.T) {
	train, test := trained(40), trained(60)[40:]
	options := ReplayOptions{Predictor: PredictorOptions{Any: true, AfterUser: true}, Part: func(task string) int { return len(task) % calibrationParts }, Only: []string{PredictorDefault}}
	m := modelOf(train)
	options.Ready = m
	total := 0
	for _, gate := range []Gate{{}, {Open: true}, {Preset: true}} {
		for _, theta := range []float64{0, 0.3, 0.5, 0.7} {
			want := Fire(Replay(nil, test, options)[PredictorDefault], theta, gate)
			right, wrong := 0, 0
			for _, r := range test {
				avoided, w := NewPredictor(m, options.Predictor).Avoided(r.History, theta, gate)
				for call, a := range avoided {
					if a {
						right++
						if turn := r.History.t.Calls[call].Turn; r.History.t.Turns[turn].NumCalls != 1 {
							t.Errorf("a call of a turn with %d calls is avoided", r.History.t.Turns[turn].NumCalls)
						}
					}
				}
				wrong += w
			}
			if right != want.Right || wrong != want.Fired-want.Right {
				t.Errorf("gate %+v, theta %v: %d right and %d wrong, a replay has %d and %d", gate, theta, right, wrong, want.Right, want.Fired-want.Right)
			}
			total += right
		}
	}
	if total == 0 {
		t.Error("nothing is avoided at all")
	}
}
