package office

import (
	"github.com/awo-dev/awo/testdata/gen/truth"
	"github.com/awo-dev/awo/testdata/gen/world"
)

// Facts returns what is true of the whole corpus: a truth file without
// trajectories and totals.
func (o *Office) Facts() *truth.File {
	f := &truth.File{
		Schema: truth.Schema,
		Corpus: truth.Corpus{
			Seed: o.Options.Seed, Trajectories: o.Options.Trajectories, Trials: o.Options.Trials, Days: o.Options.Days,
			Drift: o.Options.Drift, Tokens: "o200k",
		},
		Tools:        effectsOf(o.first, o.second),
		Commutation:  commutation(o.first),
		Interactions: interactions(),
		Observations: []truth.Observation{
			{Write: "calendar_create_event", Read: "contacts_get", Path: "next_meeting"},
			{Write: "calendar_update_event", Read: "contacts_get", Path: "next_meeting"},
			{Write: "calendar_delete_event", Read: "contacts_get", Path: "next_meeting"},
			{Write: "payments_pay_invoice", Read: "mail_read", Path: "folder"},
			{Write: "payments_pay_invoice", Read: "mail_list", Path: "messages[].message_id"},
		},
		Chains:       chains(),
		Coincidences: coincidences(),
	}
	if o.Options.Tokens == Approximate {
		f.Corpus.Tokens = "approximate"
	}
	if o.Options.Drift {
		f.Drift = o.drift()
	}
	return f
}

func (o *Office) drift() *truth.Drift {
	d := &truth.Drift{
		From: o.DriftAt(), Renamed: make(map[string]string),
		Habits: "agents look up the profile first where they did not, and the other way round; most log in to everything at once; " +
			"fewer open details and read back what they changed; more ask before they pay",
	}
	for _, t := range o.first.Tools {
		later := o.second.Op(t.Op)
		if later.Name != t.Name {
			d.Renamed[t.Name] = later.Name
		}
		for i, p := range later.Params {
			switch {
			case i >= len(t.Params):
				d.Changed = append(d.Changed, truth.Change{Tool: t.Name, What: "new required argument " + p.Name})
			case p.Name != t.Params[i].Name:
				d.Changed = append(d.Changed, truth.Change{Tool: t.Name, What: "argument " + t.Params[i].Name + " is called " + p.Name})
			}
		}
	}
	return d
}

// interactions returns the writes that secretly do not commute.
func interactions() []truth.Interaction {
	return []truth.Interaction{{
		A: "payments_pay_invoice", B: "mail_move",
		When:   "the message is the one that brought the invoice: paying moves it to the folder paid",
		SeenBy: []string{"mail_read", "mail_list"},
	}}
}

// commutation returns what is claimed of pairs of writes.
func commutation(e *world.Edition) []truth.Pair {
	var pairs []truth.Pair
	for i, a := range e.Tools {
		for _, b := range e.Tools[i:] {
			if a.Effect != world.Mutator || b.Effect != world.Mutator {
				continue
			}
			switch {
			case a.Domain == "" || b.Domain == "":
				pairs = append(pairs, truth.Pair{A: a.Name, B: b.Name})
			case a.Domain != b.Domain:
				pairs = append(pairs, truth.Pair{A: a.Name, B: b.Name, Commutes: true})
			}
		}
	}
	for _, x := range interactions() {
		pairs = append(pairs, truth.Pair{A: x.A, B: x.B})
	}
	return pairs
}

// Truth returns what is true of a run.
func (o *Office) Truth(r *Run) truth.Trajectory {
	t := truth.Trajectory{
		ID: r.ID, Task: r.Task, Trial: r.Trial, Family: r.Family, Office: r.Persona, Agent: r.Agent.Name, Model: r.Agent.Model,
		Second: r.Second, Solved: r.Solved, Stopped: r.Stopped,
		Calls: []truth.Call{},
	}
	var calls []*Call
	var afterUser []bool
	user := false
	for _, e := range r.Events {
		if e.User != nil {
			t.UserMessages++
			user = len(calls) > 0
			continue
		}
		if len(e.Turn.Calls) > 0 {
			t.CallingTurns++
		}
		for i := range e.Turn.Calls {
			c := &e.Turn.Calls[i]
			t.Calls = append(t.Calls, c.truth(t.Turns, user))
			calls, afterUser = append(calls, c), append(afterUser, user)
			user = false
		}
		t.Turns++
	}
	for i := range o.chains {
		t.Chains = append(t.Chains, occurrences(&o.chains[i], calls, afterUser)...)
	}
	for i := range o.coincidences {
		t.Coincidences = append(t.Coincidences, coincide(&o.coincidences[i], calls)...)
	}
	return t
}

func (c *Call) truth(turn int, afterUser bool) truth.Call {
	t := truth.Call{Tool: c.Tool.Name, Turn: turn, AfterUser: afterUser, Status: c.Status()}
	if len(c.Sources) > 0 {
		t.Args = make(map[string]truth.Source, len(c.Sources))
	}
	for i := range c.Sources {
		t.Args[c.Sources[i].Arg] = c.Sources[i].truth()
	}
	return t
}

// Status returns "ok", "failed", or "unknown" for a call without a result.
func (c *Call) Status() string {
	switch {
	case !c.HasResult:
		return "unknown"
	case c.Result.Failed:
		return "failed"
	}
	return "ok"
}

func (s *Source) truth() truth.Source {
	t := truth.Source{
		From: string(s.Origin), Call: s.Call, Path: s.Path, Key: s.Key, Is: s.KeyValue,
		Message: s.Message, Date: s.Date, Told: s.Told,
	}
	for _, p := range s.Parts {
		part := truth.Part{Text: p.Text}
		if p.Source != nil {
			source := p.Source.truth()
			part.Source = &source
		}
		t.Parts = append(t.Parts, part)
	}
	for _, p := range s.Lookalikes {
		t.Not = append(t.Not, truth.Place(p))
	}
	return t
}

// Tally adds up the totals of a corpus, in memory that does not grow with it.
// The zero value is ready for use.
type Tally struct {
	totals truth.Totals
	tools  map[string]bool
}

// Add adds a trajectory.
func (y *Tally) Add(t *truth.Trajectory) {
	if y.tools == nil {
		y.tools = make(map[string]bool)
		y.totals.ArgsFrom = make(map[string]int)
		y.totals.Chains = make(map[string]truth.Count)
		y.totals.Coincidences = make(map[string]truth.Count)
	}
	n := &y.totals
	n.Trajectories++
	if len(t.Calls) == 0 {
		n.Empty++
	}
	if t.Solved {
		n.Solved++
	}
	n.Turns += t.Turns
	n.CallingTurns += t.CallingTurns
	n.UserMessages += t.UserMessages
	n.Calls += len(t.Calls)
	for _, c := range t.Calls {
		y.tools[c.Tool] = true
		switch c.Status {
		case "failed":
			n.Failed++
		case "unknown":
			n.NoResult++
		}
		if c.AfterUser {
			n.AfterUser++
		}
		for _, s := range c.Args {
			n.Args++
			n.ArgsFrom[s.From]++
		}
	}
	seen := make(map[string]bool)
	for _, c := range t.Chains {
		count(n.Chains, seen, c.Chain)
	}
	for _, c := range t.Coincidences {
		count(n.Coincidences, seen, c.ID)
	}
}

// count adds one occurrence; seen holds what this trajectory already has.
func count(counts map[string]truth.Count, seen map[string]bool, id string) {
	c := counts[id]
	c.Occurrences++
	if !seen[id] {
		seen[id] = true
		c.Trajectories++
	}
	counts[id] = c
}

// Totals returns the totals of a corpus all of whose runs were added.
func (y *Tally) Totals(o Options) truth.Totals {
	o = o.defaults()
	n := y.totals
	n.Tasks, n.Tools = (o.Trajectories+o.Trials-1)/o.Trials, len(y.tools)
	return n
}
