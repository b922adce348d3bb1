package changes

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// prefetchSchema is the version of prefetch.json that ReadRules reads.
const prefetchSchema = "awo.prefetch/v2"

// Rule is a rule for reading ahead. Nobody calls it, so no change of it breaks anything.
type Rule struct {
	ID     string `json:"id"`
	Source struct {
		Kind  string          `json:"kind"`
		Tool  string          `json:"tool"`
		Path  string          `json:"path"`
		Slots json.RawMessage `json:"slots"`
		Trust json.RawMessage `json:"trust"`
	} `json:"source"`
	Target struct {
		Tool      string          `json:"tool"`
		Argument  string          `json:"argument"`
		Constants json.RawMessage `json:"constants"`
		Bound     json.RawMessage `json:"bound"`
	} `json:"target"`
	When struct {
		Turn  string `json:"turn"`
		Last  string `json:"last"`
		Alone bool   `json:"alone"`
	} `json:"when"`
	MaxElements int `json:"max_elements"`
	Depth       int `json:"depth"`
	Use         struct {
		Value float64 `json:"value"`
		N     int     `json:"n"`
	} `json:"use"`
}

// ReadRules takes the rules of a file prefetch.json into the set. The error says what is
// wrong in a sentence without values.
func (s *Set) ReadRules(prefetch []byte) error {
	var file struct {
		Schema string `json:"schema"`
		Rules  []Rule `json:"rules"`
	}
	if err := json.Unmarshal(prefetch, &file); err != nil || file.Schema != prefetchSchema {
		return fmt.Errorf("it is no JSON of the form %s", prefetchSchema)
	}
	seen := map[string]bool{}
	for i := range file.Rules {
		if seen[file.Rules[i].ID] {
			return errors.New("two rules have one id")
		}
		seen[file.Rules[i].ID] = true
	}
	s.Rules = file.Rules
	return nil
}

// readsAhead compares rules for reading ahead: those that read the same values into the
// same argument are the same, whatever their number among several of one pair of tools.
func (c *comparison) readsAhead() {
	left := c.after.Rules
	for i := range c.before.Rules {
		a := &c.before.Rules[i]
		k := slices.IndexFunc(left, func(b Rule) bool { return sameReads(a, &b) })
		if k < 0 {
			c.add(Change{Code: "prefetch-removed", Rule: a.ID}, "%s is no longer prefetched after %s", a.Target.Tool, sourceOf(a))
			continue
		}
		c.rule(a, &left[k])
		left = slices.Delete(slices.Clone(left), k, k+1)
	}
	for i := range left {
		b := &left[i]
		c.add(Change{Code: "prefetch-added", Rule: b.ID}, "new: %s is prefetched after %s; used %.0f %% of %s", b.Target.Tool, sourceOf(b), 100*b.Use.Value, count(b.Use.N, "value", "values"))
	}
}

// sameReads reports whether two rules read the same values into the same argument.
func sameReads(a, b *Rule) bool {
	x, y := &a.Source, &b.Source
	return x.Kind == y.Kind && x.Tool == y.Tool && x.Path == y.Path && sameJSON(x.Slots, y.Slots) && a.Target.Tool == b.Target.Tool && a.Target.Argument == b.Target.Argument
}

// sourceOf says after what a rule is followed.
func sourceOf(r *Rule) string {
	switch {
	case r.Source.Kind == "user":
		return "a message of the user"
	case r.Source.Tool == "":
		return "the beginning of a session"
	}
	return r.Source.Tool
}

// rule compares what two rules do with the same values.
func (c *comparison) rule(a, b *Rule) {
	var what []string
	if a.When != b.When {
		what = append(what, fmt.Sprintf("it is followed %s, was %s", whenWords(b), whenWords(a)))
	}
	if a.MaxElements != b.MaxElements {
		what = append(what, fmt.Sprintf("it reads %s of an answer, was %s", elementWords(b), elementWords(a)))
	}
	if a.Depth != b.Depth {
		what = append(what, fmt.Sprintf("depth %d, was %d", b.Depth, a.Depth))
	}
	if !sameJSON(a.Source.Trust, b.Source.Trust) {
		what = append(what, "it waits for the success of other tools")
	}
	if !sameJSON(a.Target.Constants, b.Target.Constants) || !sameJSON(a.Target.Bound, b.Target.Bound) {
		what = append(what, "its other arguments come from elsewhere")
	}
	if len(what) > 0 {
		c.add(Change{Code: "prefetch-changed", Rule: a.ID}, "%s", strings.Join(what, "; "))
	}
	if a.Use != b.Use {
		c.add(Change{Code: "prefetch-use-changed", Rule: a.ID}, "used %.0f %% of %s, was %.0f %% of %d", 100*b.Use.Value, count(b.Use.N, "value", "values"), 100*a.Use.Value, a.Use.N)
	}
}

func whenWords(r *Rule) string {
	words := map[string]string{"first": "the first time", "again": "not the first time"}[r.When.Turn]
	if words == "" {
		words = "always"
	}
	if r.When.Alone {
		words += " if the message gives no other read to make"
	}
	switch r.When.Last {
	case "ok":
		words += " unless a call failed right before"
	case "failed":
		words += " if a call failed right before"
	}
	return words
}

func elementWords(r *Rule) string {
	if r.MaxElements == 0 {
		return "all values"
	}
	return "the first " + count(r.MaxElements, "value", "values")
}

func sameJSON(a, b json.RawMessage) bool {
	x, err := trace.ParseValue(a)
	y, wrong := trace.ParseValue(b)
	if err != nil || wrong != nil {
		return string(a) == string(b)
	}
	return x.Equal(y)
}
