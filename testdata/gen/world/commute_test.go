package world

import (
	"strings"
	"testing"
)

// someArgs returns arguments for a tool that mostly fit the office.
func (w *World) someArgs(r *Rand, tool *Tool) Args {
	var args Args
	for _, p := range tool.Params {
		if p.Optional && r.Chance(.3) {
			continue
		}
		args = append(args, M(p.Name, w.someValue(r, tool, p)))
	}
	// The amount must be that of the invoice.
	if tool.Op == "payments_pay_invoice" {
		v := Pick(r, w.Invoices)
		if r.Chance(.7) {
			v = w.openInvoice()
		}
		for i, p := range tool.Params {
			switch p.Op {
			case "invoice_id":
				args[i].Value = Str(v.ID)
			case "amount":
				args[i].Value = Money(v.Amount)
			}
		}
	}
	return args
}

func (w *World) someValue(r *Rand, tool *Tool, p Param) Value {
	switch {
	case p.Op == "access_token":
		return Str(w.AccessToken(tool.App))
	case p.Op == "username":
		return Str(w.User.Email)
	case p.Op == "password":
		return Str(w.Password(tool.App))
	case p.Op == "message_id":
		return Str(Pick(r, w.Messages).ID)
	case p.Op == "event_id":
		return Str(Pick(r, w.Events).ID)
	case p.Op == "file_id":
		return Str(Pick(r, w.Files).ID)
	case p.Op == "invoice_id":
		return Str(Pick(r, w.Invoices).ID)
	case p.Op == "ticket_id" && r.Chance(.5):
		return Str(w.openTicket().ID)
	case p.Op == "ticket_id":
		return Str(Pick(r, w.Tickets).ID)
	case p.Op == "contact_id" || p.Op == "requester_id":
		return Str(Pick(r, w.Contacts).ID)
	case p.Op == "email":
		return Str(Pick(r, w.Contacts).Email)
	case p.Op == "folder" && tool.App == "mail":
		return Str(Pick(r, []string{Inbox, Archive, Paid, "later"}))
	case p.Op == "folder":
		return Str(Pick(r, w.Files).Folder)
	case p.Format == "date":
		return Str(Pick(r, w.Events).Date)
	case p.Op == "amount":
		return Money(r.Between(1, 5000))
	case p.Type == "integer":
		return Int(r.Between(max(p.Min, 1), min(max(p.Max, 1), 60)))
	case p.Type == "array":
		return List(Str(Pick(r, w.Contacts).Email))
	case len(p.Enum) > 0:
		return Str(Pick(r, p.Enum))
	}
	return Str("text " + Token(r.Uint64(), Lower, 3))
}

// outcome is what two calls return and what can be seen after them.
type outcome struct{ a, b, after string }

// replay calls a and b in both orders in copies of the office. The outcome with
// the roles kept shows whether they commute.
func replay(w *World, a, b *Tool, argsA, argsB Args) (forward, backward outcome) {
	one, two := w.Clone(), w.Clone()
	forward.a = a.Call(one, argsA).Text()
	forward.b = b.Call(one, argsB).Text()
	forward.after = Observe(one, edition)
	backward.b = b.Call(two, argsB).Text()
	backward.a = a.Call(two, argsA).Text()
	backward.after = Observe(two, edition)
	return forward, backward
}

func writes() []*Tool {
	var list []*Tool
	for _, t := range edition.Tools {
		if t.Effect == Mutator {
			list = append(list, t)
		}
	}
	return list
}

// TestWritesOfDifferentDomainsCommute replays every pair of writes of different
// domains in both orders, in many offices and with arguments that mostly fit:
// results and all later reads agree.
func TestWritesOfDifferentDomainsCommute(t *testing.T) {
	const trials = 12
	for _, a := range writes() {
		for _, b := range writes() {
			if a.Domain == "" || b.Domain == "" || a.Domain == b.Domain || a.Name > b.Name {
				continue
			}
			worked := 0
			for n := range trials {
				w := New(11, n)
				r := NewRand(11, a.Name+b.Name, n)
				argsA, argsB := w.someArgs(r, a), w.someArgs(r, b)
				forward, backward := replay(w, a, b, argsA, argsB)
				if forward != backward {
					t.Fatalf("%s%s and %s%s do not commute in office %d", a.Name, argsA.Value().AppendJSON(nil), b.Name, argsB.Value().AppendJSON(nil), n)
				}
				if !strings.Contains(forward.a, "error") && !strings.Contains(forward.b, "error") {
					worked++
				}
			}
			if worked < trials/4 {
				t.Errorf("%s and %s both worked in %d of %d trials only", a.Name, b.Name, worked, trials)
			}
		}
	}
}

// TestPayingAndMovingInteract holds the planted interaction: paying an invoice
// and moving its mail give another office in another order, and moving any other
// mail does not.
func TestPayingAndMovingInteract(t *testing.T) {
	pay, move := edition.Op("payments_pay_invoice"), edition.Op("mail_move")
	for n := range 20 {
		w := New(12, n)
		v := w.openInvoice()
		argsPay := Args{w.key("payments"), M("invoice_id", Str(v.ID)), M("amount", Money(v.Amount))}
		for _, m := range w.Messages {
			argsMove := Args{w.key("mail"), M("message_id", Str(m.ID)), M("folder", Str(Archive))}
			forward, backward := replay(w, pay, move, argsPay, argsMove)
			if commute := forward == backward; commute == (m.ID == v.MessageID) {
				t.Fatalf("office %d, message %s, mail of the invoice %v: commute is %v", n, m.ID, m.ID == v.MessageID, commute)
			}
		}
	}
}

// TestCompletingCommutesWithNothing replays the write without a domain.
func TestCompletingCommutesWithNothing(t *testing.T) {
	done := edition.Op("supervisor_complete_task")
	for _, b := range writes() {
		w := New(13, 1)
		args := w.someArgs(NewRand(13, b.Name, 0), b)
		if forward, backward := replay(w, done, b, nil, args); forward == backward {
			t.Errorf("completing commutes with %s", b.Name)
		}
	}
}

func TestReadsAndNotesChangeNothing(t *testing.T) {
	for n := range 5 {
		w := New(14, n)
		before := Observe(w, edition)
		r := NewRand(14, "reads", n)
		for _, tool := range edition.Tools {
			if tool.Effect != Mutator {
				for range 3 {
					tool.Call(w, w.someArgs(r, tool))
				}
			}
		}
		if Observe(w, edition) != before {
			t.Error("a read or a note changed the office")
		}
	}
}

func TestEveryWriteButLoginChangesSomething(t *testing.T) {
	for _, tool := range writes() {
		changed := false
		for n := range 20 {
			w := New(15, n)
			before := Observe(w, edition)
			tool.Call(w, w.someArgs(NewRand(15, tool.Name, n), tool))
			changed = changed || Observe(w, edition) != before
		}
		if changed == strings.HasSuffix(tool.Op, "_login") {
			t.Errorf("%s: changed is %v", tool.Name, changed)
		}
	}
}

func TestFailedCallsChangeNothing(t *testing.T) {
	for n := range 10 {
		w := New(16, n)
		before := Observe(w, edition)
		r := NewRand(16, "failures", n)
		failures := 0
		for _, tool := range writes() {
			for k := range 8 {
				c := w.Clone()
				args := c.someArgs(r, tool)
				if k%2 == 1 && len(args) > 1 {
					args[1+r.IntN(len(args)-1)].Value = Str("nothing like it")
				}
				if result := tool.Call(c, args); result.Failed {
					failures++
					if Observe(c, edition) != before {
						t.Fatalf("%s failed with %s and changed something", tool.Name, result.Text())
					}
				}
			}
		}
		if failures < 10 {
			t.Errorf("only %d calls failed", failures)
		}
	}
}

// TestIdempotentHints: doing an idempotent write twice is doing it once, and
// every other write shows somewhere that it was done twice, or refuses.
func TestIdempotentHints(t *testing.T) {
	for _, tool := range writes() {
		if tool.Domain == "" {
			continue
		}
		same := true
		for n := range 12 {
			w := New(17, n)
			args := w.someArgs(NewRand(17, tool.Name, n), tool)
			first := tool.Call(w, args)
			once := Observe(w, edition)
			second := tool.Call(w, args)
			same = same && first.Text() == second.Text() && Observe(w, edition) == once
		}
		if same != tool.Idempotent {
			t.Errorf("%s: idempotent is %v, twice is once is %v", tool.Name, tool.Idempotent, same)
		}
	}
}
