package prefetch

import (
	"slices"

	"github.com/awo-dev/awo/trace"
)

// Answer is a call that was answered.
type Answer struct {
	Call
	Result trace.Value // a string if it is no JSON
	Failed bool
}

// Read is a call to make ahead of the agent.
type Read struct {
	Call
	Rule  int // index into Set.Rules
	Level int // 0 after a message or at the beginning, 1 after an answer to the agent or to such a read, 2 after one to a read of level 1
}

// Session follows one run of an agent. It is not safe for concurrent use.
type Session struct {
	set      *Set
	bySource map[string][]int // rules, by tool

	asked  map[string]bool  // calls that were made, by the agent or ahead of it
	fresh  map[string]fresh // what was read ahead since the last change, and not yet asked for
	called map[string]bool  // tools
	failed bool             // the last call
	budget int              // reads that the answer at hand may still lead to

	matchers  []*Matcher // by rule
	begun     bool
	said      int             // reads that messages led to
	succeeded map[string]bool // tools that rules trust
	waiting   []waiting       // values that were met before a tool of their rule's trust succeeded
}

// waiting is a call that a message made possible, and that is not trusted yet.
type waiting struct {
	rule int
	call Call
}

// fresh is an answer that was read ahead.
type fresh struct{ rule, level int }

// NewSession returns the session of a run that begins. The set is not changed, and must
// not change.
func NewSession(set *Set) *Session { return NewSessions(set).Session() }

// Sessions are those of one set of rules. They may begin in several goroutines.
type Sessions struct {
	set      *Set
	bySource map[string][]int // rules, by tool; "" for those that no answer begins
	matchers []*Matcher       // by rule
}

// NewSessions checks a set for many runs. It is not changed, and must not change.
func NewSessions(set *Set) *Sessions {
	all := &Sessions{set: set, bySource: map[string][]int{}}
	if set.Check() != nil {
		return all // without rules nothing is read ahead
	}
	for i := range set.Rules {
		tool := set.Rules[i].Source.Tool
		all.bySource[tool] = append(all.bySource[tool], i)
		all.matchers = append(all.matchers, NewMatcher(&set.Rules[i]))
	}
	return all
}

// Session returns the session of a run that begins.
func (a *Sessions) Session() *Session {
	return &Session{
		set: a.set, bySource: a.bySource, matchers: a.matchers,
		asked: map[string]bool{}, fresh: map[string]fresh{}, called: map[string]bool{}, succeeded: map[string]bool{},
	}
}

// Start returns the reads to make at the beginning of the session, once. Said calls it: only
// who sees no messages needs it.
func (s *Session) Start() []Read {
	if s.begun {
		return nil
	}
	s.begun, s.budget = true, MaxSaid
	var out []Read
	for _, i := range s.bySource[""] {
		if s.set.Rules[i].Source.Kind == KindNone {
			out = s.make(out, i, 0, s.set.Rules[i].constant(nil, 0))
		}
	}
	return out
}

// Said returns the reads to make because of a message of the user: at most [MaxSaid], and
// [MaxSaidSession] of all messages. A value whose rule trusts nobody yet is kept until a tool
// of its trust has succeeded.
func (s *Session) Said(text string) []Read { return s.hear(text, "") }

// Passed is Said for who sees no messages, but calls: a text among the arguments of a call
// stands for a message in which it is, for reads of other tools.
func (s *Session) Passed(c Call) []Read {
	out := s.Start()
	for _, m := range c.Arguments.Members {
		if m.Value.Kind == trace.String {
			out = append(out, s.hear(m.Value.Text, c.Tool)...)
		}
	}
	return out
}

// hear returns the reads because of a text, but those of one tool.
func (s *Session) hear(text, but string) []Read {
	out := s.Start()
	s.budget = MaxSaid - len(out)
	offers := make([][]Offer, len(s.set.Rules)) // that were not made before
	for _, i := range s.bySource[""] {
		if s.set.Rules[i].Target.Tool == but {
			continue
		}
		offers[i] = slices.DeleteFunc(s.matchers[i].Said(text), func(o Offer) bool { return s.asked[o.Key()] })
	}
	for _, i := range s.bySource[""] {
		r := &s.set.Rules[i]
		if r.When.Alone && slices.ContainsFunc(s.bySource[""], func(k int) bool { return len(offers[k]) > 0 && s.set.Rules[k].Target.Tool != r.Target.Tool }) {
			continue
		}
		for _, o := range offers[i] {
			switch {
			case r.MaxElements > 0 && o.Element >= r.MaxElements:
			case s.trusts(r):
				if s.said < MaxSaidSession {
					before := len(out)
					out = s.make(out, i, 0, o)
					s.said += len(out) - before
				}
			case len(s.waiting) < MaxSaidSession:
				s.waiting = append(s.waiting, waiting{i, o.Call})
			}
		}
	}
	return out
}

// trusts reports whether a tool of a rule's trust has succeeded, or it needs none.
func (s *Session) trusts(r *Rule) bool {
	return r.Source.Trust == nil || slices.ContainsFunc(r.Source.Trust, func(tool string) bool { return s.succeeded[tool] })
}

// released returns the reads of values that waited for the success of a tool.
func (s *Session) released(tool string) []Read {
	if s.succeeded[tool] {
		return nil
	}
	s.succeeded[tool] = true
	var out []Read
	made := 0
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiting) bool {
		if made == MaxSaid || s.said == MaxSaidSession || !s.trusts(&s.set.Rules[w.rule]) {
			return false
		}
		before := len(out)
		out = s.make(out, w.rule, 0, Offer{Call: w.call})
		made, s.said = made+len(out)-before, s.said+len(out)-before
		return true
	})
	return out
}

// Has returns by which rule and at what level the call's answer was read ahead, and
// whether it was and nothing has made it stale.
func (s *Session) Has(c Call) (rule, level int, is bool) {
	f, is := s.fresh[c.Key()]
	return f.rule, f.level, is
}

// Take is Has for a call that an agent need not make because of it. It is taken once: an
// agent that asks again does not go by what it was given.
func (s *Session) Take(c Call) (rule, level int, is bool) {
	key := c.Key()
	f, is := s.fresh[key]
	delete(s.fresh, key)
	return f.rule, f.level, is
}

// Begin notes that the agent makes a call, before it is answered: what was read ahead is
// stale if the tool is not known to only read. It returns how many answers that were read
// ahead are lost by it.
func (s *Session) Begin(c Call) (stale int) {
	key := c.Key()
	delete(s.fresh, key) // the agent asks itself
	s.know(key)
	if s.set.reads(c.Tool) {
		return 0
	}
	return s.Changed()
}

// Changed notes that something may have changed that reads go by. It returns how many
// answers that were read ahead are lost by it.
func (s *Session) Changed() (stale int) {
	stale = len(s.fresh)
	clear(s.fresh)
	return stale
}

// Answered returns the reads to make because of an answer to the agent. Each is taken for
// made: what comes of it is told to Got. What was read ahead while a tool was at work that
// is not known to only read is stale; where such a call gets no answer, Changed says so.
func (s *Session) Answered(a Answer) []Read {
	if !s.set.reads(a.Tool) {
		s.Changed()
	}
	s.budget = MaxReads
	again, failed := s.called[a.Tool], s.failed
	s.called[a.Tool], s.failed = true, a.Failed
	if a.Failed {
		return nil
	}
	return append(s.released(a.Tool), s.follow(a, 1, again, failed)...)
}

// Got returns the reads to make because of a read that was answered, and did not fail.
func (s *Session) Got(r Read, result trace.Value) []Read {
	if r.Level > 1 {
		return nil
	}
	if r.Level == 0 {
		s.budget = MaxReads
	}
	again := s.called[r.Tool]
	s.called[r.Tool] = true
	return append(s.released(r.Tool), s.follow(Answer{Call: r.Call, Result: result}, r.Level+1, again, s.failed)...)
}

// Lost notes that a read was not answered, or not in time.
func (s *Session) Lost(r Read) { delete(s.fresh, r.Key()) }

func (s *Session) know(key string) bool {
	if s.asked[key] || len(s.asked) >= MaxKnown {
		return false
	}
	s.asked[key] = true
	return true
}

func (s *Session) follow(a Answer, level int, again, failed bool) []Read {
	var out []Read
	for _, i := range s.bySource[a.Tool] {
		r := &s.set.Rules[i]
		if level > r.Depth || !r.When.Holds(again, failed) {
			continue
		}
		for _, o := range r.Offers(a.Arguments, a.Result) {
			if r.MaxElements > 0 && o.Element >= r.MaxElements {
				break
			}
			out = s.make(out, i, level, o)
		}
	}
	return out
}

// make adds the read of an offer, unless the same call was made before or there is no budget
// left.
func (s *Session) make(out []Read, rule, level int, o Offer) []Read {
	call := o.Call.Keyed()
	key := call.Key()
	if s.budget <= 0 || !s.know(key) {
		return out
	}
	s.budget--
	s.fresh[key] = fresh{rule, level}
	return append(out, Read{call, rule, level})
}

// Holds reports whether a rule is followed after a call whose tool was called before or
// not, and before which a call failed or not.
func (w When) Holds(again, failed bool) bool {
	switch {
	case w.Turn == FirstTime && again, w.Turn == Again && !again:
		return false
	case w.Last == LastOK && failed, w.Last == LastFailed && !failed:
		return false
	}
	return true
}
