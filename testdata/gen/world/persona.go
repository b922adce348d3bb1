package world

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Folders of the mail application.
const (
	Inbox   = "inbox"
	Archive = "archive"
	Paid    = "paid"
	Sent    = "sent"
)

// Apps are the applications that need a login, in the order in which their
// passwords are listed.
var Apps = [...]string{"files", "mail", "payments", "calendar", "tickets"}

// New returns the office of one employee. n counts employees; the same seed and
// n give the same office.
func New(seed uint64, n int) *World {
	r := NewRand(seed, "office", n)
	w := &World{seed: r.Uint64(), Floor: r.Between(2, 9)}
	domain := Pick(r, words.companies) + ".example"
	w.Today = workday(r.IntN(40))
	w.addContacts(r, domain)
	for _, app := range Apps {
		w.Accounts = append(w.Accounts, Account{App: app, Password: Token(r.Uint64(), Password, 12)})
	}
	r.Shuffle(len(w.Accounts), func(i, j int) { w.Accounts[i], w.Accounts[j] = w.Accounts[j], w.Accounts[i] })
	w.addMail(r)
	w.addInvoices(r)
	w.addEvents(r)
	w.addFiles(r)
	w.addTickets(r)
	return w
}

// workday returns the first working day that is at least n days after
// 2 February 2026.
func workday(n int) string {
	t := time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n)
	for t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
		t = t.AddDate(0, 0, 1)
	}
	return t.Format(time.DateOnly)
}

// Workdays returns the n working days that follow a date.
func Workdays(after string, n int) []string {
	t, err := time.Parse(time.DateOnly, after)
	if err != nil {
		panic(fmt.Sprintf("world: %q is no date", after))
	}
	days := make([]string, 0, n)
	for len(days) < n {
		t = t.AddDate(0, 0, 1)
		if t.Weekday() != time.Saturday && t.Weekday() != time.Sunday {
			days = append(days, t.Format(time.DateOnly))
		}
	}
	return days
}

func daysBefore(date string, n int) string {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(fmt.Sprintf("world: %q is no date", date))
	}
	return t.AddDate(0, 0, -n).Format(time.DateOnly)
}

func (w *World) addContacts(r *Rand, domain string) {
	firsts := shuffled(r, words.first)
	lasts := make([]string, 15)
	for i := range lasts {
		first := firsts[i]
		lasts[i] = Pick(r, words.nameBegin) + Pick(r, words.nameMiddle) + Pick(r, words.nameEnd)
		if i == len(lasts)-1 {
			lasts[i] = lasts[3] // somebody shares a family name with another
		}
		c := Contact{
			ID:    w.id("con", i+1),
			Name:  first + " " + lasts[i],
			Email: address(first) + "." + address(lasts[i]) + "@" + domain,
			Team:  Pick(r, words.teams),
			Desk:  Pick(r, words.rooms),
			Phone: fmt.Sprintf("+49 30 55%d", r.Between(10000, 99999)),
		}
		if i == 0 {
			w.User = c
		}
		w.Contacts = append(w.Contacts, c)
	}
}

// address lowers a name to the letters that an address may have.
func address(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == 'ë':
			return 'e'
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r > 127 || r == ' ' || r == '&':
			return -1
		}
		return r
	}, name)
}

func (w *World) addMail(r *Rand) {
	topics := shuffled(r, words.topics)
	sentences := shuffled(r, words.sentences)
	for t := range 4 {
		for k := range r.Between(2, 7) {
			from := Pick(r, w.Contacts[1:])
			subject := strings.ToUpper(topics[t][:1]) + topics[t][1:] + ": " + Pick(r, words.fileKinds) + " " + strconv.Itoa(k+1)
			w.Messages = append(w.Messages, Message{
				ID: w.id("msg", len(w.Messages)+1), From: from.Email, To: w.User.Email, Subject: subject,
				Body:   sentences[(t*4+k)%len(sentences)] + " " + Pick(r, words.sentences),
				Date:   daysBefore(w.Today, r.Between(1, 30)),
				Folder: Inbox,
			})
		}
	}
}

func (w *World) addInvoices(r *Rand) {
	w.Balance = r.Between(40_000, 99_000) * 10
	for i, vendor := range shuffled(r, words.vendors)[:11] {
		invoice := Invoice{
			ID: w.id("INV", i+1), Vendor: vendor, Status: "open",
			Amount:  r.Between(20, 700)*100 + Pick(r, []int{0, 0, 50, 90, 25}),
			DueDate: daysBefore(w.Today, -r.Between(2, 28)),
		}
		if i >= 7 {
			invoice.Status = "paid"
			w.Transactions = append(w.Transactions, Transaction{
				ID: w.id("trx", len(w.Transactions)+1), Text: vendor, Amount: -invoice.Amount, Date: daysBefore(w.Today, r.Between(1, 28)),
			})
		} else {
			invoice.MessageID = w.id("msg", len(w.Messages)+1)
			w.Messages = append(w.Messages, Message{
				ID: invoice.MessageID, To: w.User.Email,
				From:    "billing@" + address(vendor) + ".example",
				Subject: "Invoice " + invoice.ID + " from " + vendor,
				Body:    "Dear customer, please find our invoice over " + moneyText(invoice.Amount) + " EUR. " + Pick(r, words.sentences),
				Date:    daysBefore(w.Today, r.Between(1, 20)), Folder: Inbox,
			})
		}
		w.Invoices = append(w.Invoices, invoice)
	}
	for range r.Between(3, 9) {
		w.Transactions = append(w.Transactions, Transaction{
			ID: w.id("trx", len(w.Transactions)+1), Text: "Refund " + Pick(r, words.teams),
			Amount: r.Between(10, 400) * 50, Date: daysBefore(w.Today, r.Between(1, 28)),
		})
	}
	r.Shuffle(len(w.Invoices), func(i, j int) { w.Invoices[i], w.Invoices[j] = w.Invoices[j], w.Invoices[i] })
}

func (w *World) addEvents(r *Rand) {
	for _, date := range append([]string{w.Today}, Workdays(w.Today, 4)...) {
		starts := shuffled(r, words.starts)
		for k := range r.Between(3, 6) {
			e := Event{
				ID: w.id("evt", len(w.Events)+1), Title: Pick(r, words.titles), Date: date, Start: starts[k],
				Minutes: Pick(r, []int{30, 30, 45, 60}), Room: Pick(r, words.rooms),
			}
			for range r.Between(1, 3) {
				e.Attendees = append(e.Attendees, Pick(r, w.Contacts[1:]).Email)
			}
			w.Events = append(w.Events, e)
		}
	}
}

func (w *World) addFiles(r *Rand) {
	for _, folder := range shuffled(r, words.folders)[:4] {
		kinds := shuffled(r, words.fileKinds)
		for k := range r.Between(3, 6) {
			w.Files = append(w.Files, File{
				ID: w.id("fil", len(w.Files)+1), Folder: folder, Name: folder + "-" + kinds[k] + ".txt",
				Content:  "# " + kinds[k] + "\n" + Pick(r, words.lines) + "\n" + Pick(r, words.lines) + "\n",
				Modified: daysBefore(w.Today, r.Between(1, 300)),
			})
		}
	}
}

func (w *World) addTickets(r *Rand) {
	for i, title := range shuffled(r, words.tickets)[:r.Between(8, 11)] {
		t := Ticket{
			ID: w.id("TCK", i+1), Title: fmt.Sprintf(title, r.Between(2, 40)), Status: "open",
			Body:        Pick(r, words.sentences),
			RequesterID: Pick(r, w.Contacts[1:]).ID, Severity: r.Between(1, 5), Priority: 3,
		}
		if i%4 == 3 {
			t.Status = "closed"
		}
		w.Tickets = append(w.Tickets, t)
	}
}

func shuffled[T any](r *Rand, items []T) []T {
	c := append([]T(nil), items...)
	r.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
	return c
}
