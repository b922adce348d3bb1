package failure

import "testing"

// TestMembersAreSeen has every name of a member that says a call failed be seen in quotes.
func TestMembersAreSeen(t *testing.T) {
	for name, of := range byMember {
		for _, before := range []string{"", `\"a\":1,`, `\"abcdefg\":1234,`} {
			if token := `"{` + before + `\"` + name + `\":1}"`; of.Sure && NoneIn([]byte(token)) {
				t.Errorf("%s is not seen in %s", name, token)
			}
		}
	}
}
