package trace

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/jsonscan"
)

// Cut ends t before the turn in which it makes its call number most, counted from 0, and
// notes that as bounds.CallsBound. A turn that makes more calls than that alone is cut
// inside. With at most so many calls t stays as it is.
func (t *Trajectory) Cut(most int) {
	if len(t.Calls) <= most {
		return
	}
	calls := most
	turns := sort.Search(len(t.Turns), func(i int) bool { return t.Turns[i].FirstCall+t.Turns[i].NumCalls > most })
	if turns < len(t.Turns) {
		if first := t.Turns[turns].FirstCall; first > 0 {
			calls = min(most, first)
		} else {
			t.Turns[turns].NumCalls = most
			turns++
		}
	}
	messages := sort.Search(len(t.Messages), func(i int) bool { return t.Messages[i].Call > calls || t.Messages[i].Turn > turns })
	t.LeaveOut(bounds.CallsBound, len(t.Calls)-calls)
	// Copies let go of what was left out.
	t.Calls = append([]Call(nil), t.Calls[:calls]...)
	t.Turns = append([]Turn(nil), t.Turns[:turns]...)
	t.Messages = append([]Message(nil), t.Messages[:messages]...)
}

// tooDeep returns the problem that texts of a trajectory are JSON nested deeper than
// jsonscan goes, nil if none is or it was told before. Such a text is one value to all
// who work on it; what stands in it is not found. JSON that is a part of its record is
// none of these: the record would have been refused.
func (p *pass) tooDeep(t *Trajectory) *diag.Error {
	if t == nil || p.wanted != nil {
		return nil
	}
	first, what, n := 0, "", 0
	for i := range t.Calls {
		c := &t.Calls[i]
		for _, part := range []struct {
			what string
			raw  Raw
		}{{"arguments", c.Args}, {"result", c.Result}} {
			if !part.raw.isTooDeep() {
				continue
			}
			if n++; n == 1 {
				first, what = i, part.what
			}
		}
	}
	if n == 0 {
		return nil
	}
	problem := diag.Warn(t.Source, jsonscan.CodeDepth, "the JSON of the %s of call %d is nested too deeply: at most 1,000 objects and arrays may be open at once; it is not looked into",
		what, first+1)
	if n > 1 {
		problem.Msg += fmt.Sprintf(", nor are %d others of this trajectory", n-1)
	}
	return problem
}

// isTooDeep reports whether the text of r is JSON that is nested too deeply. Few texts have
// so many brackets that they are read for it.
func (r Raw) isTooDeep() bool {
	if r.Form == FormJSON || len(r.Data) <= jsonscan.MaxDepth || bytes.Count(r.Data, []byte{'['})+bytes.Count(r.Data, []byte{'{'}) <= jsonscan.MaxDepth {
		return false
	}
	c := jsonscan.New(r.Content())
	found, ok := errors.AsType[*jsonscan.Error](c.End())
	return ok && found.Code == jsonscan.CodeDepth
}
