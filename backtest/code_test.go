package backtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/recordings"
	byhand "github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// buyer is a run in which a customer is looked up, two of three orders are read, and the
// last one is held.
func buyer(i int) *byhand.Run {
	s := (&byhand.Run{}).User(fmt.Sprintf("I am customer-%d", i))
	s.Call("get_customer", fmt.Sprintf(`{"name":"customer-%d"}`, i), fmt.Sprintf(`{"orders":["order-%d-a","order-%d-b","order-%d-c"]}`, i, i, i))
	for _, which := range []string{"a", "b"} {
		s.Call("get_order", fmt.Sprintf(`{"id":"order-%d-%s"}`, i, which), fmt.Sprintf(`{"parcel":"parcel-%d-%s"}`, i, which))
	}
	s.Call("update_order", fmt.Sprintf(`{"id":"order-%d-b","state":"held"}`, i), `{"held":true}`)
	s.T.Task = fmt.Sprint("buyer ", i)
	return s
}

// answer ends a run.
func answer(s *byhand.Run, text string) *byhand.Run {
	s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: len(s.T.Calls), Text: trace.TextOf(text)})
	return s
}

// coders returns both bounds, which have learnt from runs of buyers.
func coders() (lower, upper Trained) {
	var list []*trace.Trajectory
	for i := range 30 {
		list = append(list, &answer(buyer(i), "It is held.").T)
	}
	p := &Part{Runs: runsOf(list...), meter: cost.NewMeter(cost.Options{})}
	return p.trainCode(true), p.trainCode(false)
}

func caseOf(s *byhand.Run) *Case {
	return &Case{Run: corpus.Filled([]*trace.Trajectory{&s.T}, corpus.Options{})[0]}
}

// TestPrograms has programs make what is usual and bound, and no more.
func TestPrograms(t *testing.T) {
	lower, upper := coders()
	for name, tc := range map[string]struct {
		run          func(*byhand.Run)
		lower, upper []int // turns removed
		extra        int   // reads that the lower bound makes for nothing
		limits       [4]int
	}{
		"all of it": {func(*byhand.Run) {}, []int{1, 2, 3}, []int{1, 2, 3}, 1, [4]int{0, 0, 0, 1}},
		"behind the write": {func(s *byhand.Run) {
			s.Call("get_order", `{"id":"order-77-c"}`, `{"parcel":"parcel-77-c"}`)
		}, []int{1, 2, 3}, []int{1, 2, 3, 4}, 1, [4]int{0, 1, 0, 1}},
		"what only the model knows": {func(s *byhand.Run) {
			s.Call("get_customer", `{"name":"somebody else"}`, `{"orders":[]}`)
		}, []int{1, 2, 3}, []int{1, 2, 3}, 1, [4]int{0, 1, 0, 1}},
		"the user speaks": {func(s *byhand.Run) {
			s.User("and the first one").Call("update_order", `{"id":"order-77-a","state":"held"}`, `{"held":true}`)
		}, []int{1, 2, 3}, []int{1, 2, 3}, 1, [4]int{0, 0, 0, 2}},
		"a failure": {func(s *byhand.Run) {
			s.T.Calls[2].Status = trace.StatusFailed
		}, []int{1}, []int{1}, 2, [4]int{0, 0, 0, 3}},
		"no result": {func(s *byhand.Run) {
			s.T.Calls[0].HasResult, s.T.Calls[0].Result = false, trace.Raw{}
		}, []int{3}, []int{3}, 0, [4]int{1, 0, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := buyer(77)
			tc.run(s)
			c := caseOf(s)
			low, high := lower.Find(c), upper.Find(c)
			if !slices.Equal(low.Removed, tc.lower) || !slices.Equal(high.Removed, tc.upper) {
				t.Errorf("turns %v and %v go, want %v and %v", low.Removed, high.Removed, tc.lower, tc.upper)
			}
			if low.Programs.Extra != tc.extra || high.Programs.Extra != 0 || low.Programs.Limits != tc.limits {
				t.Errorf("%d reads for nothing, want %d; turns stay for %v, want %v", low.Programs.Extra, tc.extra, low.Programs.Limits, tc.limits)
			}
		})
	}
}

// TestProgramsInTraces: calls that a recorded program made save no turn, whatever looks for
// them.
func TestProgramsInTraces(t *testing.T) {
	var list []*trace.Trajectory
	for i := range 30 {
		s := answer(buyer(i), "It is held.")
		first := trace.Turn{NumCalls: len(s.T.Calls), Continued: 3}
		for k := range s.T.Calls {
			s.T.Calls[k].Turn, s.T.Calls[k].Origin = 0, trace.OriginCode
		}
		last := s.T.Turns[len(s.T.Turns)-1]
		s.T.Turns = []trace.Turn{first, last}
		for k := range s.T.Turns {
			s.T.Turns[k].Usage = trace.Usage{Known: true, Input: 1000 + 100*int64(k), Output: 50}
		}
		list = append(list, &s.T)
	}
	r, err := Run(runsOf(list...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Techniques {
		if o := &r.Techniques[i]; o.CallingTurnsSaved+o.LLMCallsSaved+o.Used != 0 {
			t.Errorf("%s saves %d turns", o.Name, o.CallingTurnsSaved)
		}
	}
}

// TestProgramTokens is arithmetic done by hand: turns of 1,000 to 1,400 tokens that say 40.
func TestProgramTokens(t *testing.T) {
	lower, upper := coders()
	s := answer(buyer(77), "It is held.")
	for k := range s.T.Turns {
		s.T.Turns[k].Usage = trace.Usage{Known: true, Input: 1000 + 100*int64(k), Output: 40}
	}
	c := caseOf(s)
	meter := cost.NewMeter(cost.Options{})
	c.Account = meter.Trajectory(c.Trajectory)
	definition := lower.Summary().DefinitionTokens
	// Turns 1 to 3 go with 1,100, 1,200 and 1,300 tokens and 40 each, which the last turn no
	// longer reads. Two turns are left: they read the definition, and the last one the text of
	// the program, which the first one says: 150, two calls, and a call in a loop.
	removed := int64(3600 + 3*40 + 3*40)
	text := int64(2 * (150 + 2*20 + 20 + 40))
	// The third order is read for nothing.
	extra := meter.Text(`{"parcel":"parcel-1-a"}`)
	f := lower.Find(c)
	if got, want := lower.Saving(c, f).Tokens(), removed-2*definition-text-extra; got != want {
		t.Errorf("lower: %d tokens, want %d", got, want)
	}
	// Nothing of what was returned is used behind the program; two reads in a row are no loop.
	text = 2 * (150 + 4*20)
	results := int64(0)
	for i := range c.Calls {
		results += meter.Raw(c.Calls[i].Result)
	}
	f = upper.Find(c)
	if got, want := upper.Saving(c, f).Tokens(), removed-2*definition-text+results; got != want {
		t.Errorf("upper: %d tokens, want %d", got, want)
	}
	if got := f.Programs.Overhead.Tokens(); got != text {
		t.Errorf("texts take %d tokens, want %d", got, text)
	}
}

// object is JSON as a program has it.
type object = map[string]any

// sandbox runs a program against a recording: a call answers what the same call of the
// trajectory was answered.
type sandbox struct {
	t     *testing.T
	run   *corpus.Run
	from  int             // the call that the program begins with
	known strings.Builder // what was said, called and returned before it, and to it
	made  []string        // calls, as text
}

// before returns what an earlier call of the trajectory returned.
func (s *sandbox) before(call int) any {
	if call >= s.from {
		s.t.Fatalf("call %d is not before the program", call)
	}
	return parsed(s.run.Calls[call].Result)
}

// call makes one call. All that it passes must be known by then.
func (s *sandbox) call(tool string, args object) any {
	for name, value := range args {
		if !strings.Contains(s.known.String(), fmt.Sprint(value)) {
			s.t.Fatalf("%s(%s): nobody could know the value", tool, name)
		}
	}
	text, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	one := trace.Call{Tool: trace.Intern(tool), Args: trace.JSONOf(text)}
	s.made = append(s.made, callText(&one))
	for i := s.from; i < len(s.run.Calls); i++ {
		if c := &s.run.Calls[i]; callText(c) == s.made[len(s.made)-1] && c.HasResult {
			s.known.WriteString(c.Result.Text())
			return parsed(c.Result)
		}
	}
	return nil
}

func callText(c *trace.Call) string {
	return c.Tool.Value() + string(c.AppendCanonicalArgs(nil))
}

func parsed(r trace.Raw) (v any) {
	if err := json.Unmarshal([]byte(r.Text()), &v); err != nil {
		return r.Text()
	}
	return v
}

// member returns a member of an object in an object, and so on.
func member(v any, names ...string) any {
	for _, name := range names {
		of, _ := v.(object)
		v = of[name]
	}
	return v
}

func elements(v any) []any {
	list, _ := v.([]any)
	return list
}

// written are programs for the stretches that a seed draws from those of the lower bound.
var writtenPrograms = []struct {
	set      string
	programs map[string]func(s *sandbox) // by trajectory
}{
	{"office", map[string]func(s *sandbox){
		"run-000069": func(s *sandbox) {
			token := member(s.before(1), "access_token")
			page := s.call("mail_search", object{"access_token": token, "query": "audit", "page": 2})
			for _, m := range elements(member(page, "messages")) {
				s.call("mail_read", object{"access_token": token, "message_id": member(m, "message_id")})
			}
		},
		"run-000274": func(s *sandbox) {
			s.call("think", object{"thought": "This changes something in mail; the arguments are the ones from the task."})
			for _, account := range elements(s.before(0)) {
				if member(account, "account_name") == "mail" {
					s.call("mail_login", object{"username": "fiona.marundska@northlight.example", "password": member(account, "password")})
				}
			}
		},
		"run-000244": func(s *sandbox) {
			found := s.call("contacts_search", object{"query": "Hanna Roselkov"})
			for _, contact := range elements(member(found, "contacts")) {
				s.call("contacts_get", object{"contact_id": member(contact, "contact_id")})
			}
			s.call("supervisor_show_passwords", object{})
		},
	}},
	{"taubench/gpt-4o-airline.json", map[string]func(s *sandbox){
		"49/2": func(s *sandbox) { reservations(s, "emma_kim_9957") },
		"14/3": func(s *sandbox) {
			for _, leg := range elements(member(s.before(0), "flights")) {
				s.call("search_direct_flight", object{"origin": member(leg, "origin"), "destination": member(leg, "destination"), "date": member(leg, "date")})
			}
		},
		"46/3": func(s *sandbox) { reservations(s, "noah_muller_9847") },
	}},
	{"tau2/retail_toolorchestra-gpt-5.json", map[string]func(s *sandbox){
		"748cdd9c-0066-41ee-968e-25c794a87a1a": func(s *sandbox) {
			orders(s, s.call("find_user_id_by_name_zip", object{"first_name": "Daiki", "last_name": "Johnson", "zip": "80273"}))
		},
		"db08e2dc-1d7f-4ccd-8c6b-2229cbc911dd": func(s *sandbox) {
			orders(s, s.call("find_user_id_by_name_zip", object{"first_name": "Noah", "last_name": "Patel", "zip": "10108"}))
		},
		"fb3f3e0b-5078-4795-bee8-61e056f94874": func(s *sandbox) {
			s.call("get_product_details", object{"product_id": member(s.before(1), "T-Shirt")})
			orders(s, s.before(0))
		},
	}},
}

// reservations reads a customer of the airline, and all that was booked.
func reservations(s *sandbox, user string) {
	for _, id := range elements(member(s.call("get_user_details", object{"user_id": user}), "reservations")) {
		s.call("get_reservation_details", object{"reservation_id": id})
	}
}

// orders reads a customer of the shop, and all that was ordered.
func orders(s *sandbox, user any) {
	for _, id := range elements(member(s.call("get_user_details", object{"user_id": user}), "orders")) {
		s.call("get_order_details", object{"order_id": id})
	}
}

// TestLowerBoundIsReachable runs programs that were written for stretches drawn by a seed
// against the recordings. Each makes all calls of its stretch, with values that were known
// before or that an earlier call returned, and no more calls for nothing than are charged.
func TestLowerBoundIsReachable(t *testing.T) {
	for _, set := range writtenPrograms {
		t.Run(set.set, func(t *testing.T) {
			path := filepath.Join("..", "testdata", "office", "trajectories.jsonl.gz")
			if set.set != "office" {
				path = recordings.Recorded(t, set.set)
			}
			runs := corpus.Filled(recordings.Read(t, path), corpus.Options{Workers: 2})
			for _, d := range drawn(runs, len(set.programs)) {
				write, is := set.programs[d.run.ID]
				if !is {
					t.Fatalf("no program is written for %s, calls %v", d.run.ID, d.calls)
				}
				s := &sandbox{t: t, run: d.run, from: d.calls[0]}
				for i := range d.run.Messages {
					if m := &d.run.Messages[i]; m.Call <= s.from {
						s.known.WriteString(m.Text.Text())
					}
				}
				for i := range d.run.Calls[:s.from+1] { // what the first call passes is for the model to say
					s.known.WriteString(d.run.Calls[i].Args.Text())
					if i < s.from {
						s.known.WriteString(d.run.Calls[i].Result.Text())
					}
				}
				write(s)
				missing := 0
				for _, call := range d.calls {
					if !slices.Contains(s.made, callText(&d.run.Calls[call])) {
						missing++
					}
				}
				extra := len(s.made) - (len(d.calls) - missing)
				t.Logf("%s: a program of %d calls for calls %v, %d for nothing, %d are charged", d.run.ID, len(s.made), d.calls, extra, len(d.extra))
				if missing > 0 || extra > len(d.extra) {
					t.Errorf("%s: %d of the calls %v are not made, %d are made for nothing and %d charged", d.run.ID, missing, d.calls, extra, len(d.extra))
				}
			}
		})
	}
}

// stretch is what one program of the lower bound stands in for.
type stretch struct {
	run *corpus.Run
	program
}

// drawn returns some programs of the lower bound on tasks that it did not learn from.
func drawn(runs []*corpus.Run, n int) []stretch {
	var tasks []string
	for _, r := range runs {
		tasks = append(tasks, r.TaskKey())
	}
	split := holdout.NewFolds(tasks, DefaultFolds, 1).Split(0)
	p := &Part{Runs: Side(runs, split, holdout.Train), meter: cost.NewMeter(cost.Options{})}
	lower := p.trainCode(true)
	var list []stretch
	for _, r := range Side(runs, split, holdout.Test) {
		for _, w := range lower.Find(&Case{Run: r}).written {
			if len(w.calls) > 1 {
				list = append(list, stretch{r, w})
			}
		}
	}
	random := rand.New(rand.NewPCG(7, 7))
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:n]
}
