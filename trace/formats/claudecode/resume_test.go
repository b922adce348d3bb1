package claudecode_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// resumed returns lines as a session under another id has copied them; again
// gives them other ids too.
func resumed(session string, again bool, lines ...string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.Replace(l, `"sessionId":"s"`, `"sessionId":"`+session+`"`, 1)
		if again {
			for _, member := range []string{`"uuid":"`, `"parentUuid":"`} {
				out[i] = strings.Replace(out[i], member, member+session+"-", 1)
			}
			out[i] = strings.Replace(out[i], `"parentUuid":"`+session+`-"`, `"parentUuid":""`, 1)
		}
	}
	return out
}

func TestClaudeCodeResumed(t *testing.T) {
	said := func(text string) string { return fmt.Sprintf(`"message":{"role":"user","content":%q}`, text) }
	first := []string{
		line("user", "u1", "", 1, said("do it")),
		line("assistant", "a1", "u1", 2, piece("m1", 5, use("t1", "Read"))),
		line("user", "r1", "a1", 3, answer("t1", "text", false)),
		line("assistant", "a2", "r1", 4, piece("m2", 6, `{"type":"text","text":"half"}`)),
	}
	// Compacted, and gone on.
	more := []string{
		strings.Replace(line("system", "c1", "", 20, `"logicalParentUuid":"a2","subtype":"compact_boundary"`), `"parentUuid":""`, `"parentUuid":null`, 1),
		line("user", "c2", "c1", 21, `"isCompactSummary":true,`+said("summary of what was done")),
		line("user", "u2", "c2", 22, said("go on")),
		line("assistant", "a3", "u2", 23, piece("m3", 7, use("t2", "Edit"))),
		line("user", "r2", "a3", 24, answer("t2", "edited", false)),
	}
	elsewhere := []string{
		line("user", "f1", "r1", 30, said("not so")),
		line("assistant", "f2", "f1", 31, piece("m9", 9, use("t9", "Bash"))),
		line("user", "f3", "f2", 32, answer("t9", "gone", true)),
	}
	tests := []struct {
		name  string
		files [][]string
		want  []string
	}{
		{"copied with its ids", [][]string{first, resumed("n", false, append(first[:4:4], more...)...)}, []string{
			"s: Read@0 ok text Edit@2 ok edited; 5 6 7; user@0 do it system@2 summary of what was done user@2 go on; map[line-copied:4]",
		}},
		{"copied with ids of its own", [][]string{first, append(resumed("n", true, first...), resumed("n", true, line("user", "u2", "a2", 22, said("go on")), line("assistant", "a3", "u2", 23, piece("m3", 7, use("t2", "Edit"))))...)}, []string{
			"s: Read@0 ok text Edit@2 unknown -; 5 6 7; user@0 do it user@2 go on; map[line-copied:4]",
		}},
		{"twice", [][]string{first, resumed("n", false, append(first[:4:4], more[:4]...)...), resumed("o", true, append(append(first[:4:4], more[:4]...), more[4])...)}, []string{
			"s: Read@0 ok text Edit@2 ok edited; 5 6 7; user@0 do it system@2 summary of what was done user@2 go on; map[line-copied:11]",
		}},
		{"from the middle", [][]string{first, resumed("n", false, append(first[:3:3], elsewhere...)...)}, []string{
			"s: Read@0 ok text; 5 6; user@0 do it; map[line-copied:3]",
			"n: Bash@0 failed gone; 9; user@0 not so; map[history-forked:1]",
		}},
		{"the copy alone", [][]string{resumed("n", false, append(first[:4:4], more...)...)}, []string{
			"n: Read@0 ok text Edit@2 ok edited; 5 6 7; user@0 do it system@2 summary of what was done user@2 go on; map[]",
		}},
		{"two that begin with the same words", [][]string{first, resumed("n", true, strings.Replace(first[0], "10:00:01", "11:00:01", 1), strings.Replace(first[1], "10:00:02", "11:00:02", 1))}, []string{
			"s: Read@0 ok text; 5 6; user@0 do it; map[]",
			"n: Read@0 unknown -; 5; user@0 do it; map[]",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			for i, lines := range test.files {
				formattest.WriteFile(t, filepath.Join(folder, fmt.Sprintf("%d.jsonl", i)), strings.Join(lines, "\n")+"\n")
			}
			for _, o := range []trace.Options{{Workers: 1}, {Workers: 4, SpillBudget: 1, TempDir: t.TempDir()}} {
				got, problems := formattest.ReadProblems(t, o, folder)
				var found []string
				for _, x := range got {
					var output []string
					for _, turn := range x.Turns {
						output = append(output, fmt.Sprint(turn.Usage.Output))
					}
					found = append(found, fmt.Sprintf("%s: %s; %s; %s; %v", x.ID, strings.Join(formattest.Brief(x), " "), strings.Join(output, " "), strings.Join(formattest.Sayings(x), " "), x.Anomalies.ByCode))
					formattest.RoundTrip(t, x)
				}
				formattest.WantLines(t, "trajectories", found, test.want)
				formattest.WantLines(t, "problems", problems, nil)
			}
		})
	}
}
