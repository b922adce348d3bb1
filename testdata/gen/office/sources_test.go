package office

import (
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// corpora are the options that the tests of this package go over.
func corpora() map[string]Options {
	return map[string]Options{
		"committed":  {},
		"approx":     {Seed: 3, Trajectories: 600, Tokens: Approximate},
		"drift":      {Seed: 4, Trajectories: 400, Tokens: Approximate, Drift: true},
		"two trials": {Seed: 5, Trajectories: 101, Trials: 2, Tokens: Approximate},
	}
}

func newOffice(t testing.TB, o Options) *Office {
	t.Helper()
	office, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return office
}

// every calls f with every run of every corpus.
func every(t *testing.T, f func(t *testing.T, o *Office, r *Run)) {
	for name, options := range corpora() {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, options)
			for r := range o.Runs() {
				f(t, o, r)
			}
		})
	}
}

// leavesOf returns the leaves of a result by their paths.
func leavesOf(v world.Value) map[string]world.Value {
	leaves := make(map[string]world.Value)
	v.Leaves(func(path string, leaf world.Value) { leaves[path] = leaf })
	return leaves
}

// TestSourcesHold: every leaf of every argument has a source, and the value is
// at the place that it names.
func TestSourcesHold(t *testing.T) {
	every(t, func(t *testing.T, _ *Office, r *Run) {
		calls := r.Calls()
		turns := turnOf(r)
		before := usersBefore(r)
		for i, c := range calls {
			args := leavesOf(c.Args.Value())
			if len(args) != len(c.Sources) {
				t.Fatalf("%s call %d: %d leaves, %d sources", r.ID, i, len(args), len(c.Sources))
			}
			for _, s := range c.Sources {
				value, ok := args[s.Arg]
				if !ok {
					t.Fatalf("%s call %d: no argument %s", r.ID, i, s.Arg)
				}
				check := sourceChecker{t: t, run: r, call: i, calls: calls, turns: turns, users: before[i]}
				check.holds(s.Arg, value, &s.Source)
			}
		}
	})
}

type sourceChecker struct {
	t     *testing.T
	run   *Run
	call  int
	calls []*Call
	turns []int
	users []string // user messages before the call
}

func (k sourceChecker) holds(arg string, value world.Value, s *Source) {
	k.t.Helper()
	fail := func(format string, args ...any) {
		k.t.Helper()
		k.t.Fatalf("%s call %d (%s) %s: "+format, append([]any{k.run.ID, k.call, k.calls[k.call].Tool.Name, arg}, args...)...)
	}
	switch s.Origin {
	case FromResult:
		if s.Call >= k.call || k.turns[s.Call] >= k.turns[k.call] {
			fail("comes from call %d, which is not before it", s.Call)
		}
		source := k.calls[s.Call]
		got, ok := leavesOf(source.Result.Value)[s.Path]
		if !ok || !got.SameText(value) {
			fail("is not at %s of call %d", s.Path, s.Call)
		}
		if s.Key != "" {
			element := s.Path[:strings.LastIndex(s.Path, "]")+1]
			key, ok := leavesOf(source.Result.Value)[world.PathName(element, s.Key)]
			if !ok || key.Text != s.KeyValue {
				fail("was not chosen by %s = %s", s.Key, s.KeyValue)
			}
		}
		told := false
		for _, u := range k.users {
			told = told || strings.Contains(u, value.Text) && len(value.Text) > 2 && value.Datum == 0 && got.Datum == 0
		}
		if told != s.Told {
			fail("told is %v", s.Told)
		}
	case FromTask, FromUser:
		text := k.users[0]
		if s.Origin == FromUser {
			text = k.users[s.Message]
		}
		want := value.Text
		if s.Date {
			d, err := time.Parse(time.DateOnly, want)
			if err != nil {
				fail("%v", err)
			}
			want = d.Format("2 January 2006")
		}
		if !strings.Contains(text, want) {
			fail("%q is not in what the user said", want)
		}
	case FromTemplate:
		text := ""
		for _, p := range s.Parts {
			text += p.Text
			if p.Source != nil {
				k.holds(arg, world.Str(p.Text), p.Source)
			}
		}
		if text != value.Text {
			fail("the template gives %q", text)
		}
	case FromModel, FromConstant:
	default:
		fail("has no source")
	}
	for _, p := range s.Lookalikes {
		found := false
		k.calls[p.Call].Result.Value.Leaves(func(path string, leaf world.Value) {
			found = found || Pattern(path) == p.Path && leaf.SameText(value)
		})
		if !found || p.Call >= k.call {
			fail("has a lookalike at %s of call %d that does not look alike", p.Path, p.Call)
		}
	}
}

// turnOf returns the turn of every call.
func turnOf(r *Run) []int {
	var turns []int
	for i, turn := range r.Turns() {
		for range turn.Calls {
			turns = append(turns, i)
		}
	}
	return turns
}

// usersBefore returns, for every call, what the user had said before it.
func usersBefore(r *Run) [][]string {
	var before [][]string
	var users []string
	for _, e := range r.Events {
		if e.User != nil {
			users = append(users[:len(users):len(users)], e.User.Text)
			continue
		}
		for range e.Turn.Calls {
			before = append(before, users)
		}
	}
	return before
}

// TestEqualValuesAreSourceCopyOrLookalike: a leaf of an earlier result that
// equals an argument from a result is the source, shows the same datum, or is
// listed as a lookalike; and what only the model knew has no copies at all.
func TestEqualValuesAreSourceCopyOrLookalike(t *testing.T) {
	every(t, func(t *testing.T, _ *Office, r *Run) {
		calls := r.Calls()
		turns := turnOf(r)
		for i, c := range calls {
			args := leavesOf(c.Args.Value())
			for _, s := range c.Sources {
				listed := make(map[Place]bool)
				for _, p := range s.Lookalikes {
					listed[p] = true
				}
				var datum world.Datum
				if s.Origin == FromResult {
					datum = leavesOf(calls[s.Call].Result.Value)[s.Path].Datum
				}
				for j := range i {
					if turns[j] == turns[i] {
						continue
					}
					calls[j].Result.Value.Leaves(func(path string, leaf world.Value) {
						if !leaf.SameText(args[s.Arg]) || listed[Place{j, Pattern(path)}] {
							return
						}
						switch {
						case s.Origin == FromModel || s.Origin == FromConstant || s.Origin == FromTemplate:
							t.Errorf("%s call %d %s: %s of call %d looks alike and is not listed", r.ID, i, s.Arg, path, j)
						case s.Origin == FromResult && leaf.Datum != datum && !(j == s.Call && Pattern(path) == Pattern(s.Path)):
							t.Errorf("%s call %d %s: %s of call %d is another datum and is not listed", r.ID, i, s.Arg, path, j)
						}
					})
				}
			}
		}
	})
}

// TestIdentitiesAreUnambiguous: what identifies something (ids, tokens,
// passwords, addresses) never has a lookalike.
func TestIdentitiesAreUnambiguous(t *testing.T) {
	every(t, func(t *testing.T, _ *Office, r *Run) {
		for i, c := range r.Calls() {
			for _, s := range c.Sources {
				name, _, _ := strings.Cut(s.Arg, "[")
				switch name {
				case "access_token", "password", "username", "message_id", "event_id", "file_id", "invoice_id", "ticket_id", "contact_id", "to", "attendees", "email":
					if len(s.Lookalikes) > 0 {
						t.Errorf("%s call %d %s has lookalikes %v", r.ID, i, s.Arg, s.Lookalikes)
					}
				}
			}
		}
	})
}
