package rules_test

import (
	"errors"
	"fmt"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/rules"
)

// A rule file is read with every mistake in it, and the rules that are well formed.
func ExampleParse() {
	set, err := rules.Parse("rules.yaml", []byte(`version: 1
rules:
  - id: reads
    kind: effect
    match: {tool: "get_*"}
    effect: accessor
  - id: typo
    kind: efect
    match: {tool: "*"}
`))
	fmt.Println(len(set.Rules), "rule:", set.Rules[0].ID)
	if problems, ok := errors.AsType[diag.List](err); ok {
		for _, p := range problems {
			fmt.Println(p)
		}
	}
	// Output:
	// 1 rule: reads
	// rules.yaml:8:11: rule-unknown-kind: there is no kind "efect": did you mean `effect`?
}
