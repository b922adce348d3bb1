package analysis

import (
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
)

// Turns of recorded agents that a person read and labelled, by trajectory and turn: those
// that ask the user for what they need to go on, and those that do not. They were drawn at
// random, and the patterns were written after reading a hundred others.
var (
	labelledAsks = map[string][][2]int{
		"taubench/gpt-4o-airline.json":         {{160, 11}, {26, 0}, {20, 8}, {50, 0}, {151, 5}, {107, 2}, {57, 2}, {174, 5}, {19, 9}, {53, 0}, {13, 25}, {190, 0}, {21, 7}, {27, 0}, {165, 10}, {38, 5}},
		"tau2/airline_azure-gpt-4o.json":       {{2, 0}, {6, 3}, {30, 0}, {14, 2}, {40, 8}, {49, 4}, {24, 10}, {26, 3}, {28, 2}, {18, 0}, {42, 5}, {2, 5}, {12, 1}, {22, 8}, {47, 13}},
		"tau2/airline_gpt-oss-120b.json":       {{15, 0}, {37, 5}, {14, 9}, {15, 2}, {12, 0}, {14, 20}, {18, 4}, {4, 0}, {6, 7}, {33, 4}, {7, 5}, {11, 4}, {42, 19}},
		"tau2/retail_gpt-4.1.json":             {{38, 13}, {26, 1}, {36, 8}, {23, 9}, {31, 4}, {39, 3}, {7, 0}, {22, 8}, {24, 14}, {23, 7}, {35, 0}, {25, 0}, {18, 4}, {5, 8}, {23, 0}},
		"tau2/retail_toolorchestra-gpt-5.json": {{26, 0}, {52, 4}, {47, 5}, {53, 0}, {105, 1}, {23, 8}, {72, 6}, {12, 4}, {110, 5}, {41, 7}, {107, 0}, {9, 0}, {62, 0}},
	}
	labelledOthers = map[string][][2]int{
		"taubench/gpt-4o-airline.json":         {{67, 22}, {88, 4}, {136, 9}, {183, 11}},
		"tau2/airline_azure-gpt-4o.json":       {{10, 10}, {29, 10}, {24, 19}, {19, 13}, {4, 7}},
		"tau2/airline_gpt-oss-120b.json":       {{42, 23}, {46, 7}, {42, 17}, {12, 5}, {0, 2}, {17, 5}, {6, 11}},
		"tau2/retail_gpt-4.1.json":             {{35, 13}, {34, 11}, {23, 18}, {2, 7}, {26, 0}},
		"tau2/retail_toolorchestra-gpt-5.json": {{92, 9}, {111, 7}, {3, 8}, {4, 11}, {33, 6}, {95, 5}, {51, 7}},
	}
)

// Asking back is a row because it can be told: of the labelled turns nine in ten.
func TestAsksBack(t *testing.T) {
	right, all := 0, 0
	for asks, files := range map[bool]map[string][][2]int{true: labelledAsks, false: labelledOthers} {
		for file, turns := range files {
			list := recordings.Read(t, recordings.Recorded(t, file))
			for _, at := range turns {
				all++
				if asksBack(list[at[0]].Turns[at[1]].Text.Text()) == asks {
					right++
				} else {
					t.Logf("%s, trajectory %d, turn %d: asks back %v is not told", file, at[0], at[1], asks)
				}
			}
		}
	}
	t.Logf("%d of %d labelled turns are told", right, all)
	if all != 100 || right < 90 {
		t.Errorf("of %d turns %d are told right", all, right)
	}
}
