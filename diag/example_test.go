package diag_test

import (
	"fmt"

	"github.com/awo-dev/awo/diag"
)

func ExampleNew() {
	problem := diag.New(diag.Pos{File: "rules.yaml", Line: 3, Col: 9}, "rule-kind", "there is no kind %q", "efect")
	fmt.Println(problem)
	fmt.Println(diag.Nearest("efect", []string{"drop", "effect", "commute"}))
	// Output:
	// rules.yaml:3:9: rule-kind: there is no kind "efect"
	// effect
}
