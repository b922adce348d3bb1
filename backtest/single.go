package backtest

import "slices"

// Batch returns what parallel calls alone would save, nil if that was not measured.
func (r *Result) Batch() *Outcome {
	i := slices.IndexFunc(r.Techniques, func(o Outcome) bool { return o.Name == batch.Name })
	if i < 0 {
		return nil
	}
	return &r.Techniques[i]
}

// Best returns the technique to recommend, nil if none saves anything: with
// SelectNet the one that saves most money, or tokens where nothing has a price, and
// else the one that saves most calling turns, wrong calls taken off. Each stands in
// for the other where it finds none. What is not replayed, combinations and
// programs are none to recommend.
func (r *Result) Best(by Selection) *Outcome {
	var turns, worth *Outcome
	for i := range r.Techniques {
		o := &r.Techniques[i]
		if o.Name == awoPaper.Name || o.Name == all.Name || o.Programs != nil {
			continue
		}
		if saved := o.CallingTurnsSaved - o.Wrong; saved > 0 && (turns == nil || saved > turns.CallingTurnsSaved-turns.Wrong) {
			turns = o
		}
		if o.Pays() && (worth == nil || o.Cheaper(worth)) {
			worth = o
		}
	}
	if turns == nil || by == SelectNet && worth != nil {
		return worth
	}
	return turns
}

// Pays reports whether money is saved, or tokens where nothing has a price.
func (o *Outcome) Pays() bool { return o.Cheaper(&Outcome{USD: o.USD}) }

// Cheaper reports whether more money is saved than by another outcome on the same
// traces, or more tokens where nothing has a price or it is the same.
func (o *Outcome) Cheaper(than *Outcome) bool {
	if o.USD > 0 && o.USDSaved != than.USDSaved {
		return o.USDSaved > than.USDSaved
	}
	return o.TokensSaved > than.TokensSaved
}
