package office

import (
	"slices"
	"strings"
	"time"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// reply is what an agent got from a call.
type reply struct {
	ref
	call   int
	failed bool
}

// session is a run while it is being made.
type session struct {
	run     *Run
	rng     *world.Rand
	office  *world.World
	edition *world.Edition
	task    *task
	habits  habits
	meter   meter
	clock   time.Time

	passwords reply
	profile   reply
	tokens    map[string]ref // access tokens by application

	results   []world.Value // by call; the zero Value where there is none
	users     []string      // texts of the user messages
	offered   map[string]bool
	turnsLeft int
	stopped   bool
}

// unavailable is how often a service does not answer.
const unavailable = .015

// do makes calls in one turn of the model, and returns their replies, or nil if
// the run has broken off.
func (s *session) do(requests ...request) []reply {
	if s.stopped {
		return nil
	}
	if s.turnsLeft == 0 {
		s.breakOff(requests)
		return nil
	}
	s.turnsLeft--
	turn := s.think(requests)
	replies := make([]reply, len(turn.Calls))
	ended := s.clock
	for i := range turn.Calls {
		c := &turn.Calls[i]
		if s.rng.Chance(unavailable) {
			c.Result = world.Unavailable(c.Tool)
		} else {
			c.Result = c.Tool.Call(s.office, c.Args)
		}
		c.HasResult = true
		c.Start = s.clock
		c.End = s.clock.Add(s.rng.Spread(c.Tool.Latency)).Truncate(time.Millisecond)
		if c.End.After(ended) {
			ended = c.End
		}
		replies[i] = reply{
			ref:    ref{c.Result.Value, Source{Origin: FromResult, Call: len(s.results)}},
			call:   len(s.results),
			failed: c.Result.Failed,
		}
		s.results = append(s.results, c.Result.Value)
		s.meter.read(c.Result.Text())
	}
	s.clock = ended.Add(30 * time.Millisecond)
	return replies
}

// breakOff ends the run in the middle: either silently, or with calls whose
// results nobody recorded.
func (s *session) breakOff(requests []request) {
	s.stopped, s.run.Stopped = true, true
	if s.rng.Chance(.35) {
		s.think(requests)
	}
}

// think appends the turn in which the model asks for the calls.
func (s *session) think(requests []request) *Turn {
	turn := &Turn{Calls: make([]Call, len(requests))}
	if s.rng.Chance(s.habits.narrate) {
		turn.Text = narration(s.rng, requests)
	}
	if s.rng.Chance(s.habits.reason) {
		turn.Thought = thought(s.rng, requests)
	}
	output := 0
	for i, q := range requests {
		c := s.prepare(q)
		output += perCall + s.meter.counter.count(c.Tool.Name) + s.meter.counter.count(string(c.Args.Value().AppendJSON(nil)))
		turn.Calls[i] = c
	}
	s.respond(turn, output)
	return turn
}

// respond adds a turn with the output tokens of its calls to the run.
func (s *session) respond(turn *Turn, output int) {
	reasoning := 0
	if turn.Thought != "" {
		reasoning = s.meter.counter.count(turn.Thought)
	}
	output += reasoning
	if turn.Text != "" {
		output += s.meter.counter.count(turn.Text)
	}
	turn.Start = s.clock
	turn.Usage = s.meter.turn(s.clock, output, reasoning)
	latency := s.rng.Spread(550*time.Millisecond) +
		time.Duration(output*s.habits.perToken)*time.Millisecond +
		time.Duration((turn.Usage.Input-turn.Usage.Cached)/40)*time.Millisecond
	s.clock = s.clock.Add(latency).Truncate(time.Millisecond)
	turn.End = s.clock
	s.run.Events = append(s.run.Events, Event{Turn: turn})
}

// prepare turns a request into a call, with the names of the edition and a
// source for every leaf.
func (s *session) prepare(q request) Call {
	tool := s.edition.Op(q.op)
	c := Call{ID: callID(s.rng, s.habits.agent.Provider), Tool: tool, Args: make(world.Args, 0, len(q.args))}
	for _, a := range q.args {
		name := a.name
		for _, p := range tool.Params {
			if p.Op == name {
				name = p.Name
			}
		}
		value := world.Value{Kind: world.Array}
		for i, x := range a.values {
			path := name
			if a.list {
				path = world.PathIndex(name, i)
				value.Items = append(value.Items, x.value)
			} else {
				value = x.value
			}
			c.Sources = append(c.Sources, ArgSource{Arg: path, Source: s.complete(x)})
		}
		c.Args = append(c.Args, world.Member{Name: name, Value: value})
	}
	return c
}

// complete adds to a value's source what can only be said when it is used:
// whether the user said it, and which earlier leaves only look like it.
func (s *session) complete(x ref) Source {
	source := x.source
	source.Told = s.isTold(&source, x.value)
	if source.Parts != nil {
		source.Parts = slices.Clone(source.Parts)
		for i, p := range source.Parts {
			if p.Source != nil {
				part := *p.Source
				part.Told = s.isTold(&part, world.Str(p.Text))
				source.Parts[i].Source = &part
			}
		}
	}
	stranger := func(leaf world.Value) bool {
		if !leaf.SameText(x.value) {
			return false
		}
		switch source.Origin {
		case FromModel, FromConstant, FromTemplate:
			return true
		}
		return leaf.Datum != x.value.Datum
	}
	for call, v := range s.results {
		if !v.HasLeaf(stranger) {
			continue
		}
		v.Leaves(func(path string, leaf world.Value) {
			if !stranger(leaf) {
				return
			}
			p := Place{Call: call, Path: Pattern(path)}
			if source.Origin == FromResult && call == source.Call && p.Path == Pattern(source.Path) {
				return // another element of the same list: the same link
			}
			for _, seen := range source.Lookalikes {
				if seen == p {
					return
				}
			}
			source.Lookalikes = append(source.Lookalikes, p)
		})
	}
	return source
}

// isTold reports whether a value from a result stands in a user message too.
func (s *session) isTold(source *Source, v world.Value) bool {
	return source.Origin == FromResult && v.Datum == 0 && len(v.Text) > 2 &&
		slices.ContainsFunc(s.users, func(u string) bool { return strings.Contains(u, v.Text) })
}

// Pattern returns a path with [] for every index.
func Pattern(path string) string {
	if !strings.Contains(path, "[") {
		return path
	}
	b := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		b = append(b, path[i])
		if path[i] == '[' {
			for i+1 < len(path) && path[i+1] != ']' {
				i++
			}
		}
	}
	return string(b)
}

// say adds an answer: a turn without calls.
func (s *session) say(text string) {
	if !s.stopped {
		s.respond(&Turn{Text: text}, 0)
	}
}

// hear adds a user message and returns its index.
func (s *session) hear(text string) int {
	s.run.Events = append(s.run.Events, Event{User: &Message{Text: text, Time: s.clock}})
	s.users = append(s.users, text)
	s.meter.read(text)
	return len(s.users) - 1
}

// question asks the user something and returns the index of the answer, or -1
// if the run has broken off.
func (s *session) question(text, answer string) int {
	if s.stopped {
		return -1
	}
	if s.turnsLeft == 0 {
		s.stopped, s.run.Stopped = true, true
		return -1
	}
	s.turnsLeft--
	s.say(text)
	s.clock = s.clock.Add(s.rng.Spread(50 * time.Second)).Truncate(time.Millisecond)
	return s.hear(answer)
}

// callID returns an id in the provider's style.
func callID(r *world.Rand, provider string) string {
	if provider == "anthropic" {
		return "toolu_01" + world.Token(r.Uint64(), world.Base62, 22)
	}
	return "call_" + world.Token(r.Uint64(), world.Base62, 24)
}
