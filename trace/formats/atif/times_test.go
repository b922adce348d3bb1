package atif_test

import (
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/atif"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

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
		at, ok := trace.ParseTime(text)
		if ok != readable {
			t.Errorf("%s is a time: %v", text, ok)
		}
		// As a record has it, and as a program may.
		for _, x := range append(formattest.DecodeAll(t, &atif.Format, []byte(formattest.ATIFDocument(`"steps":[{"source":"user","message":"u","timestamp":"`+text+`"},{"source":"agent","message":"a","timestamp":"`+text+`"}]`)), trace.ContainerDocument),
			&trace.Trajectory{ID: "x", Start: at, End: at, Turns: []trace.Turn{{Start: at, End: at}}}) {
			line, err := atif.Append(nil, x)
			if err != nil {
				t.Fatal(err)
			}
			if back := formattest.DecodeOne(t, &atif.Format, string(line)); len(back.Turns) != 1 {
				t.Errorf("%s: %d turns came back", text, len(back.Turns))
			}
		}
	}
}
