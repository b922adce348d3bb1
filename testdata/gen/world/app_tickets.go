package world

import (
	"strings"
	"time"
)

const ticketPage = 8

func ticketTools() []Tool {
	const domain = "tickets"
	// change is a write to one open ticket.
	change := func(op, doc string, idempotent bool, params []Param, apply func(*World, *Ticket, Args) string) Tool {
		return Tool{
			Op: op, App: "tickets", Doc: doc,
			Params: append([]Param{token(), text("ticket_id", "Id of the ticket.")}, params...),
			Effect: Mutator, Domain: domain, Idempotent: idempotent, Latency: 240 * time.Millisecond,
			run: func(w *World, a Args) Result {
				t := w.ticket(a.text("ticket_id"))
				switch {
				case t == nil:
					return Fail("tickets", "not_found", "no such ticket")
				case t.Status == "closed":
					return Fail("tickets", "conflict", "the ticket is closed")
				}
				if problem := apply(w, t, a); problem != "" {
					return Fail("tickets", "invalid_argument", problem)
				}
				return Result{Value: Obj(
					M("ticket_id", Str(t.ID)), M("status", Str(t.Status).As(DatumOf(t.ID, "status"))), M("comments", w.own(Int(len(t.Comments)))),
				)}
			},
		}
	}
	return []Tool{
		login("tickets"),
		{
			Op: "tickets_search", App: "tickets", Doc: "Find tickets by status and words.",
			Params: []Param{
				token(),
				{Name: "status", Type: "string", Doc: "Which tickets.", Enum: []string{"open", "closed"}},
				text("query", "Words in the title.").optional(), pageOf(),
			},
			Effect: Accessor, Latency: 260 * time.Millisecond,
			run: func(w *World, a Args) Result {
				var hits []Value
				for _, t := range w.Tickets {
					if t.Status == a.text("status") && strings.Contains(strings.ToLower(t.Title), strings.ToLower(a.text("query"))) {
						hits = append(hits, Obj(M("ticket_id", Str(t.ID)), M("title", Str(t.Title))))
					}
				}
				return w.paged("tickets", hits, a, ticketPage)
			},
		},
		{
			Op: "tickets_get", App: "tickets", Doc: "Show a ticket.",
			Params: []Param{token(), text("ticket_id", "Id of the ticket.")},
			Effect: Accessor, Latency: 120 * time.Millisecond,
			run: func(w *World, a Args) Result {
				t := w.ticket(a.text("ticket_id"))
				if t == nil {
					return Fail("tickets", "not_found", "no such ticket")
				}
				assignee := Value{}
				if t.AssigneeID != "" {
					assignee = Str(t.AssigneeID)
				}
				comments := make([]Value, len(t.Comments))
				for i, c := range t.Comments {
					comments[i] = Str(c)
				}
				return Result{Value: Obj(
					M("ticket_id", Str(t.ID)), M("title", Str(t.Title)), M("body", Str(t.Body).As(DatumOf(t.ID, "body"))),
					M("status", Str(t.Status).As(DatumOf(t.ID, "status"))), M("requester_id", Str(t.RequesterID)), M("assignee_id", assignee),
					M("severity", Int(t.Severity).As(DatumOf(t.ID, "severity"))), M("priority", Int(t.Priority).As(DatumOf(t.ID, "priority"))),
					M("comments", List(comments...)),
				)}
			},
		},
		{
			Op: "tickets_create", App: "tickets", Doc: "Open a ticket.",
			Params: []Param{
				token(), text("title", "Title."), text("body", "What is wrong."), text("requester_id", "Contact id of who asks.").optional(),
			},
			Effect: Mutator, Domain: domain, Latency: 300 * time.Millisecond,
			run: func(w *World, a Args) Result {
				t := Ticket{
					ID: w.newID("TCK"), Title: a.text("title"), Body: a.text("body"), RequesterID: a.text("requester_id"),
					Status: "open", Severity: 1, Priority: 3,
				}
				w.Tickets = append(w.Tickets, t)
				return Result{Value: Obj(M("ticket_id", Str(t.ID)), M("status", Str(t.Status).As(DatumOf(t.ID, "status"))))}
			},
		},
		change("tickets_comment", "Add a comment to a ticket.", false,
			[]Param{text("text", "The comment.")},
			func(_ *World, t *Ticket, a Args) string {
				t.Comments = append(t.Comments, a.text("text"))
				return ""
			}),
		change("tickets_assign", "Assign a ticket to a colleague.", true,
			[]Param{text("contact_id", "Contact id of the colleague.")},
			func(w *World, t *Ticket, a Args) string {
				if w.contact(a.text("contact_id")) == nil {
					return "no such contact"
				}
				t.AssigneeID = a.text("contact_id")
				return ""
			}),
		change("tickets_update", "Change the priority of a ticket.", true,
			[]Param{number("priority", "1 (urgent) to 5 (some day).", 1, 5)},
			func(_ *World, t *Ticket, a Args) string {
				t.Priority = a.number("priority", t.Priority)
				return ""
			}),
		change("tickets_close", "Close a ticket.", false,
			[]Param{{Name: "resolution", Type: "string", Doc: "How it ended.", Enum: []string{"solved", "duplicate", "rejected", "obsolete"}}},
			func(_ *World, t *Ticket, a Args) string {
				t.Status = "closed"
				t.Comments = append(t.Comments, "Closed as "+a.text("resolution"))
				return ""
			}),
	}
}
