package prefetch

import "github.com/awo-dev/awo/trace"

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
	Level int // 1 after an answer to the agent, 2 after an answer that was read ahead
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
}

// fresh is an answer that was read ahead.
type fresh struct{ rule, level int }

// NewSession returns the session of a run that begins. The set is not changed, and must
// not change.
func NewSession(set *Set) *Session { return NewSessions(set).Session() }

// Sessions are those of one set of rules. They may begin in several goroutines.
type Sessions struct {
	set      *Set
	bySource map[string][]int // rules, by tool
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
	}
	return all
}

// Session returns the session of a run that begins.
func (a *Sessions) Session() *Session {
	return &Session{set: a.set, bySource: a.bySource, asked: map[string]bool{}, fresh: map[string]fresh{}, called: map[string]bool{}}
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
	return s.follow(a, 1, again, failed)
}

// Got returns the reads to make because of a read of the first level that was answered.
func (s *Session) Got(r Read, result trace.Value) []Read {
	if r.Level != 1 {
		return nil
	}
	again := s.called[r.Tool]
	s.called[r.Tool] = true
	return s.follow(Answer{Call: r.Call, Result: result}, 2, again, s.failed)
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
			if r.MaxElements > 0 && o.Element >= r.MaxElements || s.budget == 0 {
				break
			}
			call := o.Call.Keyed()
			key := call.Key()
			if !s.know(key) {
				continue
			}
			s.budget--
			s.fresh[key] = fresh{i, level}
			out = append(out, Read{call, i, level})
		}
	}
	return out
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
