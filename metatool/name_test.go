package metatool

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func steps(names ...string) []Step {
	var out []Step
	for _, n := range names {
		out = append(out, Step{Tool: n})
	}
	return out
}

func TestToolName(t *testing.T) {
	for names, want := range map[string]string{
		"login list":                            "login_then_list",
		"get get get":                           "get_x3",
		"mail.login mail/search":                "mail_login_then_mail_search",
		"9lives x":                              "_9lives_then_x",
		"Straße ☃":                              "Stra_e_then_tool",
		"payments_login payments_list_invoices": "payments_login_then_list_invoices",
		"supervisor_show_profile supervisor_show_passwords":      "supervisor_show_then_show_passwords",
		"contacts_search contacts_get supervisor_show_passwords": "contacts_and_1_then_show_passwords",
		strings.Repeat("x", 300):                                 strings.Repeat("x", nameLimit),
	} {
		if got := toolName(steps(strings.Fields(names)...)); got != want {
			t.Errorf("name of %.60s is %s, want %s", names, got, want)
		}
	}
}

// Names are valid everywhere, and no two tools have the same.
func TestToolNamesAreValidAndUnique(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	rapid.Check(t, func(t *rapid.T) {
		tools := make([]Tool, rapid.IntRange(1, 30).Draw(t, "tools"))
		for i := range tools {
			names := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "b", "a_b", "\n\"/..\\"})), 1, 5).Draw(t, "names")
			tools[i].Steps = steps(names...)
		}
		toolNames(tools)
		seen := map[string]bool{}
		for _, tool := range tools {
			if !valid.MatchString(tool.Name) || len(tool.Name) > nameLimit || seen[tool.Name] {
				t.Fatalf("name %q is invalid or taken", tool.Name)
			}
			seen[tool.Name] = true
		}
	})
}
