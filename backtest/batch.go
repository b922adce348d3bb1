package backtest

import (
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/metatool/replay"
)

// batch learns nothing: it is a model that makes parallel calls. What it saves needs no
// compiler. It counts what the finding sequential-reads counts.
var batch = Technique{
	Name: "batch", Doc: "independent reads in a row, made in parallel in one turn; nothing is compiled",
	Train: func(*Part) Trained { return &batches{} },
}

type batches struct{ collector dataflow.Collector }

// Find removes the turns of all reads of a batch but the first.
func (b *batches) Find(c *Case) *Finding {
	f := &Finding{Removed: replay.Independent(c.Trajectory, c.Marks, c.Flow, &b.collector)}
	f.Used = len(f.Removed) > 0
	return f
}

// Saving returns what the removed turns save; there is no definition to pay.
func (*batches) Saving(c *Case, f *Finding) cost.Totals {
	if c.Account == nil {
		return cost.Totals{}
	}
	return c.Account.Saving(f.Removed, 0)
}

// Summary says what it rests on.
func (*batches) Summary() Learnt {
	return Learnt{Notes: []string{"a bound: the model must see that calls do not need each other's results; where it makes parallel calls already, those are recorded"}}
}
