package replay_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/replay"
)

// TestTogetherAsAlone looks for meta-tools together and each one alone: the places, the
// moments, what is spent there and the chains that were begun are the same, though all of
// them share what is read of a trajectory, the memory of runs and what was known when.
func TestTogetherAsAlone(t *testing.T) {
	list, _ := officeRuns(t, 40)
	tools := writtenAndRead(t, compiled(t, list, nil, compile.Options{Algorithm: compile.Patterns}))
	if len(tools) < 10 {
		t.Fatalf("%d meta-tools", len(tools))
	}
	together := replay.NewFinder(tools)
	var alone []*replay.Finder
	for _, tool := range tools {
		alone = append(alone, replay.NewFinder([]*metatool.Tool{tool}))
	}
	places, followed, vain, begun := 0, 0, 0, 0
	for _, one := range list {
		uses := together.Use(one, nil, nil)
		for n, finder := range alone {
			want := finder.Use(one, nil, nil)
			ofPlaces := slices.DeleteFunc(slices.Clone(uses.Places), func(p replay.Place) bool { return p.Tool != n })
			for i := range ofPlaces {
				ofPlaces[i].Tool = 0
			}
			if len(ofPlaces)+len(want.Places) > 0 && !reflect.DeepEqual(ofPlaces, want.Places) {
				t.Fatalf("%s: %s: places %+v, alone %+v", one.ID, tools[n].Name, ofPlaces, want.Places)
			}
			places += len(ofPlaces)
			moments := slices.DeleteFunc(slices.Clone(uses.Moments), func(m replay.Moment) bool { return m.Tool != n })
			if len(moments) != len(want.Moments) {
				t.Fatalf("%s: %s: %d moments, alone %d", one.ID, tools[n].Name, len(moments), len(want.Moments))
			}
			for i := range moments {
				m, w := &moments[i], &want.Moments[i]
				spent := uses.Spent(m)
				if m.Begin != w.Begin || m.End != w.End || m.Followed != w.Followed || !reflect.DeepEqual(spent, want.Spent(w)) {
					t.Fatalf("%s: %s: moment %+v, alone %+v", one.ID, tools[n].Name, m, w)
				}
				if m.Followed {
					followed++
				}
				vain += spent.Reads
			}
			ofBegun := slices.DeleteFunc(uses.Begun(), func(b replay.Begun) bool { return b.Tool != n })
			for i := range ofBegun {
				ofBegun[i].Tool = 0
			}
			if got := want.Begun(); len(ofBegun)+len(got) > 0 && !reflect.DeepEqual(ofBegun, got) {
				t.Fatalf("%s: %s: begun %+v, alone %+v", one.ID, tools[n].Name, ofBegun, got)
			}
			begun += len(ofBegun)
		}
	}
	if places == 0 || followed == 0 || vain == 0 || begun == 0 {
		t.Fatalf("%d places, %d moments followed, %d reads in vain, %d chains begun", places, followed, vain, begun)
	}
}

// TestOccurrencesFromLeftToRight wants of tools together what looking for each one at
// every element finds, and nothing that overlaps.
func TestOccurrencesFromLeftToRight(t *testing.T) {
	list, _ := officeRuns(t, 40)
	tools := writtenAndRead(t, compiled(t, list, nil, compile.Options{Algorithm: compile.Patterns}))
	finder := replay.NewFinder(tools)
	overlaps, found := 0, 0
	for _, one := range list {
		got := make([][]replay.Occurrence, len(tools))
		finder.Occurrences(one, nil, func(n int, o replay.Occurrence) { got[n] = append(got[n], o) })
		sequence := replay.NewSequence(one, nil)
		for n, tool := range tools {
			var want []replay.Occurrence
			behind := 0
			for i := range sequence.Len() {
				o, ok := sequence.At(tool, i)
				switch {
				case !ok:
				case i < behind:
					overlaps++
				default:
					want, behind = append(want, o), i+o.Len()
				}
			}
			if !reflect.DeepEqual(got[n], want) {
				t.Fatalf("%s: %s: %+v, one by one %+v", one.ID, tool.Name, got[n], want)
			}
			found += len(want)
		}
	}
	if overlaps == 0 || found == 0 {
		t.Fatalf("%d occurrences, %d that overlap", found, overlaps)
	}
}
