package world

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// try calls a tool of the first edition and fails the test if the call fails.
func try(t *testing.T, w *World, op string, args ...Member) Value {
	t.Helper()
	r := edition.Op(op).Call(w, args)
	if r.Failed {
		t.Fatalf("%s failed: %s", op, r.Text())
	}
	return r.Value
}

var edition = NewEdition(false)

func (w *World) key(app string) Member { return M("access_token", Str(w.AccessToken(app))) }

func member(t *testing.T, v Value, path ...string) Value {
	t.Helper()
	for _, name := range path {
		f, ok := v.Field(name)
		if !ok {
			t.Fatalf("no member %q in %s", name, v.AppendJSON(nil))
		}
		v = f
	}
	return v
}

func TestSameSeedSameOffice(t *testing.T) {
	first, again := New(5, 3), New(5, 3)
	if Observe(first, edition) != Observe(again, edition) {
		t.Error("two offices of one seed differ")
	}
	for _, other := range []*World{New(5, 4), New(6, 3)} {
		if Observe(first, edition) == Observe(other, edition) {
			t.Error("offices of different seeds or employees are the same")
		}
	}
}

func TestToolsAreEnough(t *testing.T) {
	apps := map[string]bool{}
	for _, tool := range edition.Tools {
		apps[tool.App] = true
	}
	if len(edition.Tools) < 25 || len(apps) < 5 {
		t.Errorf("%d tools in %d applications", len(edition.Tools), len(apps))
	}
}

func TestReadAfterWrite(t *testing.T) {
	tests := []struct {
		write string
		check func(t *testing.T, w *World)
	}{
		{"mail_send", func(t *testing.T, w *World) {
			sent := try(t, w, "mail_send", w.key("mail"), M("to", List(Str("a@b.example"))), M("subject", Str("S")), M("body", Str("B")))
			read := try(t, w, "mail_read", w.key("mail"), M("message_id", member(t, sent, "message_id")))
			if member(t, read, "body").Text != "B" || member(t, read, "to").Text != "a@b.example" || member(t, read, "folder").Text != Sent {
				t.Errorf("read %s", read.AppendJSON(nil))
			}
		}},
		{"mail_move", func(t *testing.T, w *World) {
			id := Str(w.Messages[2].ID)
			try(t, w, "mail_move", w.key("mail"), M("message_id", id), M("folder", Str("later")))
			if got := member(t, try(t, w, "mail_read", w.key("mail"), M("message_id", id)), "folder").Text; got != "later" {
				t.Errorf("folder is %q", got)
			}
			if n := len(member(t, try(t, w, "mail_list", w.key("mail"), M("folder", Str("later"))), "messages").Items); n != 1 {
				t.Errorf("%d messages in the folder", n)
			}
		}},
		{"mail_delete", func(t *testing.T, w *World) {
			id := Str(w.Messages[2].ID)
			try(t, w, "mail_delete", w.key("mail"), M("message_id", id))
			if r := edition.Op("mail_read").Call(w, Args{w.key("mail"), M("message_id", id)}); !r.Failed || r.Code != "not_found" {
				t.Errorf("reading a deleted message gives %s", r.Text())
			}
		}},
		{"calendar_create_event", func(t *testing.T, w *World) {
			who := w.Contacts[4].Email
			made := try(t, w, "calendar_create_event", w.key("calendar"), M("title", Str("T")), M("date", Str("2026-12-01")),
				M("start", Str("09:00")), M("minutes", Int(45)), M("attendees", List(Str(who))))
			day := member(t, try(t, w, "calendar_list_events", w.key("calendar"), M("date", Str("2026-12-01"))), "events")
			if len(day.Items) != 1 || member(t, day.Items[0], "event_id").Text != member(t, made, "event_id").Text {
				t.Errorf("the day has %s", day.AppendJSON(nil))
			}
			read := try(t, w, "calendar_get_event", w.key("calendar"), M("event_id", member(t, made, "event_id")))
			if !read.Equal(made) {
				t.Errorf("read %s, made %s", read.AppendJSON(nil), made.AppendJSON(nil))
			}
		}},
		{"calendar_update_event", func(t *testing.T, w *World) {
			id := Str(w.Events[1].ID)
			try(t, w, "calendar_update_event", w.key("calendar"), M("event_id", id), M("start", Str("07:15")))
			if got := member(t, try(t, w, "calendar_get_event", w.key("calendar"), M("event_id", id)), "start").Text; got != "07:15" {
				t.Errorf("start is %q", got)
			}
		}},
		{"calendar_delete_event", func(t *testing.T, w *World) {
			id := Str(w.Events[1].ID)
			try(t, w, "calendar_delete_event", w.key("calendar"), M("event_id", id))
			if r := edition.Op("calendar_get_event").Call(w, Args{w.key("calendar"), M("event_id", id)}); !r.Failed {
				t.Error("a deleted event can be read")
			}
		}},
		{"files_write", func(t *testing.T, w *World) {
			made := try(t, w, "files_write", w.key("files"), M("folder", Str("new")), M("name", Str("n.txt")), M("content", Str("C")))
			if got := try(t, w, "files_read", w.key("files"), M("file_id", member(t, made, "file_id"))).Text; got != "C" {
				t.Errorf("content is %q", got)
			}
		}},
		{"files_move", func(t *testing.T, w *World) {
			f := w.Files[3]
			try(t, w, "files_move", w.key("files"), M("file_id", Str(f.ID)), M("folder", Str("new")))
			if n := len(member(t, try(t, w, "files_list", w.key("files"), M("folder", Str("new"))), "files").Items); n != 1 {
				t.Errorf("%d files in the new folder", n)
			}
		}},
		{"files_share", func(t *testing.T, w *World) {
			f := w.Files[3]
			try(t, w, "files_share", w.key("files"), M("file_id", Str(f.ID)), M("email", Str("x@y.example")))
			list := member(t, try(t, w, "files_list", w.key("files"), M("folder", Str(f.Folder))), "files")
			i := slices.IndexFunc(list.Items, func(v Value) bool { id, _ := v.Field("file_id"); return id.Text == f.ID })
			if got := string(member(t, list.Items[i], "shared_with").AppendJSON(nil)); got != `["x@y.example"]` {
				t.Errorf("shared with %s", got)
			}
		}},
		{"payments_pay_invoice", func(t *testing.T, w *World) {
			v := w.openInvoice()
			before := w.Balance
			try(t, w, "payments_pay_invoice", w.key("payments"), M("invoice_id", Str(v.ID)), M("amount", Money(v.Amount)))
			if got := member(t, try(t, w, "payments_get_invoice", w.key("payments"), M("invoice_id", Str(v.ID))), "status").Text; got != "paid" {
				t.Errorf("status is %q", got)
			}
			if got := member(t, try(t, w, "payments_show_balance", w.key("payments")), "balance").Text; got != moneyText(before-v.Amount) {
				t.Errorf("balance is %s", got)
			}
			if got := member(t, try(t, w, "mail_read", w.key("mail"), M("message_id", Str(v.MessageID))), "folder").Text; got != Paid {
				t.Errorf("the mail is in %q", got)
			}
			if r := edition.Op("payments_pay_invoice").Call(w, Args{w.key("payments"), M("invoice_id", Str(v.ID)), M("amount", Money(v.Amount))}); r.Code != "conflict" {
				t.Errorf("paying twice gives %s", r.Text())
			}
		}},
		{"payments_transfer", func(t *testing.T, w *World) {
			before := w.Balance
			try(t, w, "payments_transfer", w.key("payments"), M("email", Str("x@y.example")), M("amount", Money(1250)), M("note", Str("lunch")))
			if w.Balance != before-1250 {
				t.Errorf("balance went from %d to %d", before, w.Balance)
			}
		}},
		{"tickets_create", func(t *testing.T, w *World) {
			made := try(t, w, "tickets_create", w.key("tickets"), M("title", Str("T")), M("body", Str("B")))
			if got := member(t, try(t, w, "tickets_get", w.key("tickets"), M("ticket_id", member(t, made, "ticket_id"))), "body").Text; got != "B" {
				t.Errorf("body is %q", got)
			}
		}},
		{"tickets_comment", func(t *testing.T, w *World) {
			id := M("ticket_id", Str(w.openTicket().ID))
			try(t, w, "tickets_comment", w.key("tickets"), id, M("text", Str("C")))
			if got := string(member(t, try(t, w, "tickets_get", w.key("tickets"), id), "comments").AppendJSON(nil)); got != `["C"]` {
				t.Errorf("comments are %s", got)
			}
		}},
		{"tickets_assign", func(t *testing.T, w *World) {
			id := M("ticket_id", Str(w.openTicket().ID))
			try(t, w, "tickets_assign", w.key("tickets"), id, M("contact_id", Str(w.Contacts[5].ID)))
			if got := member(t, try(t, w, "tickets_get", w.key("tickets"), id), "assignee_id").Text; got != w.Contacts[5].ID {
				t.Errorf("assignee is %q", got)
			}
		}},
		{"tickets_update", func(t *testing.T, w *World) {
			id := M("ticket_id", Str(w.openTicket().ID))
			try(t, w, "tickets_update", w.key("tickets"), id, M("priority", Int(5)))
			if got := member(t, try(t, w, "tickets_get", w.key("tickets"), id), "priority").Text; got != "5" {
				t.Errorf("priority is %s", got)
			}
		}},
		{"tickets_close", func(t *testing.T, w *World) {
			id := M("ticket_id", Str(w.openTicket().ID))
			try(t, w, "tickets_close", w.key("tickets"), id, M("resolution", Str("solved")))
			if got := member(t, try(t, w, "tickets_get", w.key("tickets"), id), "status").Text; got != "closed" {
				t.Errorf("status is %q", got)
			}
			if r := edition.Op("tickets_close").Call(w, Args{w.key("tickets"), id, M("resolution", Str("solved"))}); r.Code != "conflict" {
				t.Errorf("closing twice gives %s", r.Text())
			}
		}},
		{"supervisor_complete_task", func(t *testing.T, w *World) {
			try(t, w, "supervisor_complete_task")
			if r := edition.Op("supervisor_show_profile").Call(w, nil); r.Code != "task_closed" {
				t.Errorf("after completion: %s", r.Text())
			}
		}},
	}
	tested := map[string]bool{}
	for _, test := range tests {
		tested[test.write] = true
		t.Run(test.write, func(t *testing.T) {
			for n := range 20 {
				test.check(t, New(1, n))
			}
		})
	}
	for _, tool := range edition.Tools {
		if tool.Effect == Mutator && !tested[tool.Op] && !strings.HasSuffix(tool.Op, "_login") {
			t.Errorf("%s is not tested", tool.Op)
		}
	}
}

func (w *World) openInvoice() Invoice {
	return w.Invoices[slices.IndexFunc(w.Invoices, func(v Invoice) bool { return v.Status == "open" })]
}

func (w *World) openTicket() Ticket {
	return w.Tickets[slices.IndexFunc(w.Tickets, func(t Ticket) bool { return t.Status == "open" })]
}

func TestLogin(t *testing.T) {
	w := New(1, 0)
	for _, app := range Apps {
		got := member(t, try(t, w, app+"_login", M("username", Str(w.User.Email)), M("password", Str(w.Password(app)))), "access_token").Text
		if got != w.AccessToken(app) {
			t.Errorf("%s: token %q", app, got)
		}
		for _, other := range Apps {
			r := edition.Op(app+"_login").Call(w, Args{M("username", Str(w.User.Email)), M("password", Str(w.Password(other)))})
			if r.Failed == (other == app) {
				t.Errorf("password of %s at %s: failed is %v", other, app, r.Failed)
			}
		}
	}
	if r := edition.Op("mail_list").Call(w, Args{w.key("calendar"), M("folder", Str(Inbox))}); r.Code != "unauthorized" {
		t.Errorf("a token of another application gives %s", r.Text())
	}
}

func TestPagesJoinToTheList(t *testing.T) {
	for n := range 30 {
		w := New(2, n)
		seen := 0
		page := Int(1)
		for page.Kind != Null {
			v := try(t, w, "mail_search", w.key("mail"), M("query", Str("")), M("page", page))
			seen += len(member(t, v, "messages").Items)
			if total := member(t, v, "total"); total.Text != Int(len(w.Messages)).Text {
				t.Fatalf("total is %s of %d", total.Text, len(w.Messages))
			}
			page = member(t, v, "next_page")
		}
		if seen != len(w.Messages) {
			t.Fatalf("saw %d of %d", seen, len(w.Messages))
		}
	}
}

func TestIDsAreUnique(t *testing.T) {
	for n := range 300 {
		w := New(3, n)
		for range 20 {
			try(t, w, "tickets_create", w.key("tickets"), M("title", Str("T")), M("body", Str("B")))
		}
		seen := map[string]bool{}
		add := func(id string) {
			if seen[id] {
				t.Fatalf("office %d has %s twice", n, id)
			}
			seen[id] = true
		}
		for _, x := range w.Messages {
			add(x.ID)
		}
		for _, x := range w.Events {
			add(x.ID)
		}
		for _, x := range w.Files {
			add(x.ID)
		}
		for _, x := range w.Invoices {
			add(x.ID)
		}
		for _, x := range w.Tickets {
			add(x.ID)
		}
		for _, x := range w.Contacts {
			add(x.ID)
			add(x.Name)
			add(x.Email)
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	w := New(4, 1)
	before := Observe(w, edition)
	c := w.Clone()
	r := NewRand(4, "clone", 0)
	for _, tool := range edition.Tools {
		if tool.Effect == Mutator && tool.Domain != "" {
			for range 5 {
				tool.Call(c, c.someArgs(r, tool))
			}
		}
	}
	if Observe(c, edition) == before {
		t.Fatal("the calls changed nothing")
	}
	if Observe(w, edition) != before {
		t.Error("changing the clone changed the original")
	}
}

func TestDefinitionsAreJSON(t *testing.T) {
	for _, e := range []*Edition{edition, NewEdition(true)} {
		names := map[string]bool{}
		for _, tool := range e.Tools {
			var f struct {
				Name        string
				Description string
				Parameters  struct {
					Type       string
					Properties map[string]map[string]any
					Required   []string
				}
			}
			if err := json.Unmarshal(tool.Function, &f); err != nil {
				t.Fatalf("%s: %v", tool.Name, err)
			}
			if f.Name != tool.Name || f.Description == "" || f.Parameters.Type != "object" || len(f.Parameters.Properties) != len(tool.Params) {
				t.Errorf("%s: definition is %s", tool.Name, tool.Function)
			}
			if names[f.Name] || len(f.Name) > 64 || strings.Trim(f.Name, "abcdefghijklmnopqrstuvwxyz_") != "" {
				t.Errorf("bad name %q", f.Name)
			}
			names[f.Name] = true
			var hints map[string]bool
			if err := json.Unmarshal(tool.Annotations, &hints); err != nil || hints["readOnlyHint"] != (tool.Effect != Mutator) {
				t.Errorf("%s: annotations are %s", tool.Name, tool.Annotations)
			}
		}
	}
}
