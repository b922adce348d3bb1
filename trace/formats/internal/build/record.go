package build

import (
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// ReadID reads an id that is a string or a number.
func (b *Builder) ReadID(c *jsonscan.Cursor) string {
	if text, ok := c.Text(); ok {
		return b.Text(text)
	}
	if c.Kind() == jsonscan.Number {
		return b.Text(c.Raw())
	}
	return ""
}

// FinishRecord checks that the record was JSON to its end and returns its
// trajectory; shape says what a record lacks that is none.
func (b *Builder) FinishRecord(r trace.Record, c *jsonscan.Cursor, shape string) ([]trace.Fragment, error) {
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	if shape != "" {
		return nil, diag.New(r.Pos(), CodeRecordShape, "%s", shape)
	}
	b.Anomaly(CodeLoneSurrogate, c.LoneSurrogates())
	if b.Memo != nil {
		b.Memo.Note(len(r.Data), b.Trajectory)
	}
	return []trace.Fragment{{Trajectory: b.Finish()}}, nil
}

// CheckRecord checks that a record is JSON.
func CheckRecord(r trace.Record) error {
	c := jsonscan.New(r.Data)
	if err := c.End(); err != nil {
		return trace.ScanError(r, err)
	}
	return nil
}

// UniqueIDs gives trajectories without an id of their own the reader's.
func UniqueIDs(all []*trace.Trajectory) {
	seen := map[string]bool{}
	for _, t := range all {
		if seen[t.ID] {
			t.ID = ""
		}
		seen[t.ID] = true
	}
}
