package predict

import "github.com/awo-dev/awo/trace"

// Avoided replays one trajectory: by call, as in Trajectory.Calls, whether the
// predictor would have made it without asking the language model, with the same
// arguments, at and above a score of theta and behind a gate. wrong is how many
// calls it would have made that were not. A call is avoided together with its turn,
// of which it is the only one. Where the trajectory records which tools it offers,
// no others are predicted.
//
// The model must not have seen the trajectory, or any other of its task.
func (p *Predictor) Avoided(h *History, theta float64, gate Gate) (avoided []bool, wrong int) {
	avoided = make([]bool, len(h.t.Calls))
	asked := *p
	asked.p = make([]float64, len(p.p))
	asked.ranked = nil
	if offered := Offered(h.t); offered != nil {
		asked.options.Available = offered
	}
	var past Past
	decisions := h.Decisions()
	for i := range decisions {
		d := &decisions[i]
		failed := d.Status == trace.StatusFailed
		if d.State != StateInside && gate.AllowsAfter(&past) {
			if f, ok := asked.Fire(h, d); ok && f.Score >= theta {
				right := h.Right(d, f.Name, &f.Call)
				past.Add(Event{Inertial: true, Failed: right && failed})
				if right {
					avoided[h.calls[d.Call]] = true
					continue
				}
				wrong++
			}
		}
		if !d.None() {
			past.Add(Event{Failed: failed})
		}
	}
	return avoided, wrong
}
