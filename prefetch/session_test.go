package prefetch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

func value(t *testing.T, text string) trace.Value {
	t.Helper()
	v, err := trace.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func path(t *testing.T, text string) jsonpath.Path {
	t.Helper()
	p, err := jsonpath.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func shop(t *testing.T) *Set {
	t.Helper()
	return &Set{Reads: []string{"customer", "order", "parcel"}, Rules: []Rule{
		{
			ID: "orders", Source: Source{Tool: "customer", Path: path(t, "$.orders[*].id")}, MaxElements: 2, Depth: 1,
			Target: Target{"order", "id", []Other{{Argument: "shop", Origin: FromElement, Path: path(t, "$.shop")}, {Argument: "token", Origin: FromArgument, Path: path(t, "$.token")}}},
		},
		{ID: "parcels", Source: Source{Tool: "order", Path: path(t, "$.parcel")}, Target: Target{Tool: "parcel", Argument: "id"}, Depth: 2},
	}}
}

const customer = `{"orders":[{"id":"a","shop":1},{"id":"b","shop":2},{"id":"c","shop":3}]}`

func calls(reads []Read) string {
	out := ""
	for _, r := range reads {
		out += fmt.Sprintf("%s%s/%d ", r.Tool, r.Arguments.AppendCanonical(nil), r.Level)
	}
	return out
}

func TestSession(t *testing.T) {
	s := NewSession(shop(t))
	first := Call{Tool: "customer", Arguments: value(t, `{"token":"t"}`)}
	s.Begin(first)
	reads := s.Answered(Answer{Call: first, Result: value(t, customer)})
	if got, want := calls(reads), `order{"id":"a","shop":1,"token":"t"}/1 order{"id":"b","shop":2,"token":"t"}/1 `; got != want {
		t.Fatalf("reads %s, want %s", got, want)
	}
	second := s.Got(reads[0], value(t, `{"parcel":7}`))
	if got, want := calls(second), `parcel{"id":7}/2 `; got != want {
		t.Fatalf("then %s, want %s", got, want)
	}
	if again := s.Got(second[0], value(t, `{"parcel":8}`)); len(again) != 0 {
		t.Errorf("a third level is read: %s", calls(again))
	}
	if _, level, is := s.Take(second[0].Call); !is || level != 2 {
		t.Errorf("level %d, %v, want 2", level, is)
	}
	if _, _, is := s.Take(second[0].Call); is {
		t.Error("an answer is taken twice")
	}
	if stale := s.Begin(Call{Tool: "cancel", Arguments: value(t, `{}`)}); stale != 2 {
		t.Errorf("%d answers are stale, want 2", stale)
	}
	if _, _, is := s.Has(reads[0].Call); is {
		t.Error("an answer outlives a tool that may have changed it")
	}
	if reads := s.Answered(Answer{Call: first, Result: value(t, customer)}); len(reads) != 0 {
		t.Errorf("what was asked for is read again: %s", calls(reads))
	}
}

func TestFailedAnswersLeadToNothing(t *testing.T) {
	s := NewSession(shop(t))
	first := Call{Tool: "customer", Arguments: value(t, `{"token":"t"}`)}
	if reads := s.Answered(Answer{Call: first, Result: value(t, customer), Failed: true}); len(reads) != 0 {
		t.Errorf("reads %s", calls(reads))
	}
}

func TestReadsAreBounded(t *testing.T) {
	set := shop(t)
	set.Rules[0].MaxElements = 0
	text := ""
	for i := range 10 * MaxReads {
		text += fmt.Sprintf(`,{"id":"o%d","shop":%d}`, i, i)
	}
	call := Call{Tool: "customer", Arguments: value(t, `{"token":"t"}`)}
	if reads := NewSession(set).Answered(Answer{Call: call, Result: value(t, `{"orders":[`+text[1:]+`]}`)}); len(reads) != MaxReads {
		t.Errorf("%d reads, want %d", len(reads), MaxReads)
	}
}

// TestHugeAnswers: an answer with more elements than a rule may look at leads to nothing.
func TestHugeAnswers(t *testing.T) {
	set := shop(t)
	offers := func(n int) int {
		list := strings.Repeat(`,{"id":"o","shop":1}`, n)
		return len(set.Rules[0].Offers(value(t, `{"token":"t"}`), value(t, `{"orders":[`+list[1:]+`]}`)))
	}
	if n := offers(maxNodes); n != maxNodes {
		t.Errorf("%d offers of %d elements", n, maxNodes)
	}
	if n := offers(maxNodes + 1); n != 0 {
		t.Errorf("%d offers of one element too many", n)
	}
}

func TestWhen(t *testing.T) {
	for _, c := range []struct {
		when          When
		again, failed bool
		want          bool
	}{
		{When{}, true, true, true},
		{When{Turn: FirstTime}, true, false, false},
		{When{Turn: Again}, true, false, true},
		{When{Last: LastOK}, false, true, false},
		{When{Last: LastFailed}, false, true, true},
	} {
		if got := c.when.Holds(c.again, c.failed); got != c.want {
			t.Errorf("%+v after again=%v, failed=%v: %v", c.when, c.again, c.failed, got)
		}
	}
}
