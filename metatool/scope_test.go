package metatool_test

import (
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// TestScope holds what a value becomes on its way into an argument.
func TestScope(t *testing.T) {
	const hole = jsonpath.Hole
	from := metatool.Binding{Kind: metatool.BindStep}
	coerced := func(c metatool.Coercion) metatool.Binding {
		return metatool.Binding{Kind: metatool.BindStep, Coerce: c}
	}
	template := func(text string, parts int) metatool.Binding {
		b := metatool.Binding{Kind: metatool.BindTemplate, Template: text}
		for range parts {
			b.Parts = append(b.Parts, from)
		}
		return b
	}
	for _, test := range []struct {
		binding    metatool.Binding
		held, want string // canonical JSON; "" for none
	}{
		{from, `[1,"x"]`, `[1,"x"]`},
		{coerced(metatool.CoerceString), `7`, `"7"`},
		{coerced(metatool.CoerceString), `7.0`, `"7"`},
		{coerced(metatool.CoerceString), `"7"`, `"7"`}, // is one already
		{coerced(metatool.CoerceNumber), `"12.5"`, `12.5`},
		{coerced(metatool.CoerceNumber), `"x"`, ``},
		{coerced(metatool.CoerceNumber), `"[1]"`, ``},
		{template("Re: "+hole+"!", 1), `"Invoice"`, `"Re: Invoice!"`},
		{template("no "+hole, 1), `42`, `"no 42"`},
		{template("no "+hole, 1), `true`, ``},
		{template("no "+hole, 1), `[]`, ``},
		{template(hole+" and "+hole, 1), `"x"`, ``},
		{template(hole+" and "+hole, 2), `"x"`, `"x and x"`},
		{metatool.Binding{Kind: metatool.BindStep, Step: 1}, `1`, ``},
		{metatool.Binding{Kind: metatool.BindStep, Step: -1}, `1`, ``},
		{metatool.Binding{Kind: metatool.BindElement}, `1`, ``},
		{metatool.Binding{Kind: metatool.BindInput, Input: "x"}, `1`, ``},
	} {
		held, err := trace.ParseValue([]byte(test.held))
		if err != nil {
			t.Fatal(err)
		}
		scope := metatool.Scope{Results: []*trace.Value{&held, nil}}
		got, ok := scope.Value(&test.binding)
		if ok != (test.want != "") || ok && string(got.AppendCanonical(nil)) != test.want {
			t.Errorf("%+v of %s: %s, %v; want %s", test.binding, test.held, got.AppendCanonical(nil), ok, test.want)
		}
	}
}
