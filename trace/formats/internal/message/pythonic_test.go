package message

import "testing"

// TestPythonicCalls checks what is taken for calls, and what for a text.
func TestPythonicCalls(t *testing.T) {
	for text, want := range map[string]string{
		`[find(a=1)]`: `find {"a":1}`,
		` [a.b(x='y', z=["u", 2.5], on=True, off=None)] `: `a.b {"x":"y","z":["u",2.5],"on":true,"off":null}`,
		`[Get Weather(city="Bonn"), list_all()]`:          `Get Weather {"city":"Bonn"}|list_all {}`,
		`[f(a={"b": (1, 2)}), g(c="], [h(d=1)")]`:         `f {"a":{"b":[1,2]}}|g {"c":"], [h(d=1)"}`,
		`[see (1)]`:                   "",
		`[as of today (noon)]`:        "",
		`[find(1)]`:                   "",
		`[find(a=1), and more]`:       "",
		`[find(a=1) find(a=2)]`:       "",
		`find(a=1)`:                   "",
		`[x](http://example.com/(a))`: "",
		`[find(a=]`:                   "",
		`[(a=1)]`:                     "",
		`[1(a=1)]`:                    "",
		`[find(a=1),]`:                "",
		`[]`:                          "",
	} {
		got := ""
		for i, it := range pythonicCalls([]byte(text)) {
			if i > 0 {
				got += "|"
			}
			got += string(it.Tool) + " " + it.Value.Text()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
