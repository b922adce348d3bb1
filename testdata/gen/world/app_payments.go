package world

import (
	"strconv"
	"strings"
	"time"
)

const paymentsPage = 4

// Net days are the same on every invoice: a constant that proves nothing.
const netDays = 30

func paymentTools() []Tool {
	// Paying an invoice files the mail that brought it, so payments and mail are
	// one domain although they are two applications.
	const domain = "correspondence"
	return []Tool{
		login("payments"),
		{
			Op: "payments_show_balance", App: "payments", Doc: "Show the balance of the account.",
			Params: []Param{token()},
			Effect: Accessor, Latency: 110 * time.Millisecond,
			run: func(w *World, _ Args) Result {
				return Result{Value: Obj(M("balance", w.own(Money(w.Balance))), M("currency", euro()))}
			},
		},
		{
			Op: "payments_list_invoices", App: "payments", Doc: "List invoices by status.",
			Params: []Param{
				token(), {Name: "status", Type: "string", Doc: "Which invoices.", Enum: []string{"open", "paid"}}, pageOf(),
			},
			Effect: Accessor, Latency: 280 * time.Millisecond,
			run: func(w *World, a Args) Result {
				var hits []Value
				for _, v := range w.Invoices {
					if v.Status == a.text("status") {
						hits = append(hits, Obj(
							M("invoice_id", Str(v.ID)), M("vendor", Str(v.Vendor)), M("amount", v.amount()),
							M("net_days", Int(netDays).As(DatumOf("invoices", "net_days"))),
						))
					}
				}
				return w.paged("invoices", hits, a, paymentsPage)
			},
		},
		{
			Op: "payments_get_invoice", App: "payments", Doc: "Show an invoice.",
			Params: []Param{token(), text("invoice_id", "Id of the invoice.")},
			Effect: Accessor, Latency: 140 * time.Millisecond,
			run: func(w *World, a Args) Result {
				v := w.invoice(a.text("invoice_id"))
				if v == nil {
					return Fail("payments", "not_found", "no such invoice")
				}
				return Result{Value: Obj(
					M("invoice_id", Str(v.ID)), M("vendor", Str(v.Vendor)), M("amount", v.amount()), M("currency", euro()),
					M("due_date", Str(v.DueDate).As(DatumOf(v.ID, "due"))), M("status", Str(v.Status).As(DatumOf(v.ID, "status"))),
				)}
			},
		},
		{
			Op: "payments_pay_invoice", App: "payments", Doc: "Pay an open invoice in full.",
			Params: []Param{
				token(), text("invoice_id", "Id of the invoice."), {Name: "amount", Type: "number", Doc: "Its amount, as a safeguard."},
			},
			Effect: Mutator, Domain: domain, Destructive: true, Latency: 520 * time.Millisecond,
			run: func(w *World, a Args) Result {
				v := w.invoice(a.text("invoice_id"))
				switch {
				case v == nil:
					return Fail("payments", "not_found", "no such invoice")
				case v.Status != "open":
					return Fail("payments", "conflict", "the invoice was already paid")
				case a.text("amount") != moneyText(v.Amount):
					return Fail("payments", "invalid_argument", "the amount is not that of the invoice")
				case v.Amount > w.Balance:
					return Fail("payments", "insufficient_funds", "the balance is too low")
				}
				v.Status = "paid"
				w.Balance -= v.Amount
				id := w.newID("trx")
				w.Transactions = append(w.Transactions, Transaction{ID: id, Date: w.Today, Text: v.Vendor, Amount: -v.Amount})
				if m := w.message(v.MessageID); m != nil {
					m.Folder = Paid
				}
				return Result{Value: Obj(
					M("transaction_id", Str(id)), M("invoice_id", Str(v.ID)), M("status", Str("paid").As(DatumOf(v.ID, "paid"))),
				)}
			},
		},
		{
			Op: "payments_transfer", App: "payments", Doc: "Send money to a colleague.",
			Params: []Param{
				token(), text("email", "Address of the colleague."), {Name: "amount", Type: "number", Doc: "Amount in EUR."}, text("note", "What it is for."),
			},
			Effect: Mutator, Domain: domain, Destructive: true, OpenWorld: true, Latency: 540 * time.Millisecond,
			run: func(w *World, a Args) Result {
				cents, ok := parseMoney(a.text("amount"))
				if !ok || cents <= 0 {
					return Fail("payments", "invalid_argument", "amount must be positive, with at most two decimals")
				}
				if cents > w.Balance {
					return Fail("payments", "insufficient_funds", "the balance is too low")
				}
				w.Balance -= cents
				id := w.newID("trx")
				w.Transactions = append(w.Transactions, Transaction{ID: id, Date: w.Today, Text: a.text("note"), Amount: -cents})
				return Result{Value: Obj(M("transaction_id", Str(id)))}
			},
		},
		{
			Op: "payments_list_transactions", App: "payments", Doc: "List movements of the account, oldest first.",
			Params: []Param{token(), pageOf()},
			Effect: Accessor, Latency: 260 * time.Millisecond,
			run: func(w *World, a Args) Result {
				items := make([]Value, len(w.Transactions))
				for i, t := range w.Transactions {
					items[i] = Obj(
						M("transaction_id", Str(t.ID)), M("date", Str(t.Date).As(DatumOf(t.ID, "date"))),
						M("text", Str(t.Text)), M("amount", Money(t.Amount).As(DatumOf(t.ID, "amount"))),
					)
				}
				return w.paged("transactions", items, a, paymentsPage)
			},
		},
	}
}

func (v *Invoice) amount() Value { return Money(v.Amount).As(DatumOf(v.ID, "amount")) }

func euro() Value { return Str("EUR") }

// parseMoney reads an amount with at most two decimals as cents.
func parseMoney(s string) (cents int, ok bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if len(whole) > 12 || len(fraction) > 2 {
		return 0, false
	}
	cents, err := strconv.Atoi(whole + (fraction + "00")[:2])
	return cents, err == nil
}
