package bind

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, test := range []struct {
		tools []string
		want  string
	}{
		{[]string{"login", "list"}, "login_then_list"},
		{[]string{"a", "b", "b", "b", "c"}, "a_then_b_x3_then_c"},
		{[]string{"get_order", "get_order"}, "get_order_x2"},
		{[]string{"find_user_by_mail", "get_user", "list_orders_of"}, "find_user_then_get_user_then_list_orders"},
		{[]string{"get_user_details", "get_reservation_details"}, "get_user_then_reservation_details"},
		{[]string{"crm_get_user", "crm_list_orders", "crm_list_orders", "crm_get_order"}, "crm_get_user_to_get_order"},
		{[]string{"crm_get_user_details", "crm_list_all_orders", "crm_list_all_orders"}, "crm_get_user_then_list_all_orders_x2"},
		{[]string{"get_user", "get", "get_reservation_details_by_number"}, "get_user_to_get_reservation_details"},
		{[]string{"mail.send/now", "größe", "9lives", "", "\n\x00"}, "mail_send_now_to_tool"},
		{[]string{long, "b"}, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_then_b"},
		{[]string{long, long}, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_x2"},
	} {
		got := nameOf(test.tools)
		if got != test.want || len(got) > aimName {
			t.Errorf("name of %.80q is %s (%d), want %s", test.tools, got, len(got), test.want)
		}
	}
}

// TestNamesAreValidAndDiffer gives names to definitions of the same and of other tools, some
// of them refused: each is valid and given once, and none depends on the order.
func TestNamesAreValidAndDiffer(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,39}$`)
	merger := merge.NewMerger(nil, merge.Options{})
	merger.Add(&trace.Trajectory{Calls: []trace.Call{{Tool: trace.Intern("a_then_b")}, {Tool: trace.Intern("b")}}})
	merged := merger.Merged()
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "b", "a_then_b", strings.Repeat("long_", 20), "\"/..\\\n"}))
		var list []*Definition
		for range rapid.IntRange(1, 20).Draw(t, "definitions") {
			d := &Definition{}
			for _, name := range rapid.SliceOfN(tool, 2, 5).Draw(t, "tools") {
				d.Steps = append(d.Steps, metatool.Step{Tool: name, Name: name})
			}
			if rapid.Bool().Draw(t, "refused") {
				d.Refusals = []Refusal{{}}
			}
			list = append(list, d)
		}
		name(list, merged)
		seen, before := map[string]bool{"a_then_b": true, "b": true}, namesByHash(list)
		for _, d := range list {
			if !valid.MatchString(d.Name) || seen[d.Name] {
				t.Fatalf("name %q is not valid or taken", d.Name)
			}
			seen[d.Name] = true
		}
		slices.Reverse(list)
		name(list, merged)
		if after := namesByHash(list); !reflect.DeepEqual(after, before) {
			t.Fatalf("in another order %v, before %v", after, before)
		}
	})
}

// namesByHash returns the names of definitions, those of equal ones in order.
func namesByHash(list []*Definition) map[string][]string {
	out := map[string][]string{}
	for _, d := range list {
		key := fmt.Sprint(d.hash(), d.Refusals == nil)
		out[key] = append(out[key], d.Name)
		slices.Sort(out[key])
	}
	return out
}
