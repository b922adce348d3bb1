package backtest

// Best returns the technique to recommend: of those that are replayed the one that
// saves most calling turns, wrong calls taken off; if none does, the one that saves
// most money, or tokens. Combinations are none to recommend. nil if none saves
// anything.
func (r *Result) Best() *Outcome {
	var best *Outcome
	for i := range r.Techniques {
		o := &r.Techniques[i]
		if o.Name == awoPaper.Name || o.Name == all.Name || o.CallingTurnsSaved-o.Wrong <= 0 {
			continue
		}
		if best == nil || o.CallingTurnsSaved-o.Wrong > best.CallingTurnsSaved-best.Wrong {
			best = o
		}
	}
	if best != nil {
		return best
	}
	for i := range r.Techniques {
		o := &r.Techniques[i]
		if o.Name == awoPaper.Name || o.Name == all.Name || o.USDSaved <= 0 && (o.USD > 0 || o.TokensSaved <= 0) {
			continue
		}
		if best == nil || o.USDSaved > best.USDSaved || o.USDSaved == best.USDSaved && o.TokensSaved > best.TokensSaved {
			best = o
		}
	}
	return best
}
