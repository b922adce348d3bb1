package office

import (
	"fmt"
	"slices"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// scheduleFamily: find a colleague, find a free time, create the event, and in
// half of the tasks announce it by mail, in either order.
func scheduleFamily() *family {
	return &family{
		name: "schedule", weight: 3, apps: []string{"calendar", "mail"}, people: true,
		prepare: func(t *task, w *world.World, r *world.Rand) {
			c := colleague(w, r, t.sibling)
			t.person, t.target = known(c.Name), known(c.Email)
			t.title = known(world.Pick(r, world.Titles()))
			t.date = known(world.Workdays(w.Today, 4)[r.IntN(4)])
			t.minutes = own("minutes", world.Int(world.Pick(r, []int{30, 45, 60})))
			t.room = own("room", world.Str(choose(r, world.Rooms(), t.sibling)))
			t.extra = r.Chance(.5)
			t.text = fmt.Sprintf("Set up a %s minute meeting %q with %s on %s in room %s, at the first time we are both free.",
				t.minutes.text(), t.title.text(), c.Name, t.date.text(), t.room.text())
			if t.extra {
				t.text += " Tell " + c.Name + " by mail as well."
			}
		},
		work: func(s *session) {
			contact, ok := s.lookUp(s.task.person.ref)
			if !ok {
				return
			}
			apps := []string{"calendar", "mail"}
			if !s.task.extra {
				apps = apps[:1]
			}
			if !s.enter(apps...) || !s.open("calendar") {
				return
			}
			email := contact.at("email")
			found, ok := s.call("calendar_find_slot", s.in("calendar"), arg("date", s.task.date.ref), arg("minutes", s.task.minutes.ref),
				argList("attendees", email))
			slot := found.at("slots", 0)
			if !ok || !slot.ok() {
				s.say("There is no free time on that day.")
				return
			}
			create := func() bool {
				_, ok := s.call("calendar_create_event", s.in("calendar"), arg("title", s.task.title.ref), arg("date", slot.at("date")),
					arg("start", slot.at("start")), arg("minutes", s.task.minutes.ref), argList("attendees", email), arg("room", s.task.room.ref))
				return ok
			}
			announce := func() bool {
				_, ok := s.call("mail_send", s.in("mail"), argList("to", email), arg("subject", s.task.title.ref),
					arg("body", s.body("We meet as planned, see the calendar.", "I have put a meeting into our calendars.")))
				return ok
			}
			if !s.task.extra {
				ok = create()
			} else {
				ok = s.open("mail") && s.inEitherOrder(create, announce)
			}
			if !ok {
				return
			}
			if s.rng.Chance(s.habits.verify) {
				s.call("calendar_list_events", s.in("calendar"), arg("date", s.task.date.ref))
			}
			s.finish("The meeting is at " + slot.at("start").text() + ".")
		},
		solved: func(s *session) bool {
			return hasEvent(s.office, s.task.title.text(), s.task.date.text()) && (!s.task.extra || sentTo(s.office, s.task.target.text()))
		},
	}
}

// remindFamily: look at a day, then create an event at a time from the task.
// That another event of the day starts at that time means nothing.
func remindFamily() *family {
	return &family{
		name: "remind", weight: 2, apps: []string{"calendar"},
		prepare: func(t *task, w *world.World, r *world.Rand) {
			t.title = known(world.Pick(r, []string{"Call the bank", "Water the plants", "Send the parcel", "Renew the badge"}))
			t.date = known(world.Workdays(w.Today, 3)[r.IntN(3)])
			t.start = own("start", world.Str(choose(r, world.Starts(), t.sibling)))
			t.text = fmt.Sprintf("Put %q into my calendar on %s at %s and tell me what else there is on that day.",
				t.title.text(), t.date.text(), t.start.text())
			t.answer = true
		},
		work: func(s *session) {
			if !s.enter("calendar") {
				return
			}
			day := func() bool {
				_, ok := s.call("calendar_list_events", s.in("calendar"), arg("date", s.task.date.ref))
				return ok
			}
			if !day() {
				return
			}
			_, ok := s.call("calendar_create_event", s.in("calendar"), arg("title", s.task.title.ref), arg("date", s.task.date.ref),
				arg("start", s.task.start.ref), arg("minutes", constant(world.Int(15))))
			if !ok || s.rng.Chance(s.habits.verify) && !day() {
				return
			}
			s.finish("It is in your calendar, beside the usual meetings.")
		},
		solved: func(s *session) bool { return hasEvent(s.office, s.task.title.text(), s.task.date.text()) },
	}
}

// agendaFamily: list a day and open each event.
func agendaFamily() *family {
	return &family{
		name: "agenda", weight: 2, apps: []string{"calendar"},
		prepare: func(t *task, w *world.World, r *world.Rand) {
			t.date = known(choose(r, append([]string{w.Today}, world.Workdays(w.Today, 4)...), t.sibling))
			t.text = "Whom do I meet on " + t.date.text() + "?"
			t.answer = true
		},
		work: func(s *session) {
			if !s.enter("calendar") {
				return
			}
			day, ok := s.call("calendar_list_events", s.in("calendar"), arg("date", s.task.date.ref))
			if !ok {
				return
			}
			s.each(day.at("events").items(), func(e ref) request {
				return ask("calendar_get_event", s.in("calendar"), arg("event_id", e.at("event_id")))
			})
			s.finish("You meet the people named in the invitations, mostly from your own team.")
		},
	}
}

// rescheduleFamily: move an event to a time that the user may have to be asked
// for, and tell the attendees, in either order.
func rescheduleFamily() *family {
	return &family{
		name: "reschedule", weight: 2, apps: []string{"calendar", "mail"},
		prepare: func(t *task, w *world.World, r *world.Rand) {
			e := choose(r, w.Events, t.sibling)
			var text string
			t.date, text = spelled(e.Date)
			t.title, t.target = known(e.Title), known(e.ID)
			t.start = own("start", world.Str(choose(r, world.Starts(), t.sibling)))
			t.text = fmt.Sprintf("Move my meeting %q of %s", e.Title, text)
			if r.Chance(.5) {
				t.start = t.start.withheld("To what time shall I move it?", "Make it "+t.start.text()+".")
				t.text += " and tell the others by mail."
			} else {
				t.text += " to " + t.start.text() + " and tell the others by mail."
			}
		},
		work: func(s *session) {
			if !s.enter("calendar", "mail") {
				return
			}
			day, ok := s.call("calendar_list_events", s.in("calendar"), arg("date", s.task.date.ref))
			if !ok {
				return
			}
			id := day.at("events").where("title", s.task.title.text()).at("event_id")
			if !id.ok() {
				return
			}
			event, ok := s.call("calendar_get_event", s.in("calendar"), arg("event_id", id))
			if !ok {
				return
			}
			to := s.need(&s.task.start)
			if !to.ok() || !s.open("mail") {
				return
			}
			move := func() bool {
				_, ok := s.call("calendar_update_event", s.in("calendar"), arg("event_id", id), arg("start", to))
				return ok
			}
			announce := func() bool {
				_, ok := s.call("mail_send", s.in("mail"), argList("to", event.at("attendees").items()...),
					arg("subject", s.task.title.ref), arg("body", s.body("We meet at another time, see the calendar.", "The meeting moves, sorry.")))
				return ok
			}
			if !s.inEitherOrder(move, announce) {
				return
			}
			if s.rng.Chance(s.habits.verify) {
				s.call("calendar_list_events", s.in("calendar"), arg("date", s.task.date.ref))
			}
			s.finish("Moved, and everybody knows.")
		},
		solved: func(s *session) bool {
			return slices.ContainsFunc(s.office.Events, func(e world.Event) bool {
				return e.ID == s.task.target.text() && e.Start == s.task.start.text()
			}) && sentTo(s.office, "")
		},
	}
}
