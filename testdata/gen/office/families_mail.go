package office

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// topicsOf returns the subjects' first words of an office's mail, in order of
// appearance.
func topicsOf(w *world.World) []string {
	var topics []string
	for _, m := range w.Messages {
		topic, _, ok := strings.Cut(m.Subject, ":")
		if ok && !slices.Contains(topics, strings.ToLower(topic)) {
			topics = append(topics, strings.ToLower(topic))
		}
	}
	return topics
}

// colleague chooses somebody who is not the supervisor.
func colleague(w *world.World, r *world.Rand, sibling int) world.Contact {
	return choose(r, w.Contacts[1:], sibling)
}

// digestFamily: search, read each, answer.
func digestFamily() *family {
	return &family{
		name: "digest", weight: 3, apps: []string{"mail"},
		prepare: func(t *task, w *world.World, r *world.Rand) {
			t.topic = known(choose(r, topicsOf(w), t.sibling))
			t.answer = true
			t.text = "What do my mails about " + t.topic.text() + " say? Two sentences are enough."
			if r.Chance(.3) {
				t.text = "I need to catch up on my mails about one of our topics. Two sentences are enough."
				t.topic = t.topic.withheld("Which topic do you mean?", "I mean the "+t.topic.text()+".")
			}
		},
		work: func(s *session) {
			topic := s.need(&s.task.topic)
			if !topic.ok() || !s.enter("mail") {
				return
			}
			read := func(m ref) request {
				return ask("mail_read", s.in("mail"), arg("message_id", m.at("message_id")))
			}
			onlyFirst, pageByPage := s.rng.Chance((1-s.habits.whole)/2), s.rng.Chance(.5)
			var items []ref
			s.pages("mail_search", func(r reply) bool {
				if pageByPage {
					s.each(r.at("messages").items(), read)
				} else {
					items = append(items, r.at("messages").items()...)
				}
				return onlyFirst
			}, s.in("mail"), arg("query", topic))
			s.each(items, read)
			s.finish("Most points about " + topic.text() + " are settled; two need an answer from you.")
		},
	}
}

// replyFamily: search, read one, answer its sender.
func replyFamily() *family {
	return &family{
		name: "reply", weight: 2, apps: []string{"mail"},
		prepare: func(t *task, w *world.World, r *world.Rand) {
			t.topic = known(choose(r, topicsOf(w), t.sibling))
			t.text = "Answer the first mail about " + t.topic.text() + ": I agree, and I will come back to it next week."
		},
		work: func(s *session) {
			if !s.enter("mail") {
				return
			}
			found, ok := s.call("mail_search", s.in("mail"), arg("query", s.task.topic.ref))
			if !ok {
				return
			}
			first := found.at("messages", 0, "message_id")
			if !first.ok() {
				return
			}
			m, ok := s.call("mail_read", s.in("mail"), arg("message_id", first))
			if !ok {
				return
			}
			_, ok = s.call("mail_send", s.in("mail"), argList("to", m.at("from")), arg("subject", filled("Re: ", m.at("subject"))),
				arg("body", s.body("I agree, and I will come back to it next week.", "Agreed. Let me come back to it next week.")))
			if !ok {
				return
			}
			s.verifySent()
			s.finish("I have answered the mail.")
		},
		solved: func(s *session) bool { return sentTo(s.office, "") },
	}
}

// tellFamily: find a colleague and write to them.
func tellFamily() *family {
	return &family{
		name: "tell", weight: 2, apps: []string{"mail"}, people: true,
		prepare: func(t *task, w *world.World, r *world.Rand) {
			c := colleague(w, r, t.sibling)
			t.person, t.target = known(c.Name), known(c.Email)
			t.title = known(world.Pick(r, world.Titles()))
			t.text = "Write to " + c.Name + " that I cannot come. The subject is " + t.title.text() + "."
			if r.Chance(.3) {
				t.text = "Write a mail for me that I cannot come. The subject is " + t.title.text() + "."
				t.person = t.person.withheld("To whom shall I write?", "To "+c.Name+", please.")
			}
		},
		work: func(s *session) {
			person := s.need(&s.task.person)
			if !person.ok() {
				return
			}
			contact, ok := s.lookUp(person)
			if !ok || !s.enter("mail") {
				return
			}
			_, ok = s.call("mail_send", s.in("mail"), argList("to", contact.at("email")), arg("subject", s.task.title.ref),
				arg("body", s.body("I am sorry, but I cannot come.", "Something came up and I cannot make it.")))
			if !ok {
				return
			}
			s.verifySent()
			s.finish("Done, " + person.text() + " knows.")
		},
		solved: func(s *session) bool { return sentTo(s.office, s.task.target.text()) },
	}
}

// chaseFamily: a ticket's requester gets a mail.
func chaseFamily() *family {
	return &family{
		name: "chase", weight: 2, apps: []string{"tickets", "mail"}, people: true,
		prepare: func(t *task, w *world.World, r *world.Rand) {
			t.ticket = known(openTicket(w, r, t.sibling).ID)
			t.text = "Ask whoever opened ticket " + t.ticket.text() + " whether the problem is still there."
		},
		work: func(s *session) {
			if !s.enter("tickets", "mail") {
				return
			}
			ticket, ok := s.call("tickets_get", s.in("tickets"), arg("ticket_id", s.task.ticket.ref))
			if !ok {
				return
			}
			contact, ok := s.call("contacts_get", arg("contact_id", ticket.at("requester_id")))
			if !ok || !s.open("mail") {
				return
			}
			_, ok = s.call("mail_send", s.in("mail"), argList("to", contact.at("email")),
				arg("subject", filled("Ticket ", ticket.at("ticket_id"), ": ", ticket.at("title"))),
				arg("body", s.body("Is the problem still there?", "Does this still happen? If not, we close the ticket.")))
			if !ok {
				return
			}
			s.verifySent()
			s.finish("I have asked.")
		},
		solved: func(s *session) bool {
			return slices.ContainsFunc(s.office.Messages, func(m world.Message) bool {
				return m.Folder == world.Sent && strings.Contains(m.Subject, s.task.ticket.text())
			})
		},
	}
}

// lookUp finds a colleague in the directory and opens the entry.
func (s *session) lookUp(person ref) (reply, bool) {
	query := person
	if s.rng.Chance(.12) {
		_, family, _ := strings.Cut(person.text(), " ")
		query.value = world.Str(family)
	}
	found, ok := s.call("contacts_search", arg("query", query))
	if !ok {
		return reply{}, false
	}
	id := found.at("contacts").where("name", person.text()).at("contact_id")
	if !id.ok() {
		return reply{}, false
	}
	return s.call("contacts_get", arg("contact_id", id))
}

// verifySent looks into the folder with what was sent.
func (s *session) verifySent() {
	if s.rng.Chance(s.habits.verify / 2) {
		s.call("mail_list", s.in("mail"), arg("folder", constant(world.Str(world.Sent))))
	}
}

// sentTo reports whether a mail was sent, to an address if one is given.
func sentTo(w *world.World, email string) bool {
	return slices.ContainsFunc(w.Messages, func(m world.Message) bool {
		return m.Folder == world.Sent && (email == "" || m.To == email)
	})
}
