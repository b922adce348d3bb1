package count

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/awo-dev/awo/internal/contrast"
	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Rules is a rule file, with the files that it includes, as texts by name: workers have
// no folder to read them from.
type Rules struct {
	File  string // the name of the file itself
	Texts map[string]string
}

// ReadRules reads a rule file and what it includes. Problems are for Parse to find.
func ReadRules(file string, read func(name string) ([]byte, error)) (*Rules, error) {
	text, err := read(file)
	if err != nil {
		return nil, err
	}
	r := &Rules{File: file, Texts: map[string]string{file: string(text)}}
	rules.Options{Load: func(name string) ([]byte, error) {
		text, err := read(name)
		if err == nil {
			r.Texts[name] = string(text)
		}
		return text, err
	}}.Check(file, text)
	return r, nil
}

// Parse returns the rules, nil of nil. Warnings are no errors.
func (r *Rules) Parse() (*rules.Set, error) {
	if r == nil {
		return nil, nil
	}
	set, problems := rules.Options{Load: func(name string) ([]byte, error) {
		if text, ok := r.Texts[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}}.Check(r.File, []byte(r.Texts[r.File]))
	if err := problems.Err(); err != nil {
		return nil, problems
	}
	return set, nil
}

// Choice is what tells rules apart in a summary: a hash of the texts, "" for none. Names
// of files are not in it.
func (r *Rules) Choice() string {
	if r == nil {
		return ""
	}
	texts := []string{r.Texts[r.File]}
	for _, name := range slices.Sorted(maps.Keys(r.Texts)) {
		if name != r.File {
			texts = append(texts, r.Texts[name])
		}
	}
	return hashOf(texts...)
}

// Artefact is a file that extraction wrote, as text: meta-tools, or rules for reading ahead.
type Artefact struct{ File, Text string }

// Choice is what tells artefacts apart in a summary: a hash of the text, "" for none.
func (a *Artefact) Choice() string {
	if a == nil {
		return ""
	}
	return hashOf(a.Text)
}

func hashOf(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:8])
}

// Counter counts trajectories into a summary.
type Counter struct {
	sum      *summary.Summary
	options  Options
	splitter *shell.Splitter

	// What asks for calls as they are recorded; nil for what is not counted.
	verifier *replay.Verifier
	measure  *learn.Measure
	compared *contrast.Set
	rewriter *merge.Rewriter
	set      *rules.Set
	statuses []trace.Status // scratch
}

// NewCounter returns what counts under the options. Problems of rules and meta-tools are
// errors.
func (o Options) NewCounter() (*Counter, error) {
	if err := o.whole(); err != nil {
		return nil, err
	}
	set, err := o.Rules.Parse()
	if err != nil {
		return nil, err
	}
	c := &Counter{sum: o.New(), options: o, splitter: Splitter(o.Shell), set: set}
	if o.Compare != nil {
		c.compared = contrast.NewSet()
	}
	if o.Tools != nil {
		tools, err := arazzo.Parse(o.Tools.File, []byte(o.Tools.Text))
		if err != nil {
			return nil, err
		}
		c.verifier = replay.NewVerifier(tools)
	}
	if o.Prefetch != nil {
		ahead, err := stored.Decode(o.Prefetch.File, []byte(o.Prefetch.Text))
		if err != nil {
			return nil, err
		}
		c.measure = learn.NewMeasure(&ahead.Set)
	}
	if set != nil && (c.verifier != nil || c.measure != nil) {
		c.rewriter = merge.NewRewriter(set, merge.Full(set), nil, nil)
	}
	return c, nil
}

// whole returns an error where meta-tools are counted and calls are left out: `awo verify`
// leaves none out.
func (o Options) whole() error {
	if o.Tools == nil && o.Prefetch == nil {
		if o.Rules != nil {
			return fmt.Errorf("--rules says how the meta-tools of --tools are counted; give --tools too")
		}
		return nil
	}
	if o.DropFailed || len(o.ExcludeTool) > 0 || o.MinLength > 0 {
		return fmt.Errorf("--tools counts whole trajectories, without --drop-failed, --exclude-tool and --min-length")
	}
	return nil
}

// Statuses are what says how calls ended, from their results.
func (c *Counter) Statuses() *merge.Statuses { return merge.NewStatuses(c.set) }

// Take counts what asks for calls as they are recorded, then tells those of shells apart
// and takes out what the options exclude. It returns false where the trajectory is left
// out; Add wants the others.
func (c *Counter) Take(t *trace.Trajectory) bool {
	if c.verifier != nil || c.measure != nil {
		c.verify(t)
	}
	if c.splitter != nil {
		c.splitter.Split(t)
	}
	return c.options.Excludes(t)
}

// verify replays the meta-tools, and counts what rules for reading ahead offer.
func (c *Counter) verify(t *trace.Trajectory) {
	var marks []merge.Mark
	if c.rewriter != nil {
		defer c.remember(t)()
		marks = merge.Marks(t, c.rewriter.Rewrite(t))
	}
	if c.verifier != nil {
		c.verifier.Add(c.verifier.Check(t, marks))
	}
	if c.measure != nil {
		c.measure.Add(c.measure.Observe(t))
	}
}

// remember returns what gives the calls their statuses back: what rules say of how calls
// ended is for one count alone.
func (c *Counter) remember(t *trace.Trajectory) (restore func()) {
	c.statuses = c.statuses[:0]
	for i := range t.Calls {
		c.statuses = append(c.statuses, t.Calls[i].Status)
	}
	return func() {
		for i, status := range c.statuses {
			t.Calls[i].Status = status
		}
	}
}

// Add counts a trajectory that Take has left in.
func (c *Counter) Add(t *trace.Trajectory) {
	c.sum.Add(t)
	if c.compared != nil {
		c.compared.Add(t, c.options.Compare(t))
	}
}

// Summary returns what was counted. The counter must not be used afterwards.
func (c *Counter) Summary() *summary.Summary {
	if c.verifier != nil {
		c.verifier.AddTo(c.sum.AddN)
	}
	if c.measure != nil {
		c.measure.AddTo(c.sum.AddN, c.sum.AddTaskN)
	}
	if c.compared != nil {
		c.compared.AddTo(c.sum.AddN, c.sum.AddTaskN)
	}
	return c.sum
}
