package trace

import (
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
)

// readID reads an id that is a string or a number.
func (b *builder) readID(c *jsonscan.Cursor) string {
	if text, ok := c.Text(); ok {
		return b.text(text)
	}
	if c.Kind() == jsonscan.Number {
		return b.text(c.Raw())
	}
	return ""
}

// finishRecord checks that the record was JSON to its end and returns its
// trajectory; shape says what a record lacks that is none.
func (b *builder) finishRecord(r Record, c *jsonscan.Cursor, shape string) ([]Fragment, error) {
	if err := c.End(); err != nil {
		return nil, scanError(r, err)
	}
	if shape != "" {
		return nil, diag.New(r.Pos(), CodeRecordShape, "%s", shape)
	}
	b.odd(CodeLoneSurrogate, c.LoneSurrogates())
	return []Fragment{{Trajectory: b.finish()}}, nil
}

// checkRecord checks that a record is JSON.
func checkRecord(r Record) error {
	c := jsonscan.New(r.Data)
	if err := c.End(); err != nil {
		return scanError(r, err)
	}
	return nil
}

// uniqueIDs gives trajectories without an id of their own the reader's.
func uniqueIDs(all []*Trajectory) {
	seen := map[string]bool{}
	for _, t := range all {
		if seen[t.ID] {
			t.ID = ""
		}
		seen[t.ID] = true
	}
}
