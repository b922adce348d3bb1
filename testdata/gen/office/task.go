package office

import (
	"fmt"
	"time"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// family is a kind of task.
type family struct {
	name   string
	weight int
	apps   []string // applications with a login that the task needs
	people bool     // whether it needs the directory

	// prepare chooses the objects of a task in an office and writes its text.
	// Two siblings are tasks about different objects in the same office.
	prepare func(t *task, w *world.World, r *world.Rand)
	// work is what agents do.
	work func(s *session)
	// solved says whether the office is as the task wants it. Nil: the run is
	// solved if the agent came to its answer.
	solved func(s *session) bool
}

// task is one task: a text, and the values in it that agents use.
type task struct {
	seed    uint64
	index   int
	id      string
	family  *family
	persona int
	sibling int // 0 or 1

	text   string
	answer bool // whether an answer is asked for
	email  ref  // of the supervisor

	vendor, topic, person, folder, target, file, ticket, title detail
	date, start, minutes, room                                 detail
	extra                                                      bool // a second part, depending on the family
}

// detail is a value of a task. If question is set, the text lacks it and the
// user says it when asked.
type detail struct {
	ref
	question, answer string
}

// rng returns a generator that is the same in every trial of the task.
func (t *task) rng() *world.Rand { return world.NewRand(t.seed, "task", t.index) }

// families returns the kinds of tasks.
func families() []*family {
	return []*family{
		payFamily(), settleFamily(), digestFamily(), replyFamily(), tellFamily(), scheduleFamily(), remindFamily(), agendaFamily(),
		reportFamily(), tidyFamily(), triageFamily(), resolveFamily(), handoverFamily(), ledgerFamily(), chaseFamily(), rescheduleFamily(),
	}
}

// sequence repeats families as often as their weights say, spread evenly.
func sequence(all []*family) []*family {
	var list []*family
	for round, left := 0, true; left; round++ {
		left = false
		for _, f := range all {
			if f.weight > round {
				list = append(list, f)
				left = true
			}
		}
	}
	return list
}

// task returns a task of the corpus in its office.
func (o *Office) task(index int, w *world.World) *task {
	t := &task{
		seed: o.Options.Seed, index: index, family: o.family(index), persona: o.persona(index), sibling: index % 2,
		email: told(world.Str(w.User.Email)),
	}
	t.id = fmt.Sprintf("%s-%s%04d", t.family.name, o.mark(), index)
	// Siblings choose from the same shuffled lists, at different places.
	t.family.prepare(t, w, world.NewRand(o.Options.Seed, "pair", index/2))
	// The number makes the texts of tasks differ: formats without task ids know
	// a task by its first message.
	t.text = fmt.Sprintf("I am %s (%s). Today is %s. Request %04d: %s", w.User.Name, w.User.Email, w.Today, index, t.text)
	return t
}

// own returns the task's value of a field that is no identity: equal values
// elsewhere are coincidences.
func own(field string, v world.Value) detail {
	return detail{ref: told(v.As(world.DatumOf("task", field)))}
}

func known(text string) detail { return detail{ref: told(world.Str(text))} }

// spelled returns a date that the text writes out.
func spelled(date string) (detail, string) {
	d := known(date)
	d.source.Date = true
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic("office: " + date + " is no date")
	}
	return d, t.Format("2 January 2006")
}

// withheld makes a detail one that the user says only when asked.
func (d detail) withheld(question, answer string) detail {
	d.question, d.answer = question, answer
	return d
}

// need returns a detail, after asking for it if the task does not say it. The
// zero ref means that the run has broken off.
func (s *session) need(d *detail) ref {
	if d.question == "" {
		return d.ref
	}
	i := s.question(d.question, d.answer)
	if i < 0 {
		return ref{}
	}
	d.question = ""
	d.source = Source{Origin: FromUser, Message: i}
	return d.ref
}

// choose returns the element for one of two siblings from a shuffled list.
func choose[T any](r *world.Rand, items []T, sibling int) T {
	first := r.IntN(len(items))
	if sibling == 0 || len(items) == 1 {
		return items[first]
	}
	return items[(first+1+r.IntN(len(items)-1))%len(items)]
}
