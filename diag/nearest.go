package diag

import "strings"

// Nearest returns the known word that a mistyped one most likely means, for a
// note that asks for it, or "" if none is near. Case does not count; of words
// that are equally near it is the first.
func Nearest(word string, known []string) string {
	best, least := "", 1+min(2, len(word)/2)
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is how many insertions, deletions, replacements and swaps of
// neighbours lead from a to b, in bytes (optimal string alignment). It takes
// time in proportion to both lengths, so what is much longer is just far.
func distance(a, b string) int {
	const far = 10
	if len(a) > len(b)+far || len(b) > len(a)+far {
		return far
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
