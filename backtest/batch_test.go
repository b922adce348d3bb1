package backtest

import (
	"reflect"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	byhand "github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
)

// TestBatch makes one turn of what was known before, and no more.
func TestBatch(t *testing.T) {
	for name, tc := range map[string]struct {
		run  func(*byhand.Run)
		want []int // turns removed
	}{
		"three known": {func(s *byhand.Run) {
			s.User("orders o-111, o-222 and o-333").Call("get", `{"id":"o-111"}`, `{}`).Call("get", `{"id":"o-222"}`, `{}`).Call("get", `{"id":"o-333"}`, `{}`)
		}, []int{1, 2}},
		"one found out": {func(s *byhand.Run) {
			s.User("order o-111").Call("get", `{"id":"o-111"}`, `{"next":"o-222"}`).Call("get", `{"id":"o-222"}`, `{}`)
		}, nil},
		"asked again": {func(s *byhand.Run) {
			s.User("order o-111").Call("get", `{"id":"o-111"}`, `{}`).Call("get", `{"id":"o-111"}`, `{}`)
		}, nil},
		"user between": {func(s *byhand.Run) {
			s.User("o-111, o-222").Call("get", `{"id":"o-111"}`, `{}`).User("go on").Call("get", `{"id":"o-222"}`, `{}`)
		}, nil},
		"a write between": {func(s *byhand.Run) {
			s.User("o-111, o-222").Call("get", `{"id":"o-111"}`, `{}`).Call("update", `{"id":"o-111"}`, `{}`).Call("get", `{"id":"o-222"}`, `{}`)
		}, nil},
		"writes": {func(s *byhand.Run) {
			s.User("o-111, o-222").Call("update", `{"id":"o-111"}`, `{}`).Call("update", `{"id":"o-222"}`, `{}`)
		}, nil},
		"reads behind a write": {func(s *byhand.Run) {
			s.User("o-111, o-222").Call("update", `{"id":"o-111"}`, `{}`).Call("get", `{"id":"o-111"}`, `{}`).Call("get", `{"id":"o-222"}`, `{}`)
		}, []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &byhand.Run{}
			tc.run(s)
			trained := batch.Train(nil)
			if got := trained.Find(&Case{Run: corpus.Filled([]*trace.Trajectory{&s.T}, corpus.Options{})[0]}); !reflect.DeepEqual(got.Removed, tc.want) {
				t.Errorf("removes %v, want %v", got.Removed, tc.want)
			}
		})
	}
}
