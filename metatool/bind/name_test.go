package bind

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		{[]string{"find_user_by_mail", "get_user", "list_orders_of"}, "find_user_by_mail_to_list_orders_of"},
		{[]string{"get_user_details", "get_reservation_details"}, "get_user_then_reservation_details"},
		{[]string{"crm_get_user", "crm_list_orders", "crm_list_orders", "crm_get_order"}, "crm_get_user_to_get_order"},
		{[]string{"crm_get_user_details", "crm_list_all_orders", "crm_list_all_orders"}, "crm_get_user_details_to_list_all_8aff84"},
		{[]string{"get_user", "get", "get_reservation_details_by_number"}, "get_user_to_get_reservation_ce23e2"},
		{[]string{"mail.send/now", "größe", "9lives", "", "\n\x00"}, "mail_send_now_to_tool"},
		{[]string{long, "b"}, "xxxxxxxxxxxxxxxxxxxxxxxxxxxx_to_b_ad3cfa"},
		{[]string{long, long}, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_7f72ec"},
	} {
		got := nameOf(test.tools)
		if got != test.want || len(got) > aimName {
			t.Errorf("name of %.80q is %s (%d), want %s", test.tools, got, len(got), test.want)
		}
	}
}

func TestNamesAreValidAndDiffer(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	rapid.Check(t, func(t *rapid.T) {
		names := &names{taken: map[string]bool{"a_then_b": true}}
		seen := map[string]bool{"a_then_b": true}
		tool := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "b", "a_then_b", strings.Repeat("long_", 20), "\"/..\\\n"}))
		for range rapid.IntRange(1, 20).Draw(t, "names") {
			name := names.of(rapid.SliceOfN(tool, 2, 5).Draw(t, "tools"))
			if !valid.MatchString(name) || seen[name] {
				t.Fatalf("name %q is not valid or taken", name)
			}
			seen[name] = true
		}
	})
}
