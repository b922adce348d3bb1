package office

import (
	"fmt"
	"slices"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// foldersOf returns the folders of an office's files, in order of appearance.
func foldersOf(w *world.World) []string {
	var folders []string
	for _, f := range w.Files {
		if !slices.Contains(folders, f.Folder) {
			folders = append(folders, f.Folder)
		}
	}
	return folders
}

// filesIn returns the files of a folder.
func filesIn(w *world.World, folder string) []world.File {
	var files []world.File
	for _, f := range w.Files {
		if f.Folder == folder {
			files = append(files, f)
		}
	}
	return files
}

func openTicket(w *world.World, r *world.Rand, sibling int) world.Ticket {
	var open []world.Ticket
	for _, t := range w.Tickets {
		if t.Status == "open" {
			open = append(open, t)
		}
	}
	return choose(r, open, sibling)
}

// reportFamily: list a folder, read each file, write an overview, and in half of
// the tasks share it.
func reportFamily() *family {
	return &family{
		name: "report", weight: 2, apps: []string{"files"}, people: true,
		prepare: func(t *task, w *world.World, r *world.Rand) {
			t.folder = known(choose(r, foldersOf(w), t.sibling))
			c := colleague(w, r, t.sibling)
			t.person, t.target = known(c.Name), known(c.Email)
			t.extra = r.Chance(.5)
			t.text = "Read the files in the folder " + t.folder.text() + " and write an overview into the same folder."
			if t.extra {
				t.text += " Share it with " + c.Name + "."
			}
		},
		work: func(s *session) {
			if !s.enter("files") {
				return
			}
			list, ok := s.call("files_list", s.in("files"), arg("folder", s.task.folder.ref))
			if !ok {
				return
			}
			read := s.each(list.at("files").items(), func(f ref) request {
				return ask("files_read", s.in("files"), arg("file_id", f.at("file_id")))
			})
			if len(read) == 0 {
				return
			}
			written, ok := s.call("files_write", s.in("files"), arg("folder", s.task.folder.ref),
				arg("name", filled(s.task.folder.ref, "-overview.txt")), arg("content", s.overview(len(read))))
			if !ok {
				return
			}
			if s.task.extra {
				contact, ok := s.lookUp(s.task.person.ref)
				if !ok {
					return
				}
				if _, ok = s.call("files_share", s.in("files"), arg("file_id", written.at("file_id")), arg("email", contact.at("email"))); !ok {
					return
				}
			}
			if s.rng.Chance(s.habits.verify) {
				s.call("files_list", s.in("files"), arg("folder", s.task.folder.ref))
			}
			s.finish("The overview is in the folder.")
		},
		solved: func(s *session) bool {
			return slices.ContainsFunc(s.office.Files, func(f world.File) bool {
				return f.Name == s.task.folder.text()+"-overview.txt" && (!s.task.extra || slices.Contains(f.SharedWith, s.task.target.text()))
			})
		},
	}
}

// tidyFamily: move one file to another folder and look again.
func tidyFamily() *family {
	return &family{
		name: "tidy", weight: 2, apps: []string{"files"},
		prepare: func(t *task, w *world.World, r *world.Rand) {
			folders := foldersOf(w)
			from := r.IntN(len(folders))
			t.folder = known(folders[from])
			t.target = known(folders[(from+1)%len(folders)])
			t.file = known(choose(r, filesIn(w, folders[from]), t.sibling).Name)
			t.text = fmt.Sprintf("The file %s in %s belongs into %s. Please move it.", t.file.text(), t.folder.text(), t.target.text())
		},
		work: func(s *session) {
			if !s.enter("files") {
				return
			}
			look := func() (reply, bool) { return s.call("files_list", s.in("files"), arg("folder", s.task.folder.ref)) }
			list, ok := look()
			if !ok {
				return
			}
			id := list.at("files").where("name", s.task.file.text()).at("file_id")
			if !id.ok() {
				return
			}
			if _, ok = s.call("files_move", s.in("files"), arg("file_id", id), arg("folder", s.task.target.ref)); !ok {
				return
			}
			if s.rng.Chance((1 + s.habits.verify) / 2) {
				look()
			}
			s.finish("Moved.")
		},
		solved: func(s *session) bool {
			return slices.ContainsFunc(s.office.Files, func(f world.File) bool {
				return f.Name == s.task.file.text() && f.Folder == s.task.target.text()
			})
		},
	}
}

// triageFamily: search the open tickets, read them, give priorities. That a
// priority equals a ticket's severity means nothing: the model decides.
func triageFamily() *family {
	return &family{
		name: "triage", weight: 2, apps: []string{"tickets"},
		prepare: func(t *task, _ *world.World, r *world.Rand) {
			t.extra = t.sibling == 1
			t.text = "Go through the open tickets and set the priorities as you think right."
			if t.extra {
				t.text = "Please look at the open tickets and give each one a sensible priority."
			}
		},
		work: func(s *session) {
			if !s.enter("tickets") {
				return
			}
			get := func(t ref) request {
				return ask("tickets_get", s.in("tickets"), arg("ticket_id", t.at("ticket_id")))
			}
			set := func(t ref) bool {
				_, ok := s.call("tickets_update", s.in("tickets"), arg("ticket_id", t.at("ticket_id")), arg("priority", model(world.Int(s.rng.Between(1, 5)))))
				return ok
			}
			one := s.rng.Chance(.4)
			onlyFirst := s.rng.Chance(1 - s.habits.whole)
			var items []ref
			s.pages("tickets_search", func(r reply) bool {
				items = append(items, r.at("tickets").items()...)
				return onlyFirst
			}, s.in("tickets"), arg("status", constant(world.Str("open"))))
			if one {
				for _, t := range items[:min(len(items), 4)] {
					q := get(t)
					if _, ok := s.call(q.op, q.args...); !ok || !set(t) {
						return
					}
				}
			} else {
				read := s.each(items, get)
				for _, r := range read[:min(len(read), 3)] {
					if !r.failed && !set(r.ref) {
						return
					}
				}
			}
			s.finish("The tickets have priorities now.")
		},
		solved: func(s *session) bool {
			return !s.stopped && slices.ContainsFunc(s.office.Tickets, func(t world.Ticket) bool { return t.Priority != 3 })
		},
	}
}

// resolveFamily: read a ticket, comment on it, close it. What to write and how
// it ended only the model knows.
func resolveFamily() *family {
	return &family{
		name: "resolve", weight: 2, apps: []string{"tickets"},
		prepare: func(t *task, w *world.World, r *world.Rand) {
			t.ticket = known(openTicket(w, r, t.sibling).ID)
			t.text = "Ticket " + t.ticket.text() + " was dealt with. Please note what was done and close it."
		},
		work: func(s *session) {
			if !s.enter("tickets") {
				return
			}
			get := func() bool {
				_, ok := s.call("tickets_get", s.in("tickets"), arg("ticket_id", s.task.ticket.ref))
				return ok
			}
			if !get() {
				return
			}
			if _, ok := s.call("tickets_comment", s.in("tickets"), arg("ticket_id", s.task.ticket.ref), arg("text", s.comment())); !ok {
				return
			}
			if s.rng.Chance(s.habits.confirm/2) && s.question("Shall I close the ticket now?", "Yes, close it.") < 0 {
				return
			}
			resolution := world.Pick(s.rng, []string{"solved", "solved", "solved", "obsolete", "duplicate"})
			if _, ok := s.call("tickets_close", s.in("tickets"), arg("ticket_id", s.task.ticket.ref), arg("resolution", model(world.Str(resolution)))); !ok {
				return
			}
			if s.rng.Chance(s.habits.verify) && !get() {
				return
			}
			s.finish("The ticket is closed.")
		},
		solved: func(s *session) bool {
			return slices.ContainsFunc(s.office.Tickets, func(t world.Ticket) bool {
				return t.ID == s.task.ticket.text() && t.Status == "closed"
			})
		},
	}
}

// handoverFamily: give a ticket to a colleague and share a file with them, in
// either order.
func handoverFamily() *family {
	return &family{
		name: "handover", weight: 2, apps: []string{"tickets", "files"}, people: true,
		prepare: func(t *task, w *world.World, r *world.Rand) {
			c := colleague(w, r, t.sibling)
			t.person, t.target = known(c.Name), known(c.Email)
			t.ticket = known(openTicket(w, r, t.sibling).ID)
			t.folder = known(world.Pick(r, foldersOf(w)))
			t.file = known(choose(r, filesIn(w, t.folder.text()), t.sibling).Name)
			t.text = fmt.Sprintf("%s takes over ticket %s. Assign it and share the file %s from %s.",
				c.Name, t.ticket.text(), t.file.text(), t.folder.text())
		},
		work: func(s *session) {
			contact, ok := s.lookUp(s.task.person.ref)
			if !ok || !s.enter("tickets", "files") {
				return
			}
			if s.rng.Chance(s.habits.details) {
				ticket, ok := s.call("tickets_get", s.in("tickets"), arg("ticket_id", s.task.ticket.ref))
				if ok && s.rng.Chance(.5) {
					s.call("contacts_get", arg("contact_id", ticket.at("requester_id")))
				}
			}
			if !s.open("files") {
				return
			}
			list, ok := s.call("files_list", s.in("files"), arg("folder", s.task.folder.ref))
			if !ok {
				return
			}
			id := list.at("files").where("name", s.task.file.text()).at("file_id")
			if !id.ok() {
				return
			}
			assign := func() bool {
				_, ok := s.call("tickets_assign", s.in("tickets"), arg("ticket_id", s.task.ticket.ref), arg("contact_id", contact.at("contact_id")))
				return ok
			}
			share := func() bool {
				_, ok := s.call("files_share", s.in("files"), arg("file_id", id), arg("email", contact.at("email")))
				return ok
			}
			if !s.inEitherOrder(assign, share) {
				return
			}
			if s.rng.Chance(s.habits.verify) {
				s.call("tickets_get", s.in("tickets"), arg("ticket_id", s.task.ticket.ref))
				s.call("files_list", s.in("files"), arg("folder", s.task.folder.ref))
			}
			s.finish(s.task.person.text() + " has the ticket and the file.")
		},
		solved: func(s *session) bool {
			return slices.ContainsFunc(s.office.Files, func(f world.File) bool {
				return f.Name == s.task.file.text() && slices.Contains(f.SharedWith, s.task.target.text())
			}) && slices.ContainsFunc(s.office.Tickets, func(t world.Ticket) bool {
				return t.ID == s.task.ticket.text() && t.AssigneeID != ""
			})
		},
	}
}
