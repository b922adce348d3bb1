package cache

import (
	"cmp"
	"time"
	"unique"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/findings"
	"github.com/awo-dev/awo/trace"
)

// Record is a session without arguments, results and texts.
type Record struct {
	ID      string        `json:"i"`
	File    string        `json:"f"`
	Line    int           `json:"l"`
	Format  string        `json:"r"`
	Session string        `json:"s,omitempty"`
	Parent  string        `json:"p,omitempty"`
	Agent   string        `json:"a,omitempty"`
	Model   string        `json:"m,omitempty"`
	Folder  string        `json:"d,omitempty"`
	Outcome trace.Outcome `json:"o,omitempty"`
	Start   int64         `json:"b,omitempty"` // in microseconds since 1970; 0 for none

	Names []string        `json:"n,omitempty"` // tools and models, which the rest names by number
	Turns [][12]int64     `json:"t,omitempty"`
	Paid  map[int]float64 `json:"u,omitempty"` // by turn: what it records that it cost
	Calls [][3]int        `json:"c,omitempty"` // tool, turn, origin
	Seen  findings.Kept   `json:"w"`

	Definitions  int64             `json:"y,omitempty"`
	Offered      int               `json:"z,omitempty"`
	Prompt       uint64            `json:"h,omitempty"`
	Placeholders cost.Placeholders `json:"x,omitzero"`
}

// Session is a session as it is counted.
type Session struct {
	Trajectory   *trace.Trajectory // without arguments, results and texts
	Seen         *findings.Seen
	Placeholders cost.Placeholders

	record  *Record
	account *cost.Account // made of the texts, for turns without usage; nil for others
}

// Account returns the account of the session under a meter, which made it if texts were
// counted.
func (s *Session) Account(m *cost.Meter) *cost.Account {
	if s.account != nil {
		return s.account
	}
	a := m.Trajectory(s.Trajectory)
	a.Definitions, a.Offered, a.Prompt = s.record.Definitions, s.record.Offered, s.record.Prompt
	return a
}

// IsEstimated reports whether texts were counted: such a session cannot be kept.
func (s *Session) IsEstimated() bool { return s.account != nil }

// Record is what may be kept of the session.
func (s *Session) Record() *Record { return s.record }

// Prompt returns the model and a hash of the system prompt, which estimates go by.
func (s *Session) Prompt() (model string, prompt uint64) {
	t := s.Trajectory
	if len(t.Turns) > 0 {
		return cmp.Or(t.Turns[0].Model, t.Model), s.record.Prompt
	}
	return t.Model, s.record.Prompt
}

// New returns the session that t is, with what was seen in it and its account.
func New(t *trace.Trajectory, seen *findings.Seen, account *cost.Account) *Session {
	r := &Record{
		ID: t.ID, File: t.Source.File, Line: t.Source.Line, Format: t.Format, Session: t.Session, Parent: t.Parent.Trajectory,
		Agent: t.Agent, Model: t.Model, Folder: t.Folder, Outcome: t.Outcome, Start: micro(t.Started()),
		Definitions: account.Definitions, Offered: account.Offered, Prompt: account.Prompt,
	}
	numbers := map[string]int{}
	number := func(name string) int {
		n, ok := numbers[name]
		if !ok {
			n = len(r.Names)
			numbers[name] = n
			r.Names = append(r.Names, name)
		}
		return n
	}
	r.Seen = seen.Keep(func(name trace.Name) int { return number(name.Value()) })
	for i := range t.Turns {
		turn := &t.Turns[i]
		u, known := &turn.Usage, int64(0)
		if u.Known {
			known = 1
		}
		if u.CostUSD != nil {
			if r.Paid == nil {
				r.Paid = map[int]float64{}
			}
			r.Paid[i] = *u.CostUSD
		}
		r.Turns = append(r.Turns, [12]int64{
			int64(turn.FirstCall), int64(turn.NumCalls), int64(number(turn.Model)), micro(turn.Start), micro(turn.End),
			known, u.Input, u.CachedInput, u.CacheWrite, u.CacheWriteHour, u.Output, u.Reasoning,
		})
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		r.Calls = append(r.Calls, [3]int{number(c.Tool.Value()), c.Turn, int(c.Origin)})
	}
	r.Placeholders.Add(t)
	s, ok := r.Open()
	if !ok {
		panic("sessions: a session that was just recorded cannot be opened")
	}
	s.Trajectory.Ref = t.Ref
	if account.Estimated() > 0 {
		s.account = account
	}
	return s
}

// Open returns the session of a record, false if the record contradicts itself.
func (r *Record) Open() (*Session, bool) {
	names := make([]trace.Name, len(r.Names))
	for i, name := range r.Names {
		names[i] = unique.Make(name)
	}
	seen, ok := r.Seen.Seen(names)
	if !ok || r.Seen.Turns != len(r.Turns) {
		return nil, false
	}
	t := &trace.Trajectory{
		ID: r.ID, Source: diag.Pos{File: r.File, Line: r.Line}, Offset: -1, Format: r.Format, Session: r.Session, Parent: trace.Parent{Trajectory: r.Parent},
		Agent: r.Agent, Model: r.Model, Folder: r.Folder, Outcome: r.Outcome, Start: at(r.Start),
	}
	for i, x := range r.Turns {
		if x[2] < 0 || int(x[2]) >= len(names) || x[0] < 0 || x[1] < 0 || x[0]+x[1] > int64(len(r.Calls)) {
			return nil, false
		}
		turn := trace.Turn{FirstCall: int(x[0]), NumCalls: int(x[1]), Model: r.Names[x[2]], Start: at(x[3]), End: at(x[4])}
		turn.Usage = trace.Usage{Known: x[5] == 1, Input: x[6], CachedInput: x[7], CacheWrite: x[8], CacheWriteHour: x[9], Output: x[10], Reasoning: x[11]}
		if usd, ok := r.Paid[i]; ok {
			turn.Usage.CostUSD = &usd
		}
		t.Turns = append(t.Turns, turn)
	}
	for _, x := range r.Calls {
		if x[0] < 0 || x[0] >= len(names) || x[2] < 0 || x[2] > int(trace.OriginPrefetch) {
			return nil, false
		}
		t.Calls = append(t.Calls, trace.Call{Tool: names[x[0]], Turn: x[1], Origin: trace.Origin(x[2])})
	}
	return &Session{Trajectory: t, Seen: seen, Placeholders: r.Placeholders, record: r}, true
}

// micro is a time in microseconds since 1970, 0 for none.
func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return cmp.Or(t.UnixMicro(), 1)
}

func at(micro int64) time.Time {
	if micro == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}
