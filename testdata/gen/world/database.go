package world

import (
	"maps"
	"slices"
	"strconv"
)

// World is the office of one employee. The tables are in a fixed order; tools
// change them in place.
type World struct {
	seed uint64

	User     Contact
	Floor    int
	Today    string // a date, as in "2026-03-09"
	Accounts []Account

	Contacts     []Contact
	Messages     []Message
	Events       []Event
	Files        []File
	Invoices     []Invoice
	Transactions []Transaction
	Tickets      []Ticket

	Balance   int // cents
	Completed bool

	made map[string]int // how many records of a kind the tools have made
	echo int            // how many data of its own a result has had
}

// Account is a stored password.
type Account struct{ App, Password string }

// Contact is a person in the directory.
type Contact struct {
	ID, Name, Email, Team, Desk, Phone string
	Vendor                             bool
}

// Message is a mail.
type Message struct {
	ID, From, To, Subject, Body, Date, Folder string
}

// Event is an entry of the calendar. Attendees are addresses.
type Event struct {
	ID, Title, Date, Start, Room string
	Minutes                      int
	Attendees                    []string
}

// File is a document. Content is plain text.
type File struct {
	ID, Folder, Name, Content, Modified string
	SharedWith                          []string
}

// Invoice is a bill from a vendor. MessageID is the mail that brought it.
type Invoice struct {
	ID, Vendor, Status, DueDate, MessageID string
	Amount                                 int // cents
}

// Transaction is a movement of money.
type Transaction struct {
	ID, Date, Text string
	Amount         int // cents, negative if paid
}

// Ticket is a request from a colleague.
type Ticket struct {
	ID, Title, Body, Status, RequesterID, AssigneeID string
	Severity, Priority                               int
	Comments                                         []string
}

// Clone returns a copy that shares nothing that tools change.
func (w *World) Clone() *World {
	c := *w
	c.Accounts = slices.Clone(w.Accounts)
	c.Contacts = slices.Clone(w.Contacts)
	c.Messages = slices.Clone(w.Messages)
	c.Events = slices.Clone(w.Events)
	c.Files = slices.Clone(w.Files)
	for i := range c.Files {
		c.Files[i].SharedWith = slices.Clone(c.Files[i].SharedWith)
	}
	c.Invoices = slices.Clone(w.Invoices)
	c.Transactions = slices.Clone(w.Transactions)
	c.Tickets = slices.Clone(w.Tickets)
	for i := range c.Tickets {
		c.Tickets[i].Comments = slices.Clone(c.Tickets[i].Comments)
	}
	c.made = maps.Clone(w.made)
	return &c
}

// Password returns the stored password of an application.
func (w *World) Password(app string) string {
	for _, a := range w.Accounts {
		if a.App == app {
			return a.Password
		}
	}
	return ""
}

// AccessToken returns the token that a login to the application gives. It is a
// function of the account, as a signed token is, so logging in changes nothing
// and may be repeated.
func (w *World) AccessToken(app string) string {
	return Token(hash(w.seed, "token", app, w.Password(app)), Base62, 28)
}

// newID returns the id of the next record that the tools make of a kind. Kinds
// are counted apart, so that writes to different applications give the same ids
// in either order.
func (w *World) newID(kind string) string {
	if w.made == nil {
		w.made = make(map[string]int)
	}
	w.made[kind]++
	return w.id(kind, madeFrom+w.made[kind])
}

// madeFrom is the number of the first record that a tool makes; offices begin
// with fewer records of every kind.
const madeFrom = 50

// id returns the id of the n-th record of a kind. The short ids of invoices and
// tickets end in the number, so that they do not repeat inside an office.
func (w *World) id(kind string, n int) string {
	x := hash(w.seed, "id", kind, strconv.Itoa(n))
	switch kind {
	case "INV", "TCK":
		return kind + "-" + Token(x, Digits, 4) + strconv.Itoa(n%100/10) + strconv.Itoa(n%10)
	default:
		return kind + "_" + Token(x, Lower, 7)
	}
}

// own marks a leaf as a datum that nothing else shows: counters, page numbers.
func (w *World) own(v Value) Value {
	w.echo++
	return v.As(Datum(hash(w.seed, "own", strconv.Itoa(w.echo)) | 1))
}

func (w *World) message(id string) *Message {
	return find(w.Messages, func(m *Message) bool { return m.ID == id })
}

func (w *World) event(id string) *Event {
	return find(w.Events, func(e *Event) bool { return e.ID == id })
}

func (w *World) file(id string) *File {
	return find(w.Files, func(f *File) bool { return f.ID == id })
}

func (w *World) invoice(id string) *Invoice {
	return find(w.Invoices, func(v *Invoice) bool { return v.ID == id })
}

func (w *World) ticket(id string) *Ticket {
	return find(w.Tickets, func(t *Ticket) bool { return t.ID == id })
}

func (w *World) contact(id string) *Contact {
	return find(w.Contacts, func(c *Contact) bool { return c.ID == id })
}

func find[T any](items []T, match func(*T) bool) *T {
	for i := range items {
		if match(&items[i]) {
			return &items[i]
		}
	}
	return nil
}
