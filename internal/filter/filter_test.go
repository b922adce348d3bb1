package filter_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"
	"unique"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/trace"
)

func trajectory(id string, tools ...string) *trace.Trajectory {
	t := &trace.Trajectory{ID: id, Task: "task-" + id, Agent: "a", Model: "gpt-4o", Source: diag.Pos{File: "x.jsonl", Line: 1}}
	for i, tool := range tools {
		t.Turns = append(t.Turns, trace.Turn{FirstCall: i, NumCalls: 1})
		t.Calls = append(t.Calls, trace.Call{Tool: unique.Make(tool), Turn: i, Args: trace.JSONOf([]byte(`{"q":1}`)), HasResult: true, Result: trace.TextOf("ok")})
	}
	return t
}

func stream(list ...*trace.Trajectory) iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		for _, t := range list {
			if !yield(t, nil) {
				return
			}
		}
	}
}

func ids(t *testing.T, in iter.Seq2[*trace.Trajectory, error]) string {
	t.Helper()
	var out []string
	for trajectory, err := range in {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, trajectory.ID)
	}
	return strings.Join(out, " ")
}

func TestWhere(t *testing.T) {
	one := trajectory("one", "search", "read", "read")
	one.Outcome = trace.OutcomeSuccess
	score := 0.5
	one.Score = &score
	one.Messages = []trace.Message{{Role: trace.RoleUser, Time: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}}
	two := trajectory("two", "book_flight")
	two.Model, two.Agent = "", "b"
	two.Turns[0].Model = "claude"
	two.Calls[0].Status = trace.StatusFailed
	for expression, want := range map[string]string{
		`tool("read")`:                     "one",
		`tool("book_*")`:                   "two",
		`count("re*") == 2`:                "one",
		`"search" in tools()`:              "one",
		`outcome == "success"`:             "one",
		`outcome != "success"`:             "two",
		`score > 0.4`:                      "one",
		`score != score`:                   "two",
		`model == "claude"`:                "two",
		`glob(model, "gpt-*")`:             "one",
		`agent in ["a", "b"]`:              "one two",
		`time >= date("2026-02-01")`:       "one",
		`calls > 1 && user_messages == 1`:  "one",
		`failed > 0 or task == "task-one"`: "one two",
		`source endsWith ".jsonl"`:         "one two",
		`false`:                            "",
	} {
		where, err := filter.Compile("--where", expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		var counts filter.Counts
		got := ids(t, filter.Apply(stream(one, two), filter.Options{Where: where}, &counts))
		if got != want {
			t.Errorf("%s lets %q pass, want %q", expression, got, want)
		}
		if left := 2 - len(strings.Fields(got)); counts.Where != left || counts.Total() != left {
			t.Errorf("%s: counts %+v, want %d left out", expression, counts, left)
		}
	}
}

func TestCompileErrorsHavePositions(t *testing.T) {
	for expression, want := range map[string]string{
		`tool("x"`:            "--where:1:",
		`calls`:               "--where:",
		`nosuch == 1`:         "--where:1:1:",
		"calls > 1 &&\n nope": "--where:2:2:",
	} {
		_, err := filter.Compile("--where", expression)
		problem := &diag.Error{}
		if !errors.As(err, &problem) || problem.Code != "where-invalid" || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Compile(%q) = %v, want a where-invalid at %s", expression, err, want)
		}
	}
}

func TestTimeRange(t *testing.T) {
	at := func(id string, day int) *trace.Trajectory {
		x := trajectory(id, "a")
		x.Turns[0].Start = time.Date(2026, 3, day, 10, 0, 0, 0, time.UTC)
		return x
	}
	var counts filter.Counts
	o := filter.Options{Since: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC)}
	got := ids(t, filter.Apply(stream(at("1", 1), at("2", 2), at("3", 3), trajectory("never", "a")), o, &counts))
	if got != "2" {
		t.Errorf("passed %q, want 2: since is inclusive, until exclusive, no time is not inside", got)
	}
	if counts != (filter.Counts{Time: 2, Untimed: 1}) {
		t.Errorf("counts %+v", counts)
	}
}

func TestDedupeLooksAtContent(t *testing.T) {
	same, other := trajectory("copy", "a", "b"), trajectory("other", "a", "b")
	other.Calls[1].Result = trace.TextOf("else")
	spaced := trajectory("spaced", "a", "b")
	spaced.Calls[0].Args = trace.JSONOf([]byte(`{ "q" : 1 }`))
	var counts filter.Counts
	got := ids(t, filter.Apply(stream(trajectory("first", "a", "b"), same, other, spaced), filter.Options{Dedupe: true}, &counts))
	if got != "first other" || counts.Duplicate != 2 {
		t.Errorf("passed %q with %d duplicates, want first and other with 2", got, counts.Duplicate)
	}
}

func TestSampleIsSeededAndNested(t *testing.T) {
	var list []*trace.Trajectory
	for i := range 200 {
		list = append(list, trajectory(fmt.Sprintf("%03d", i), "a"))
	}
	draw := func(n int, seed uint64) []string {
		var counts filter.Counts
		got := strings.Fields(ids(t, filter.Apply(stream(list...), filter.Options{Sample: n, Seed: seed}, &counts)))
		if len(got) != min(n, 200) || counts.Sample != 200-len(got) {
			t.Fatalf("sample of %d has %d, %d left out", n, len(got), counts.Sample)
		}
		if !slices.IsSorted(got) {
			t.Errorf("sample of %d is not in input order", n)
		}
		return got
	}
	small, large := draw(20, 7), draw(50, 7)
	if !slices.Equal(small, draw(20, 7)) {
		t.Error("two samples of one seed differ")
	}
	for _, id := range small {
		if !slices.Contains(large, id) {
			t.Errorf("%s is in the sample of 20 but not of 50", id)
		}
	}
	if slices.Equal(small, draw(20, 8)) {
		t.Error("another seed gives the same sample")
	}
	draw(500, 1)
	// Late trajectories are drawn as often as early ones: over 40 seeds, half of a sample
	// stands in the second half of the input, give or take three standard errors.
	late := 0
	for seed := range uint64(40) {
		for _, id := range draw(20, seed) {
			if id >= "100" {
				late++
			}
		}
	}
	if late < 358 || late > 442 {
		t.Errorf("%d of 800 are from the second half", late)
	}
}

func TestErrorsPassThrough(t *testing.T) {
	problem := diag.New(diag.Pos{File: "x", Line: 2}, "json-syntax", "no")
	in := func(yield func(*trace.Trajectory, error) bool) {
		_ = yield(trajectory("a", "t"), nil) && yield(nil, problem) && yield(trajectory("b", "t"), nil)
	}
	for _, o := range []filter.Options{{}, {Dedupe: true}, {Sample: 1}} {
		var counts filter.Counts
		errs := 0
		for _, err := range filter.Apply(in, o, &counts) {
			if err != nil {
				errs++
			}
		}
		if errs != 1 {
			t.Errorf("%+v: %d errors came through, want 1", o, errs)
		}
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-01":                "2026-03-01T00:00:00Z",
		"2026-03-01T12:30":          "2026-03-01T12:30:00Z",
		"2026-03-01 12:30":          "2026-03-01T12:30:00Z",
		"2026-03-01T12:30:05+02:00": "2026-03-01T10:30:05Z",
		"yesterday":                 "",
		"":                          "",
	} {
		got, err := filter.ParseTime(text)
		if (err != nil) != (want == "") || (want != "" && got.Format(time.RFC3339) != want) {
			t.Errorf("ParseTime(%q) = %v, %v, want %s", text, got, err, want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`tool("a*")`, `calls > 1 && time < date("2026-01-01")`, `((((`, `"\x00`, "tools() | len() > 2"} {
		f.Add(seed)
	}
	t0 := trajectory("x", "a", "b")
	f.Fuzz(func(t *testing.T, source string) {
		if e, err := filter.Compile("--where", source); err == nil {
			_, _ = e.Holds(t0)
		}
	})
}
