package world

// Observe returns what all reads together can see of an office: the result of
// every accessor for every record there is, one a line. Two offices with the
// same observation cannot be told apart by an agent.
func Observe(w *World, e *Edition) string {
	var out []byte
	see := func(op string, args ...Member) Result {
		t := e.Op(op)
		named := make(Args, len(args))
		for i, a := range args {
			named[i] = a
			for _, p := range t.Params {
				if p.Op == a.Name {
					named[i].Name = p.Name
				}
			}
		}
		result := t.Call(w, named)
		out = append(out, op...)
		out = named.Value().AppendJSON(out)
		out = append(append(out, result.Text()...), '\n')
		return result
	}
	pages := func(op string, args ...Member) {
		for page := 1; ; page++ {
			result := see(op, append(args[:len(args):len(args)], M("page", Int(page)))...)
			if next, ok := result.Value.Field("next_page"); !ok || next.Kind == Null {
				return
			}
		}
	}
	token := func(app string) Member { return M("access_token", Str(w.AccessToken(app))) }

	see("supervisor_show_profile")
	see("supervisor_show_passwords")
	see("contacts_search", M("query", Str("")))
	for _, c := range w.Contacts {
		see("contacts_get", M("contact_id", Str(c.ID)))
	}
	folders := map[string]bool{}
	pages("mail_search", token("mail"), M("query", Str("")))
	for _, m := range w.Messages {
		see("mail_read", token("mail"), M("message_id", Str(m.ID)))
		if !folders[m.Folder] {
			folders[m.Folder] = true
			pages("mail_list", token("mail"), M("folder", Str(m.Folder)))
		}
	}
	days := map[string]bool{}
	for _, ev := range w.Events {
		see("calendar_get_event", token("calendar"), M("event_id", Str(ev.ID)))
		if !days[ev.Date] {
			days[ev.Date] = true
			see("calendar_list_events", token("calendar"), M("date", Str(ev.Date)))
			see("calendar_find_slot", token("calendar"), M("date", Str(ev.Date)), M("minutes", Int(30)), M("attendees", List(Str(w.User.Email))))
		}
	}
	places := map[string]bool{}
	for _, f := range w.Files {
		see("files_read", token("files"), M("file_id", Str(f.ID)))
		if !places[f.Folder] {
			places[f.Folder] = true
			see("files_list", token("files"), M("folder", Str(f.Folder)))
		}
	}
	see("payments_show_balance", token("payments"))
	pages("payments_list_transactions", token("payments"))
	for _, status := range []string{"open", "paid"} {
		pages("payments_list_invoices", token("payments"), M("status", Str(status)))
	}
	for _, v := range w.Invoices {
		see("payments_get_invoice", token("payments"), M("invoice_id", Str(v.ID)))
	}
	for _, status := range []string{"open", "closed"} {
		pages("tickets_search", token("tickets"), M("status", Str(status)))
	}
	for _, t := range w.Tickets {
		see("tickets_get", token("tickets"), M("ticket_id", Str(t.ID)))
	}
	return string(out)
}
