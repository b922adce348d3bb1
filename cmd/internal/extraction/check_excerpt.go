package extraction

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
)

// checkExcerpt shows where two versions of an artefact differ, without the
// values that either may hold: what stands on disk may be anything.
type checkExcerpt struct {
	removed, added int
	lines          []string
}

const (
	maxExcerptLines = 16  // that are shown of a file
	maxEdits        = 600 // differences up to which common lines are found
	excerptContext  = 2   // lines shown around a difference
)

// newExcerpt compares two versions line by line.
func newExcerpt(name string, disk, given []byte) checkExcerpt {
	a, b := lines(disk), lines(given)
	first := 0
	for first < min(len(a), len(b)) && bytes.Equal(a[first], b[first]) {
		first++
	}
	after := 0
	for after < min(len(a), len(b))-first && bytes.Equal(a[len(a)-1-after], b[len(b)-1-after]) {
		after++
	}
	ops := align(a[first:len(a)-after], b[first:len(b)-after])
	x := checkExcerpt{}
	m := maskers[filepath.Ext(name)]
	hiddenA, hiddenB := m.hidden(a), m.hidden(b)
	show := func(sign byte, line []byte, hidden bool) {
		if len(x.lines) < maxExcerptLines {
			x.lines = append(x.lines, string(sign)+m.mask(line, hidden))
		}
	}
	at, made, common := first, first, 0
	if len(ops) > 0 {
		x.lines = append(x.lines, fmt.Sprintf("@@ line %d @@", first+1))
		for n := max(0, first-excerptContext); n < first; n++ {
			show(' ', a[n], hiddenA[n])
		}
	}
	for _, op := range ops {
		switch op.sign {
		case '-':
			x.removed++
		case '+':
			x.added++
		default:
			common, at, made = common+1, at+1, made+1
			continue
		}
		if common > 0 && len(x.lines) < maxExcerptLines {
			x.lines = append(x.lines, fmt.Sprintf("@@ line %d @@", at+1))
		}
		common = 0
		if op.sign == '-' {
			show('-', op.line, hiddenA[at])
			at++
		} else {
			show('+', op.line, hiddenB[made])
			made++
		}
	}
	if rest := x.removed + x.added; len(x.lines) >= maxExcerptLines && rest > 0 {
		x.lines = append(x.lines, fmt.Sprintf("... %s on disk only, %s made only", cli.CountOf(x.removed, "line"), cli.CountOf(x.added, "line")))
	}
	return x
}

func lines(text []byte) [][]byte {
	all := bytes.Split(text, []byte("\n"))
	if n := len(all); len(all[n-1]) == 0 {
		all = all[:n-1]
	}
	return all
}

// lineOp is a line of one version (- or +) or of both.
type lineOp struct {
	sign byte
	line []byte
}

// align finds the fewest lines to take out and put in (Myers, "An O(ND) difference
// algorithm and its variations"); of versions that differ in more than maxEdits
// lines it takes none for common.
func align(a, b [][]byte) []lineOp {
	limit := min(len(a)+len(b), maxEdits)
	reach := map[int]int{1: 0} // by diagonal: how far into a
	var history []map[int]int
	for d := 0; d <= limit; d++ {
		history = append(history, maps.Clone(reach))
		for k := -d; k <= d; k += 2 {
			x := reach[k-1] + 1
			if k == -d || k != d && reach[k-1] < reach[k+1] {
				x = reach[k+1]
			}
			for x < len(a) && x-k < len(b) && x-k >= 0 && bytes.Equal(a[x], b[x-k]) {
				x++
			}
			if reach[k] = x; x >= len(a) && x-k >= len(b) {
				return walkBack(a, b, history)
			}
		}
	}
	var ops []lineOp
	for _, line := range a {
		ops = append(ops, lineOp{'-', line})
	}
	for _, line := range b {
		ops = append(ops, lineOp{'+', line})
	}
	return ops
}

// walkBack reads the edits from what align reached at each number of them.
func walkBack(a, b [][]byte, history []map[int]int) []lineOp {
	var ops []lineOp
	x, y := len(a), len(b)
	for d := len(history) - 1; d >= 0; d-- {
		reach, k := history[d], x-y
		before := k - 1
		if k == -d || k != d && reach[k-1] < reach[k+1] {
			before = k + 1
		}
		startX := reach[before]
		startY := startX - before
		for x > startX && y > startY && x > 0 && y > 0 {
			x, y = x-1, y-1
			ops = append(ops, lineOp{' ', a[x]})
		}
		if d == 0 {
			break
		}
		if x == startX {
			y--
			ops = append(ops, lineOp{'+', b[y]})
		} else {
			x--
			ops = append(ops, lineOp{'-', a[x]})
		}
	}
	slices.Reverse(ops)
	return ops
}

// masker hides what may be a value. Of JSON and YAML it shows keys and brackets,
// and the scalars of keys that never hold one; of other files nothing.
type masker struct {
	data  bool
	plain []string // keys whose scalars are names, counts or hashes of awo's own
	whole []string // keys below which everything is hidden
}

// maskers are the maskers by the ending of a file's name.
var maskers = map[string]masker{
	".json": {
		data: true,
		plain: []string{
			"agree", "algorithm", "argument", "bytes", "calls_saved", "child", "code", "command", "extra_mean", "extra_p95", "file", "kind",
			"joined", "leave", "link_agree", "link_lo", "link_uses", "name", "occurrences", "operationId", "optional", "reason", "records",
			"required", "schema", "schema_sha256", "sha256", "status", "step", "support", "threshold", "times", "tool", "trajectories",
			"turns_saved", "versions", "weight", "whole",
		},
		whole: []string{"const", "default", "enum", "example", "examples"},
	},
	".yaml": {data: true, plain: []string{"operationId", "stepId", "workflowId"}},
}

var (
	bracketLine = regexp.MustCompile(`^\s*[\[\]{}]+,?$`)
	memberLine  = regexp.MustCompile(`^(\s*(?:- )?"?([A-Za-z_$][A-Za-z0-9_$.-]{0,63})"?\s*:)\s*(.*)$`)
	emptyValue  = regexp.MustCompile(`^[\[\]{}|>]*,?$`)
	plainValue  = regexp.MustCompile(`^"?[A-Za-z0-9_.:/ -]{0,80}"?,?$`)
)

// hidden returns which lines are inside a value.
func (m masker) hidden(all [][]byte) []bool {
	out := make([]bool, len(all))
	depth := -1 // the indentation of the member that is hidden, -1 for none
	for i, line := range all {
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		if depth >= 0 && indent > depth {
			out[i] = true
			continue
		}
		depth = -1
		if parts := memberLine.FindSubmatch(line); parts != nil && slices.Contains(m.whole, string(parts[2])) {
			depth = indent
		}
	}
	return out
}

// mask returns the line without values.
func (m masker) mask(line []byte, hidden bool) string {
	text := string(line)
	if !m.data || hidden {
		return "‹…›"
	}
	if bracketLine.MatchString(text) {
		return text
	}
	if parts := memberLine.FindStringSubmatch(text); parts != nil {
		value := parts[3]
		if emptyValue.MatchString(value) || slices.Contains(m.plain, parts[2]) && plainValue.MatchString(value) {
			return report.Escape(text)
		}
		return report.Escape(parts[1]) + " ‹…›"
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	return indent + "‹…›"
}

func joinLines(list []string) string { return strings.Join(list, "\n") }
