package backtest

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	byhand "github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/trace"
)

// TestBound takes what is known before, derived or walked, of sequences that others make.
func TestBound(t *testing.T) {
	walk := func(i int) *trace.Trajectory {
		s := &byhand.Run{}
		s.User(fmt.Sprintf("user u-%d", i))
		s.Call("user", fmt.Sprintf(`{"id":"u-%d"}`, i), fmt.Sprintf(`{"orders":["o-%d-1","o-%d-2"]}`, i, i))
		s.Call("order", fmt.Sprintf(`{"id":"o-%d-1"}`, i), `{}`).Call("order", fmt.Sprintf(`{"id":"o-%d-2"}`, i), `{}`)
		s.T.Task = fmt.Sprint(i)
		return &s.T
	}
	var list []*trace.Trajectory
	for i := range 6 {
		list = append(list, walk(100+i))
	}
	part := &Part{Runs: runsOf(list...)}
	part.Options.Compile = compile.Options{}
	part.Options.Compile.Extract.Threshold = 5
	for name, tc := range map[string]struct {
		run           func(*byhand.Run)
		all, chaining []int // turns removed
	}{
		"walked": {func(s *byhand.Run) { *s = byhand.Run{T: *walk(7)} }, []int{1, 2}, []int{1, 2}},
		"not derived": {func(s *byhand.Run) {
			s.User("user u-111").Call("user", `{"id":"u-111"}`, `{}`).Call("order", `{"id":"o-999"}`, `{}`)
		}, nil, nil},
		"known before": {func(s *byhand.Run) {
			s.User("user u-111, order o-999").Call("user", `{"id":"u-111"}`, `{}`).Call("order", `{"id":"o-999"}`, `{}`)
		}, []int{1}, nil},
		"a sequence of nobody else": {func(s *byhand.Run) {
			s.User("user u-111").Call("user", `{"id":"u-111"}`, `{"mail":"m-888"}`).Call("mail", `{"id":"m-888"}`, `{}`)
		}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &byhand.Run{}
			tc.run(s)
			for i, want := range [][]int{tc.all, tc.chaining} {
				trained := Bounds[i].Train(part)
				if got := trained.Find(&Case{Run: corpus.Filled([]*trace.Trajectory{&s.T}, corpus.Options{})[0]}).Removed; !reflect.DeepEqual(got, want) {
					t.Errorf("%s removes %v, want %v", Bounds[i].Name, got, want)
				}
			}
		})
	}
}
