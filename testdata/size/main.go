// Command size prints how large the program is, folder by folder, next to what each may have.
//
//	go run ./testdata/size
//
// A line of code is a line with at least one token of Go: blank lines and comments are none,
// and neither are tests or what is below testdata, but for packages there that the program
// imports. Nested modules count. Text that the program embeds or ships (.py .ts .js .css
// .html .yaml .s) has a budget of its own, maps of trace formats apart. Tokens per line show
// whether lines were made denser instead of fewer. budgets.tsv has the limits: what a folder
// may have now, which only ever falls, and what it is to have in the end.
package main

import (
	"fmt"
	"os"
	"slices"
)

func main() {
	size, err := Measure(".")
	if err == nil {
		var budgets []Budget
		if budgets, err = Budgets("testdata/size/budgets.tsv"); err == nil {
			print(size, budgets)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func print(s *Size, budgets []Budget) {
	fmt.Printf("%-28s %8s %8s %8s %8s\n", "folder", "lines", "limit", "goal", "rest")
	var lines, limit, goal int
	for _, b := range budgets {
		n := s.Folders[b.Folder]
		lines, limit, goal = lines+n, limit+b.Limit, goal+b.Goal
		fmt.Printf("%-28s %8d %8d %8d %8d\n", b.Folder, n, b.Limit, b.Goal, b.Goal-n)
	}
	fmt.Printf("%-28s %8d %8d %8d %8d\n\n", "all", lines, limit, goal, goal-lines)
	fmt.Printf("%d top-level folders, %d packages, %d struct types with JSON tags, %.2f tokens a line\n", len(s.Top), s.Packages, s.JSON, s.TokensPerLine())
	if len(s.Unbudgeted) > 0 {
		fmt.Println("without a line in budgets.tsv:", slices.Sorted(slices.Values(s.Unbudgeted)))
	}
}
