package replay_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/predict/replay"
	"github.com/awo-dev/awo/trace"
)

// runs are n runs that look up every order of a customer, with ids of its own.
func runs(n int) []*predict.Run {
	var observer predict.Observer
	var list []*predict.Run
	for i := range n {
		user, x, y := fmt.Sprintf("user_%d", i), fmt.Sprintf("W%03dA", i), fmt.Sprintf("W%03dB", i)
		run := (&scripted.Run{T: trace.Trajectory{Task: fmt.Sprint(i)}}).User("I am " + user)
		run.Call("get_user", fmt.Sprintf(`{"user_id":%q}`, user), fmt.Sprintf(`{"orders":[{"id":%q},{"id":%q}]}`, x, y))
		run.Call("get_order", fmt.Sprintf(`{"id":%q}`, x), `{"state":"open"}`)
		run.Call("get_order", fmt.Sprintf(`{"id":%q}`, y), `{"state":"open"}`)
		run.T.Turns = append(run.T.Turns, trace.Turn{FirstCall: 3})
		list = append(list, predict.NewRun(&run.T, observer.Observe(&run.T, nil)))
	}
	return list
}

// What a trajectory avoids adds up to what a replay of all of them counts.
func TestAvoidedIsReplay(t *testing.T) {
	train, test := runs(40), runs(60)[40:]
	options := replay.Options{Predictor: predict.PredictorOptions{Any: true, AfterUser: true}}
	g := predict.NewGraph(3)
	for _, r := range train {
		g.Add(r.Observation)
	}
	m := g.Model(predict.ModelOptions{})
	options.Ready = m
	total := 0
	for _, gate := range []predict.Gate{{}, {Open: true}, {Preset: true}} {
		for _, theta := range []float64{0, 0.3, 0.5, 0.7} {
			want := replay.Fire(replay.Replay(nil, test, options)[replay.PredictorDefault], theta, gate)
			right, wrong := 0, 0
			for _, r := range test {
				avoided, w := predict.NewPredictor(m, options.Predictor).Avoided(r.History, theta, gate)
				for call, a := range avoided {
					if a {
						right++
						if turn := r.History.Trajectory().Calls[call].Turn; r.History.Trajectory().Turns[turn].NumCalls != 1 {
							t.Errorf("a call of a turn with %d calls is avoided", r.History.Trajectory().Turns[turn].NumCalls)
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

// A calibration on held-out parts says what happens: in these runs every order is
// looked up, so the calls are nearly certain.
func TestReplayOfAHabit(t *testing.T) {
	all := runs(40)
	replayed := replay.Replay(all[:30], all[30:], replay.Options{Predictor: predict.PredictorOptions{Any: true}})
	if got := slices.Sorted(maps.Keys(replayed)); !slices.Equal(got, slices.Sorted(slices.Values(replay.Predictors()))) {
		t.Fatalf("replayed %v", got)
	}
	f := replay.Fire(replayed[replay.PredictorDefault], predict.Threshold(1), predict.Gate{Open: true})
	if f.Turns != 40 || f.Right != 20 || f.Fired != 20 {
		t.Errorf("of 40 turns %+v", f)
	}
	gated := replay.Fire(replayed[replay.PredictorDefault], predict.Threshold(1), predict.Gate{})
	if gated.Fired != 0 {
		t.Errorf("in runs of three calls one is more than 30 %%: %+v", gated)
	}
}

// After two failures in a row AutoTool and the 3-gram make the configured call, whatever their scores say.
func TestRecovery(t *testing.T) {
	list := runs(8)
	run := (&scripted.Run{T: trace.Trajectory{Task: "lost"}}).User("I am user_9")
	for range 2 {
		run.Call("get_order", `{"id":"x"}`, `"no such order"`)
	}
	run.Call("get_user", `{"user_id":"user_9"}`, `{}`)
	for i := range 2 {
		run.T.Calls[i].Status = trace.StatusFailed
	}
	var observer predict.Observer
	test := []*predict.Run{predict.NewRun(&run.T, observer.Observe(&run.T, nil))}
	for _, recovery := range []trace.Name{{}, trace.Intern("get_user")} {
		out := replay.Replay(list, test, replay.Options{Order: 3, Recovery: recovery})
		for name, want := range map[string]bool{replay.PredictorPreset: true, replay.PredictorTrigram: true, replay.PredictorDefault: false} {
			v := out[name][0].Verdicts[2]
			if want = want && recovery != (trace.Name{}); v.Forced != want || want && (!v.Fires || !v.Right) {
				t.Errorf("%s, recovery %v: %+v", name, recovery, v)
			}
		}
	}
}
