package findings

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/trace"
)

// maxPrompt is how much of a system prompt is compared with the next one, in bytes.
const maxPrompt = 64 << 10

// caches is what prompt caches did, and could have done.
type caches struct {
	unsaid  int                 // trajectories in which one was on and the usage does not say so
	prompts map[string]*prompts // by agent and model
}

// prompts are system prompts of one agent and model: what all of them begin and end with.
type prompts struct {
	count, longest int
	begin, end     string
}

// cache looks at what a cache did for t, and returns it, nil if its usage says nothing.
func (f *Finder) cache(t *trace.Trajectory, isFailed, coding bool, account *cost.Account) *cost.Cache {
	if account == nil {
		return nil
	}
	if !coding { // whose system prompt is not the user's to change
		f.caches.compare(t)
	}
	c := account.Caching(t)
	if c.Unsaid {
		f.caches.unsaid++
	}
	if len(c.Turns) == 0 || c.Priced && c.Paid <= 0 {
		return nil
	}
	code := BrokenCache
	if c.Off {
		code = NoCache
	}
	s := f.sums(hitKey{code: code})
	s.count += len(c.Turns)
	s.trajectories++
	if coding {
		s.coding++
	}
	s.see(t, len(c.Turns))
	if isFailed {
		s.failed++
		s.inFailed += len(c.Turns)
	}
	s.turns += len(c.Turns)
	s.usage += len(c.Turns)
	s.tokens += c.Tokens
	if c.Priced {
		s.priced += len(c.Turns)
		s.money += c.Paid
	}
	return c
}

// compare notes what the system prompt of t begins and ends with, among those of the same
// agent and model.
func (c *caches) compare(t *trace.Trajectory) {
	var b strings.Builder
	for i := range t.Messages {
		if m := &t.Messages[i]; m.Role == trace.RoleSystem && m.Turn == 0 && b.Len() < maxPrompt {
			b.WriteString(m.Text.Text())
		}
	}
	prompt := b.String()[:min(b.Len(), maxPrompt)]
	if prompt == "" {
		return
	}
	key := t.Agent + "\x00" + t.Model
	p := c.prompts[key]
	switch {
	case p == nil && len(c.prompts) < MaxTools:
		if c.prompts == nil {
			c.prompts = map[string]*prompts{}
		}
		c.prompts[key] = &prompts{count: 1, longest: len(prompt), begin: prompt, end: prompt}
	case p != nil:
		p.count++
		p.longest = max(p.longest, len(prompt))
		n := 0
		for n < min(len(p.begin), len(prompt)) && p.begin[n] == prompt[n] {
			n++
		}
		p.begin = p.begin[:n]
		n = 0
		for n < min(len(p.end), len(prompt)) && p.end[len(p.end)-1-n] == prompt[len(prompt)-1-n] {
			n++
		}
		p.end = p.end[len(p.end)-n:]
	}
}

// first returns the character at which the system prompts of the agent and model with most
// trajectories first differ, 0 if they are equal, or are not one prompt with a changing part.
func (c *caches) first() int {
	var most *prompts
	for _, key := range slices.Sorted(maps.Keys(c.prompts)) {
		if p := c.prompts[key]; most == nil || p.count > most.count {
			most = p
		}
	}
	if most == nil || len(most.begin) == most.longest || 2*(len(most.begin)+len(most.end)) < most.longest {
		return 0
	}
	return utf8.RuneCountInString(most.begin) + 1
}
