package office

import (
	"strings"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// narration is what a model says beside its calls.
func narration(r *world.Rand, requests []request) string {
	what := strings.ReplaceAll(requests[0].op, "_", " ")
	return world.Pick(r, []string{"Next: ", "I will do this now: ", "Let me continue with ", "One moment, "}) + what + "."
}

// thought is a model's recorded reasoning.
func thought(r *world.Rand, requests []request) string {
	app, what, _ := strings.Cut(requests[0].op, "_")
	what = strings.ReplaceAll(what, "_", " ")
	return world.Pick(r, []string{
		"The task needs " + app + "; the next step is to " + what + ".",
		"I have what I need so far. To go on I have to " + what + " in " + app + ".",
		"Before answering I should " + what + ".",
	})
}

// body is the text of a mail; which one depends on the task, so that the trials
// of a task often agree, and on the run.
func (s *session) body(lines ...string) ref {
	r := s.rng
	if r.Chance(.7) {
		r = s.task.rng()
	}
	open := world.Pick(r, []string{"Hello,", "Dear colleague,", "Hi,"})
	return model(world.Str(open + "\n" + world.Pick(r, lines)))
}

func (s *session) comment() ref {
	r := s.rng
	if r.Chance(.6) {
		r = s.task.rng()
	}
	return model(world.Str(world.Pick(r, []string{
		"Looked into it: the part was replaced and tested.",
		"Could not reproduce it any more; closing after a second check.",
		"Fixed by resetting the device and updating its driver.",
		"The cause was a wrong setting, now corrected.",
		"Same fault as last week, handled there.",
	})))
}

func (s *session) overview(n int) ref {
	lead := world.Pick(s.rng, []string{"Overview", "Summary", "In short"})
	return model(world.Str(lead + ": " + strings.Repeat("one file has remarks, the rest is unchanged; ", 1+n/3) + "nothing is overdue."))
}
