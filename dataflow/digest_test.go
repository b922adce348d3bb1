package dataflow

import (
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
)

// office returns the committed runs, read anew.
func office(t testing.TB) []*trace.Trajectory {
	t.Helper()
	const path = "../testdata/office/trajectories.jsonl.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skip("the office corpus is not there")
	}
	r, err := trace.Open([]string{path}, trace.Options{Workers: 1, Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var list []*trace.Trajectory
	for trajectory, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, trajectory)
	}
	return list
}

// TestDigest holds that what a digest gives back is what was collected, from memory and from
// its file, whether what repeats found a number or not.
func TestDigest(t *testing.T) {
	for name, change := range map[string]func(*Digest){
		"memory":  func(*Digest) {},
		"file":    func(d *Digest) { d.blocks.Room = 0 },
		"both":    func(d *Digest) { d.blocks.Room = 100 << 10 },
		"numbers": func(d *Digest) { d.names.Most, d.slots.Most = 3, 3 },
		"full":    func(d *Digest) { d.blocks.Most = 200 << 10 },
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDigest(t.TempDir())
			defer d.Close()
			change(d)
			var c Collector
			want := office(t)
			for _, trajectory := range want {
				trajectory.Recall()
				d.Add(d.Pack(trajectory, &c))
			}
			if !d.End() {
				t.Fatal("nothing was kept")
			}
			kept := 0
			for i, again := range office(t) {
				again.RecallFrom(d.Memory(i, again.ID))
				got, _ := again.Remembered(flowKey{}).(*Flow)
				if got == nil {
					if name != "full" {
						t.Fatalf("%s is not remembered", again.ID)
					}
					continue
				}
				kept++
				same(t, got, c.Collect(want[i]))
				for k := range again.Calls {
					args, result := again.Calls[k].Known()
					if a, b := want[i].Calls[k].Known(); !reflect.DeepEqual(args, a) || !reflect.DeepEqual(result, b) {
						t.Fatalf("%s: call %d: %v %v, want %v %v", again.ID, k, args, result, a, b)
					}
				}
			}
			if kept == 0 || kept == len(want) && name == "full" {
				t.Errorf("%d of %d were kept", kept, len(want))
			}
		})
	}
}

// same compares flows with all that they hold.
func same(t *testing.T, got, want *Flow) {
	t.Helper()
	got.weigh()
	if !slices.Equal(got.contents, want.contents) || !slices.Equal(got.words, want.words) {
		t.Fatalf("%s: other contents or words", got.ID)
	}
	for i := range want.turns {
		if !reflect.DeepEqual(got.Arguments(i), want.Arguments(i)) || !reflect.DeepEqual(got.Result(i), want.Result(i)) {
			t.Fatalf("%s: other values of call %d", got.ID, i)
		}
	}
	a, b := *got, *want
	a.packed, b.values = nil, nil
	for _, f := range []*Flow{&a, &b} { // that nothing is there is said in two ways
		f.Slots, f.Uses, f.turns, f.full, f.given, f.same = someOrNil(f.Slots), someOrNil(f.Uses), someOrNil(f.turns), someOrNil(f.full), someOrNil(f.given), someOrNil(f.same)
	}
	a.contents, a.words, b.contents, b.words = nil, nil, nil, nil
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%s: got %+v, want %+v", got.ID, a, b)
	}
}

func someOrNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// TestDigestOfOthers holds that a trajectory remembers nothing of another one.
func TestDigestOfOthers(t *testing.T) {
	d := NewDigest(t.TempDir())
	defer d.Close()
	var c Collector
	list := office(t)[:2]
	for _, trajectory := range list {
		d.Add(d.Pack(trajectory, &c))
	}
	d.End()
	for i, number := range []int{1, 0} {
		again := *list[i]
		again.RecallFrom(d.Memory(number, again.ID))
		if f := again.Remembered(flowKey{}); f != nil {
			t.Errorf("%s remembers %v", again.ID, f)
		}
	}
}

// FuzzDigest holds that bytes that no digest wrote are refused or give some flow, and never
// panic.
func FuzzDigest(f *testing.F) {
	d := NewDigest(f.TempDir())
	defer d.Close()
	var c Collector
	for _, trajectory := range office(f)[:4] {
		f.Add(d.Pack(trajectory, &c))
	}
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, block []byte) {
		b := d.open(block)
		if b == nil {
			return
		}
		for i := range b.values {
			b.known(i)
			b.ofFlow(i)
		}
		if flow := b.flow(); flow != nil {
			flow.weigh()
		}
	})
}
