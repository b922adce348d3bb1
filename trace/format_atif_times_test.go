package trace

import "testing"

// TestTimesAtTheEnds holds that times whose year is before 1 or behind 9999, which
// JSON has no text for, neither end a decoder nor the writer: an offset or a leap
// second makes such a time of one that can be read.
func TestTimesAtTheEnds(t *testing.T) {
	for text, readable := range map[string]bool{
		"0000-01-01T00:00:00Z":      false,
		"0001-01-01T00:00:00+14:00": true, // the year 0
		"0001-01-01T00:00:00Z":      true,
		"9999-12-31T23:59:60Z":      true, // the year 10000
		"9999-12-31T23:00:00-14:00": true,
		"10000-01-01T00:00:00Z":     false,
		"-001-01-01T00:00:00Z":      false,
	} {
		at, ok := ParseTime(text)
		if ok != readable {
			t.Errorf("%s is a time: %v", text, ok)
		}
		// As a record has it, and as a program may.
		for _, x := range append(decodeAll(t, &formatATIF, []byte(atifDocument(`"steps":[{"source":"user","message":"u","timestamp":"`+text+`"},{"source":"agent","message":"a","timestamp":"`+text+`"}]`)), ContainerDocument),
			&Trajectory{ID: "x", Start: at, End: at, Turns: []Turn{{Start: at, End: at}}}) {
			line, err := AppendATIF(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			if back := decodeOne(t, &formatATIF, string(line)); len(back.Turns) != 1 {
				t.Errorf("%s: %d turns came back", text, len(back.Turns))
			}
		}
	}
}
