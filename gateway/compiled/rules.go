package compiled

import "github.com/awo-dev/awo/prefetch/stored"

// readAhead reads the rules of a file, nil if it has none. A rule promises the lower end
// of what its traces show, and not less than the threshold that it was chosen by.
func readAhead(file string, src []byte) (*Ahead, error) {
	f, err := stored.Decode(file, src)
	if err != nil {
		return nil, err
	}
	if len(f.Set.Rules) == 0 {
		return nil, nil
	}
	a := &Ahead{Set: &f.Set, Promised: make([]float64, len(f.Set.Rules))}
	for i := range a.Promised {
		a.Promised[i] = f.Threshold
		if i < len(f.Evidence) && f.Evidence[i].Interval.Known() {
			a.Promised[i] = max(f.Threshold, f.Evidence[i].Interval.Lo)
		}
	}
	return a, nil
}
