package recordings

import "testing"

const office = "../../testdata/office/"

func TestOffice(t *testing.T) {
	list := Read(t, office+"trajectories.jsonl.gz")
	if len(list) != 300 {
		t.Fatalf("%d trajectories", len(list))
	}
	for range 2 {
		n := 0
		for one, err := range Source(list)() {
			if err != nil || one != list[n] {
				t.Fatalf("%d: %v", n, err)
			}
			if n++; n == 10 {
				break
			}
		}
		if n != 10 {
			t.Errorf("%d of 10 trajectories", n)
		}
	}
	if set := Rules(t, office+"rules.yaml"); len(set.Rules) == 0 {
		t.Error("no rules")
	}
}

// TestMissing: a test whose traces are not there is skipped, and does not fail.
func TestMissing(t *testing.T) {
	for name, read := range map[string]func(t *testing.T){
		"traces":   func(t *testing.T) { Read(t, "missing.jsonl") },
		"recorded": func(t *testing.T) { Read(t, Recorded(t, "missing/set.json")) },
		"rules":    func(t *testing.T) { Rules(t, "missing.yaml") },
		"oracle":   func(t *testing.T) { Oracle(t, "missing.json") },
	} {
		skipped := false
		if !t.Run(name, func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			read(t)
		}) || !skipped {
			t.Errorf("%s: not skipped", name)
		}
	}
}

// TestSets: the figures of every set are where its traces are.
func TestSets(t *testing.T) {
	for _, set := range Sets {
		Bytes(t, Recorded(t, set.File))
		if len(Oracle(t, set.Oracle+".expected.json")) == 0 {
			t.Errorf("%s: no figures", set.Oracle)
		}
	}
	if len(AirlineRules(t).Rules) == 0 {
		t.Error("no rules")
	}
}
