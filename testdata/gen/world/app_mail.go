package world

import (
	"slices"
	"strings"
	"time"
)

const mailPage = 5

func mailTools() []Tool {
	const domain = "correspondence"
	return []Tool{
		login("mail"),
		{
			Op: "mail_search", App: "mail", Doc: "Find messages by words in subject or sender.",
			Params: []Param{token(), text("query", "Words to look for."), pageOf()},
			Effect: Accessor, Latency: 310 * time.Millisecond,
			run: func(w *World, a Args) Result {
				query := strings.ToLower(a.text("query"))
				return w.messages(a, func(m *Message) bool {
					return strings.Contains(strings.ToLower(m.Subject), query) || strings.Contains(m.From, query)
				})
			},
		},
		{
			Op: "mail_list", App: "mail", Doc: "List the messages of a folder.",
			Params: []Param{token(), text("folder", "Folder, such as inbox."), pageOf()},
			Effect: Accessor, Latency: 240 * time.Millisecond,
			run: func(w *World, a Args) Result {
				folder := a.text("folder")
				return w.messages(a, func(m *Message) bool { return m.Folder == folder })
			},
		},
		{
			Op: "mail_read", App: "mail", Doc: "Read a message.",
			Params: []Param{token(), text("message_id", "Id of the message.")},
			Effect: Accessor, Latency: 150 * time.Millisecond,
			run: func(w *World, a Args) Result {
				m := w.message(a.text("message_id"))
				if m == nil {
					return Fail("mail", "not_found", "no such message")
				}
				return Result{Value: Obj(
					M("message_id", Str(m.ID)), M("from", Str(m.From)), M("to", Str(m.To)), M("subject", Str(m.Subject)),
					M("date", Str(m.Date).As(DatumOf(m.ID, "date"))), M("body", Str(m.Body)),
					M("folder", Str(m.Folder)),
				)}
			},
		},
		{
			Op: "mail_send", App: "mail", Doc: "Send a message.",
			Params: []Param{
				token(), addresses("to", "Addresses of the recipients."), text("subject", "Subject."), text("body", "Text of the message."),
			},
			Effect: Mutator, Domain: domain, OpenWorld: true, Latency: 420 * time.Millisecond,
			run: func(w *World, a Args) Result {
				to, _ := a.lookup("to")
				if len(to.Items) == 0 {
					return Fail("mail", "invalid_argument", "to must name somebody")
				}
				m := Message{
					ID: w.newID("msg"), From: w.User.Email, To: joined(to), Subject: a.text("subject"), Body: a.text("body"),
					Date: w.Today, Folder: Sent,
				}
				w.Messages = append(w.Messages, m)
				return Result{Value: Obj(
					M("message_id", Str(m.ID)), M("status", Str("sent").As(DatumOf(m.ID, "status"))),
				)}
			},
		},
		{
			Op: "mail_move", App: "mail", Doc: "Move a message to another folder.",
			Params: []Param{token(), text("message_id", "Id of the message."), text("folder", "Where to.")},
			Effect: Mutator, Domain: domain, Idempotent: true, Latency: 180 * time.Millisecond,
			run: func(w *World, a Args) Result {
				m := w.message(a.text("message_id"))
				if m == nil {
					return Fail("mail", "not_found", "no such message")
				}
				m.Folder = a.text("folder")
				return Result{Value: Obj(
					M("message_id", Str(m.ID)), M("folder", Str(m.Folder)),
				)}
			},
		},
		{
			Op: "mail_delete", App: "mail", Doc: "Delete a message for good.",
			Params: []Param{token(), text("message_id", "Id of the message.")},
			Effect: Mutator, Domain: domain, Destructive: true, Latency: 180 * time.Millisecond,
			run: func(w *World, a Args) Result {
				id := a.text("message_id")
				i := slices.IndexFunc(w.Messages, func(m Message) bool { return m.ID == id })
				if i < 0 {
					return Fail("mail", "not_found", "no such message")
				}
				w.Messages = slices.Concat(w.Messages[:i], w.Messages[i+1:])
				return Result{Value: Obj(M("deleted", Str(id)))}
			},
		},
	}
}

// messages returns the matching messages as a page of heads.
func (w *World) messages(a Args, match func(*Message) bool) Result {
	var hits []Value
	for i := range w.Messages {
		if m := &w.Messages[i]; match(m) {
			hits = append(hits, Obj(
				M("message_id", Str(m.ID)), M("from", Str(m.From)), M("subject", Str(m.Subject)),
				M("date", Str(m.Date).As(DatumOf(m.ID, "date"))),
			))
		}
	}
	return w.paged("messages", hits, a, mailPage)
}

func joined(list Value) string {
	parts := make([]string, len(list.Items))
	for i, v := range list.Items {
		parts[i] = v.Text
	}
	return strings.Join(parts, ", ")
}
