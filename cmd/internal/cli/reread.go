package cli

import (
	"iter"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/copies"
)

// Reread says that what Source yields next was counted already, and is for somebody who
// leaves no calls out and looks for no findings. What was kept of what an exclusion left is of no use
// then.
func (in *Intake) Reread() {
	in.isRead, in.Findings = true, nil
	if in.Exclude != nil {
		in.Exclude, in.Notes = nil, nil
		in.forget()
	}
}

// Source yields the trajectories that pass, over and over: the first time as All
// does, later without counting anything or telling of a problem again. Findings that
// were set since look at what the next reading yields.
func (in *Intake) Source() iter.Seq2[*trace.Trajectory, error] {
	if !in.isRead {
		in.isRead = true
		return in.All()
	}
	again := in.again()
	if in.Findings == nil || in.Findings.hasLooked {
		return again
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		in.Findings.begin()
		for t, err := range in.Findings.look(in.j.Parallel(), again) {
			if !yield(t, err) || err != nil {
				return
			}
			in.Findings.add(t)
		}
	}
}

// again yields the trajectories that pass, which were read before.
func (in *Intake) again() iter.Seq2[*trace.Trajectory, error] {
	if in.copies != nil {
		return in.counted(in.copied())
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		number := 0
		for t, err := range filter.Apply(in.read(in.j.trajectoriesAgain(in.Reader)), in.filter, &filter.Counts{}) {
			if err == nil && in.leaves(t) {
				continue
			}
			if t != nil && in.Recalls {
				in.recall(t, number)
				number++
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// keeping keeps what it passes on, before anybody changes it: what is worked out of it now
// is known later.
func (in *Intake) keeping(from iter.Seq2[*trace.Trajectory, error]) iter.Seq2[*trace.Trajectory, error] {
	if in.Recalls {
		return in.collecting(from)
	}
	return from
}

// recall lets a trajectory remember what is worked out of it, and know what an earlier reading
// worked out of the one with its number.
func (in *Intake) recall(t *trace.Trajectory, number int) {
	if t.Recall(); in.flows != nil {
		t.RecallFrom(in.flows.Memory(number, t.ID))
	}
	if in.Notes != nil {
		t.NoteIn(in.Notes, number)
	}
}

// collecting collects the flows of what it passes on, and keeps them and copies of it for
// later readings.
func (in *Intake) collecting(from iter.Seq2[*trace.Trajectory, error]) iter.Seq2[*trace.Trajectory, error] {
	type item struct {
		t          *trace.Trajectory
		err        error
		copy, flow []byte
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		in.forget()
		all, flows := copies.New(""), dataflow.NewDigest("")
		whole, number := false, 0
		defer func() {
			if in.copies = all; !whole || !all.End() {
				in.copies = nil
				_ = all.Close() // nothing of it was to be read
			}
			if in.flows = flows; !whole || !flows.End() {
				in.flows = nil
				_ = flows.Close()
			}
		}()
		items := func(yield func(item) bool) {
			for t, err := range from {
				if !yield(item{t: t, err: err}) {
					return
				}
			}
		}
		for x := range par.Map(in.j.Parallel(), items, func(x item) item {
			if x.err == nil {
				x.copy = all.Pack(x.t)
				x.t.Recall()
				x.flow = flows.Pack(x.t, &in.collector)
			}
			return x
		}) {
			if x.err == nil {
				if in.Notes != nil {
					x.t.NoteIn(in.Notes, number)
				}
				number++
				all.Add(x.copy)
				flows.Add(x.flow)
			}
			if !yield(x.t, x.err) {
				return
			}
		}
		whole = true
	}
}

// forget gives up what was kept of an earlier reading.
func (in *Intake) forget() {
	if in.copies != nil {
		_ = in.copies.Close() // nothing of it is to be read
	}
	if in.flows != nil {
		_ = in.flows.Close()
	}
	in.copies, in.flows = nil, nil
}

// copied yields copies of what the first reading did, each with the memory of its flow.
func (in *Intake) copied() iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		for i := range in.copies.Len() {
			err := in.j.Context.Err()
			var t *trace.Trajectory
			if err == nil {
				t, err = in.copies.At(i)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			t.Reached = &in.j.Bounds
			in.recall(t, i)
			if !yield(t, nil) {
				return
			}
		}
	}
}

// counted yields what from does, and moves the bar: what comes from memory reads no bytes
// that would.
func (in *Intake) counted(from iter.Seq2[*trace.Trajectory, error]) iter.Seq2[*trace.Trajectory, error] {
	if in.j.Progress.isStepping() {
		return from
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		done, of := 0, in.Tally.Trajectories
		defer in.j.Progress.Step("", 0, 0)
		for t, err := range from {
			if done++; done%32 == 1 {
				in.j.Progress.Step("working", done, of)
			}
			if !yield(t, err) {
				return
			}
		}
	}
}
