package office

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// openInvoice chooses an open invoice that the balance covers.
func openInvoice(w *world.World, r *world.Rand, sibling int) world.Invoice {
	var open []world.Invoice
	for _, v := range w.Invoices {
		if v.Status == "open" {
			open = append(open, v)
		}
	}
	return choose(r, open, sibling)
}

// payFamily: pay the invoice of a vendor, in a part of the tasks followed by an
// entry in the calendar. Some tasks do not say which vendor.
func payFamily() *family {
	return &family{
		name: "pay", weight: 2, apps: []string{"payments", "calendar"},
		prepare: func(t *task, w *world.World, r *world.Rand) {
			v := openInvoice(w, r, t.sibling)
			t.target = known(v.ID)
			t.vendor = known(v.Vendor)
			t.date = known(world.Workdays(w.Today, 3)[r.IntN(3)])
			t.start = own("start", world.Str(world.Pick(r, world.Starts())))
			t.minutes = own("minutes", world.Int(30))
			t.title = known("Check statement")
			t.extra = r.Chance(.5)
			if r.Chance(.25) {
				t.text = "Please pay the open invoice we talked about."
				t.vendor = t.vendor.withheld("From which vendor is the invoice?", "It is the one from "+v.Vendor+".")
			} else {
				t.text = "Please pay the open invoice from " + v.Vendor + "."
			}
			if t.extra {
				t.text += fmt.Sprintf(" Then block %s minutes in my calendar on %s at %s, titled %q.",
					t.minutes.text(), t.date.text(), t.start.text(), t.title.text())
			}
		},
		work: func(s *session) {
			vendor := s.need(&s.task.vendor)
			if !vendor.ok() || !s.openForMoney() {
				return
			}
			invoice := s.findInvoice(vendor)
			if !invoice.ok() || !s.payInvoice(invoice) {
				s.say("The invoice could not be paid.")
				return
			}
			if s.rng.Chance(s.habits.verify) {
				s.call("payments_show_balance", s.in("payments"))
			}
			if s.task.extra && !s.blockTime() {
				return
			}
			s.finish("The invoice from " + vendor.text() + " is paid.")
		},
		solved: func(s *session) bool {
			i := slices.IndexFunc(s.office.Invoices, func(v world.Invoice) bool { return v.ID == s.task.target.text() })
			return s.office.Invoices[i].Status == "paid" && (!s.task.extra || hasEvent(s.office, s.task.title.text(), s.task.date.text()))
		},
	}
}

func (s *session) openForMoney() bool {
	if s.task.extra {
		return s.enter("payments", "calendar")
	}
	return s.enter("payments")
}

// findInvoice pages through the open invoices until it sees the vendor's.
func (s *session) findInvoice(vendor ref) ref {
	has := func(r reply) bool { return r.at("invoices").where("vendor", vendor.text()).ok() }
	all := s.pages("payments_list_invoices", has, s.in("payments"), arg("status", constant(world.Str("open"))))
	if len(all) == 0 {
		return ref{}
	}
	return all[len(all)-1].at("invoices").where("vendor", vendor.text())
}

// payInvoice pays, after a look at the details and a question if those are the
// agent's habits.
func (s *session) payInvoice(invoice ref) bool {
	id, amount := invoice.at("invoice_id"), invoice.at("amount")
	currency := constant(world.Str("EUR"))
	if s.rng.Chance(s.habits.details) {
		r, ok := s.call("payments_get_invoice", s.in("payments"), arg("invoice_id", id))
		if !ok {
			return false
		}
		amount, currency = r.at("amount"), r.at("currency")
	}
	if s.rng.Chance(s.habits.confirm) {
		if s.question("Shall I pay "+amount.text()+" EUR for "+id.text()+"?", world.Pick(s.rng, []string{"Yes, please.", "Yes.", "Go ahead."})) < 0 {
			return false
		}
	}
	args := []argument{s.in("payments"), arg("invoice_id", id), arg("amount", amount)}
	if s.run.Second {
		args = append(args, arg("currency", currency))
	}
	_, ok := s.call("payments_pay_invoice", args...)
	return ok
}

func (s *session) blockTime() bool {
	if !s.open("calendar") {
		return false
	}
	_, ok := s.call("calendar_create_event", s.in("calendar"), arg("title", s.task.title.ref), arg("date", s.task.date.ref),
		arg("start", s.task.start.ref), arg("minutes", s.task.minutes.ref))
	return ok
}

// settleFamily: pay an invoice and file its mail. Paying moves the mail too, so
// the order decides where it ends.
func settleFamily() *family {
	return &family{
		name: "settle", weight: 5, apps: []string{"payments", "mail"},
		prepare: func(t *task, w *world.World, r *world.Rand) {
			v := openInvoice(w, r, t.sibling)
			t.target = known(v.ID)
			t.vendor = known(v.Vendor)
			t.folder = known(world.Archive)
			t.text = "Pay the open invoice from " + v.Vendor + " and put the mail it came with into the folder archive."
			if r.Chance(.3) {
				t.text = "Pay the invoice that came last and put the mail it came with into the folder archive."
				t.vendor = t.vendor.withheld("Whose invoice is it?", "From "+v.Vendor+", I think.")
			}
		},
		work: func(s *session) {
			vendor := s.need(&s.task.vendor)
			if !vendor.ok() || !s.enter("payments", "mail") {
				return
			}
			invoice := s.findInvoice(vendor)
			if !invoice.ok() || !s.open("mail") {
				return
			}
			found, ok := s.call("mail_search", s.in("mail"), arg("query", vendor))
			if !ok {
				return
			}
			mail := found.at("messages", 0, "message_id")
			file := func() bool {
				_, ok := s.call("mail_move", s.in("mail"), arg("message_id", mail), arg("folder", s.task.folder.ref))
				return ok
			}
			if !mail.ok() || !s.inEitherOrder(func() bool { return s.payInvoice(invoice) }, file) {
				return
			}
			if s.rng.Chance(.9) {
				r, ok := s.call("mail_read", s.in("mail"), arg("message_id", mail))
				if ok && r.at("folder").text() != world.Archive && s.rng.Chance(.5) && !file() {
					return
				}
			}
			s.finish("Paid, and the mail is filed.")
		},
		solved: func(s *session) bool {
			i := slices.IndexFunc(s.office.Invoices, func(v world.Invoice) bool { return v.ID == s.task.target.text() })
			v := s.office.Invoices[i]
			return v.Status == "paid" && slices.ContainsFunc(s.office.Messages, func(m world.Message) bool {
				return m.ID == v.MessageID && m.Folder == world.Archive
			})
		},
	}
}

// ledgerFamily: read all movements, page by page, and add something up.
func ledgerFamily() *family {
	return &family{
		name: "ledger", weight: 2, apps: []string{"payments"},
		prepare: func(t *task, w *world.World, r *world.Rand) {
			t.answer = true
			t.text = world.Pick(r, []string{
				"How much did we get back in refunds this month?", "What was the largest payment of the last four weeks?",
			})
			if t.sibling == 1 {
				t.text += " Tell me the balance as well."
			}
			t.extra = t.sibling == 1
		},
		work: func(s *session) {
			if !s.enter("payments") {
				return
			}
			if s.task.extra && s.rng.Chance(.5) {
				s.call("payments_show_balance", s.in("payments"))
			}
			early := s.rng.Chance((1 - s.habits.whole) / 3)
			all := s.pages("payments_list_transactions", func(reply) bool { return early }, s.in("payments"))
			if len(all) == 0 {
				return
			}
			largest := 0
			for _, page := range all {
				largest += len(page.at("transactions").value.Items)
			}
			s.finish(fmt.Sprintf("I looked at %d movements; the figure you asked for is in the last quarter of them.", largest))
		},
	}
}

func hasEvent(w *world.World, title, date string) bool {
	return slices.ContainsFunc(w.Events, func(e world.Event) bool { return strings.EqualFold(e.Title, title) && e.Date == date })
}
