package office

import (
	"strings"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// call makes one call, with the agent's habits around it: detours, slips,
// repetitions, and another try when the service does not answer. ok is false if
// the call failed for good or the run has broken off.
func (s *session) call(op string, args ...argument) (reply, bool) {
	q := ask(op, args...)
	tool := s.edition.Op(op)
	s.wander()
	if s.rng.Chance(s.habits.slip) {
		if wrong, ok := s.mistaken(q); ok {
			s.do(wrong)
		}
	}
	if tool.Effect == world.Mutator && s.offered["think"] && s.rng.Chance(s.habits.ponder) {
		s.note("This changes something in " + tool.App + "; the arguments are the ones from the task.")
	}
	replies := s.persist(q)
	if len(replies) == 0 || replies[0].failed {
		return reply{}, false
	}
	if tool.Effect == world.Accessor && s.rng.Chance(s.habits.repeat) {
		for range s.rng.Between(1, 3) {
			s.do(q)
		}
	}
	return replies[0], true
}

// together makes several calls in one turn if that is the agent's habit, else
// one after the other. ok is false if one of them failed for good.
func (s *session) together(requests ...request) ([]reply, bool) {
	if len(requests) > 1 && s.rng.Chance(s.habits.parallel) {
		replies := s.persist(requests...)
		ok := len(replies) == len(requests)
		for _, r := range replies {
			ok = ok && !r.failed
		}
		return replies, ok
	}
	replies := make([]reply, len(requests))
	for i, q := range requests {
		r, ok := s.call(q.op, q.args...)
		if !ok {
			return nil, false
		}
		replies[i] = r
	}
	return replies, true
}

// persist makes the calls of one turn and repeats those whose service did not
// answer.
func (s *session) persist(requests ...request) []reply {
	replies := s.do(requests...)
	for i := range replies {
		for attempt := 0; attempt < 3 && isUnavailable(replies[i]); attempt++ {
			if !s.rng.Chance(s.habits.retry) {
				break
			}
			again := s.do(requests[i])
			if again == nil {
				return nil
			}
			replies[i] = again[0]
		}
	}
	return replies
}

func isUnavailable(r reply) bool {
	if !r.failed {
		return false
	}
	if r.value.Kind == world.String {
		return strings.Contains(r.text(), "unavailable")
	}
	return r.at("error", "code").text() == "unavailable"
}

// wander sometimes makes a call that the task does not need.
func (s *session) wander() {
	if !s.rng.Chance(s.habits.detour) {
		return
	}
	if s.rng.Chance(.5) && s.offered["contacts_search"] {
		s.do(ask("contacts_search", arg("query", model(world.Str(world.Pick(s.rng, s.office.Contacts).Name)))))
		return
	}
	s.do(ask("supervisor_show_profile"))
}

// mistaken returns the request with a wrong id, or with the token of another
// application.
func (s *session) mistaken(q request) (request, bool) {
	wrong := request{op: q.op, args: append([]argument(nil), q.args...)}
	for i, a := range wrong.args {
		switch {
		case strings.HasSuffix(a.name, "_id") && a.values[0].source.Origin == FromResult:
			id := a.values[0].text()
			mangled := id[:4] + world.Token(s.rng.Uint64(), world.Lower, len(id)-4)
			wrong.args[i] = arg(a.name, model(world.Str(mangled)))
			return wrong, true
		case a.name == "access_token" && len(s.tokens) > 1 && s.rng.Chance(.5):
			for _, app := range world.Apps {
				if x, ok := s.tokens[app]; ok && x.text() != a.values[0].text() {
					wrong.args[i] = arg(a.name, x)
					return wrong, true
				}
			}
		}
	}
	return request{}, false
}

// note writes a thought down.
func (s *session) note(text string) {
	s.do(ask("think", arg("thought", model(world.Str(text)))))
}

// begin does what agents do before they turn to the task.
func (s *session) begin() {
	if s.offered["think"] && s.rng.Chance(s.habits.plan) {
		s.note("Plan: find out what is needed, do it, report back.")
	}
	if s.rng.Chance(s.habits.profile) {
		if r, ok := s.call("supervisor_show_profile"); ok {
			s.profile = r
		}
	}
}

// open logs in to the applications that are not open yet, after looking up the
// passwords, and reports whether all are open.
func (s *session) open(apps ...string) bool {
	var missing []string
	for _, app := range apps {
		if _, ok := s.tokens[app]; !ok {
			missing = append(missing, app)
		}
	}
	if len(missing) == 0 {
		return !s.stopped
	}
	if s.rng.Chance(.5) {
		for i, j := 0, len(missing)-1; i < j; i, j = i+1, j-1 {
			missing[i], missing[j] = missing[j], missing[i]
		}
	}
	if !s.passwords.ok() || s.rng.Chance(s.habits.fresh) {
		r, ok := s.call("supervisor_show_passwords")
		if !ok {
			return false
		}
		s.passwords = r
	}
	user := s.task.email
	if s.profile.ok() {
		user = s.profile.at("email")
	}
	requests := make([]request, len(missing))
	for i, app := range missing {
		requests[i] = ask(app+"_login",
			arg("username", user), arg("password", s.passwords.where("account_name", app).at("password")))
	}
	replies, ok := s.together(requests...)
	for i, r := range replies {
		if !r.failed {
			s.tokens[missing[i]] = r.at("access_token")
		}
	}
	return ok
}

// enter opens the applications of a task: all at once, or only the first, as is
// the agent's habit.
func (s *session) enter(apps ...string) bool {
	if s.rng.Chance(s.habits.eager) {
		return s.open(apps...)
	}
	return s.open(apps[0])
}

// in is the argument that holds an application's token.
func (s *session) in(app string) argument { return arg("access_token", s.tokens[app]) }

// each reads the elements of a list: all, the first few, or some in an order of
// the agent's own, one by one or in one turn.
func (s *session) each(items []ref, read func(item ref) request) []reply {
	if len(items) == 0 {
		return nil
	}
	if len(items) > 1 && !s.rng.Chance(s.habits.whole) {
		if s.rng.Chance(.6) {
			items = items[:s.rng.Between(1, len(items)-1)]
		} else {
			items = append([]ref(nil), items...)
			s.rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
			items = items[:s.rng.Between(1, len(items))]
		}
	}
	requests := make([]request, len(items))
	for i, item := range items {
		requests[i] = read(item)
	}
	replies, _ := s.together(requests...)
	return replies
}

// pages calls a tool that answers in pages, from the first page on, until stop
// says that it has seen enough. It returns the replies.
func (s *session) pages(op string, stop func(reply) bool, args ...argument) []reply {
	var all []reply
	r, ok := s.call(op, args...)
	for ok {
		all = append(all, r)
		next := r.at("next_page")
		if stop(r) || !next.ok() || next.value.Kind == world.Null {
			break
		}
		r, ok = s.call(op, append(args[:len(args):len(args)], arg("page", next))...)
	}
	return all
}

// inEitherOrder does two things that do not depend on each other.
func (s *session) inEitherOrder(first, second func() bool) bool {
	if s.rng.Chance(.5) {
		first, second = second, first
	}
	return first() && second()
}

// finish answers the user, and hands the task back if that is the habit.
func (s *session) finish(answer string) {
	if s.habits.complete {
		if s.task.answer {
			s.call("supervisor_complete_task", arg("answer", model(world.Str(answer))))
		} else {
			s.call("supervisor_complete_task")
		}
	}
	s.say(answer)
}
