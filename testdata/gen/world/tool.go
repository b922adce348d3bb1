package world

import (
	"slices"
	"strings"
	"time"
)

// Effect is what a tool does to the office.
type Effect string

// The effects, in the words of awo's rules.
const (
	Accessor  Effect = "accessor"  // reads
	Mutator   Effect = "mutator"   // writes
	Annotator Effect = "annotator" // leaves a note that nothing reads
)

// Tool is one tool of an edition.
type Tool struct {
	Op     string // what it is called in the first edition, and by agents' policies
	Name   string // what it is called in this edition
	App    string
	Doc    string
	Params []Param

	Effect Effect
	// Domain groups the writes that may not commute; writes of different domains
	// do. It is empty for a write that commutes with nothing.
	Domain      string
	Idempotent  bool // doing it twice is doing it once
	Destructive bool // something is lost
	OpenWorld   bool // something leaves the office

	Latency time.Duration // median of what a call takes

	Function    []byte // JSON: name, description and parameters, as in OpenAI's function calling
	Annotations []byte // JSON: hints, as in the Model Context Protocol

	run func(*World, Args) Result
}

// Param is one parameter of a tool.
type Param struct {
	Name     string
	Op       string // its name in the first edition
	Type     string // JSON Schema type
	Doc      string
	Format   string
	Enum     []string
	Min, Max int // for integers; both 0 for no limits
	Optional bool
}

// Args are the arguments of a call, in the order in which the agent wrote them.
type Args []Member

// Value returns the arguments as an object.
func (a Args) Value() Value { return Obj(a...) }

func (a Args) lookup(name string) (Value, bool) {
	for i := range a {
		if a[i].Name == name {
			return a[i].Value, true
		}
	}
	return Value{}, false
}

func (a Args) text(name string) string {
	v, _ := a.lookup(name)
	return v.Text
}

func (a Args) number(name string, missing int) int {
	v, ok := a.lookup(name)
	if !ok {
		return missing
	}
	n := 0
	for _, c := range v.Text {
		if c < '0' || c > '9' || n > 1<<30 {
			return missing
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// Result is what a call returns.
type Result struct {
	Value  Value // a String is a plain text result
	Failed bool
	Code   string // of the failure
}

// Text returns the result as the agent sees it: JSON, or plain text.
func (r Result) Text() string {
	if r.Value.Kind == String {
		return r.Value.Text
	}
	return string(r.Value.AppendJSON(nil))
}

// Fail returns a failed result. An application that answers in plain text fails
// in plain text.
func Fail(app, code, message string) Result {
	if app == "files" {
		return Result{Failed: true, Code: code, Value: Str("Error: " + code + ": " + message)}
	}
	return Result{Failed: true, Code: code, Value: Obj(M("error", Obj(M("code", Str(code)), M("message", Str(message)))))}
}

// Unavailable returns the failure of a service that does not answer; the office
// is unchanged by it.
func Unavailable(t *Tool) Result {
	return Fail(t.App, "unavailable", "the service did not answer, try again")
}

// Edition is a set of tools as agents get them. An edition is not changed after
// it was made and is safe for concurrent use.
type Edition struct {
	Tools  []*Tool
	byOp   map[string]*Tool
	byName map[string]*Tool
}

// NewEdition returns the first edition of the tools, or, if second, the one in
// which tools were renamed and a schema has changed.
func NewEdition(second bool) *Edition {
	e := &Edition{byOp: make(map[string]*Tool), byName: make(map[string]*Tool)}
	groups := [][]Tool{
		supervisorTools(), contactTools(), mailTools(), calendarTools(), fileTools(), paymentTools(), ticketTools(),
	}
	for _, group := range groups {
		for _, t := range group {
			t.Name = t.Op
			for i := range t.Params {
				t.Params[i].Op = t.Params[i].Name
			}
			if second {
				t = revised(t)
			}
			t.Function, t.Annotations = t.function(), t.annotations()
			e.Tools = append(e.Tools, &t)
			e.byOp[t.Op], e.byName[t.Name] = &t, &t
		}
	}
	return e
}

// Op returns the tool that the first edition calls op. It panics if there is
// none: policies name tools by constants.
func (e *Edition) Op(op string) *Tool {
	t := e.byOp[op]
	if t == nil {
		panic("world: no tool " + op)
	}
	return t
}

// Named returns the tool that this edition calls name, or nil.
func (e *Edition) Named(name string) *Tool { return e.byName[name] }

// Call runs a tool. Arguments carry the names of the edition. A call that fails
// leaves the office unchanged.
func (t *Tool) Call(w *World, args Args) Result {
	if w.Completed {
		return Fail(t.App, "task_closed", "the task was already completed")
	}
	own := make(Args, 0, len(args))
	for _, a := range args {
		i := slices.IndexFunc(t.Params, func(p Param) bool { return p.Name == a.Name })
		if i < 0 {
			return Fail(t.App, "invalid_argument", "unknown argument "+a.Name)
		}
		if problem := t.Params[i].check(a.Value); problem != "" {
			return Fail(t.App, "invalid_argument", a.Name+" "+problem)
		}
		own = append(own, Member{Name: t.Params[i].Op, Value: a.Value})
	}
	for _, p := range t.Params {
		if _, ok := own.lookup(p.Op); !ok && !p.Optional {
			return Fail(t.App, "invalid_argument", p.Name+" is missing")
		}
	}
	if token, ok := own.lookup("access_token"); ok && token.Text != w.AccessToken(t.App) {
		return Fail(t.App, "unauthorized", "the access token is not valid for "+t.App)
	}
	return t.run(w, own)
}

// check returns what is wrong with an argument, or "".
func (p Param) check(v Value) string {
	switch {
	case p.Type == "string" && v.Kind != String:
		return "must be a string"
	case p.Type == "number" && v.Kind != Number:
		return "must be a number"
	case p.Type == "integer" && (v.Kind != Number || strings.ContainsAny(v.Text, ".-")):
		return "must be a whole number"
	case p.Type == "array" && v.Kind != Array:
		return "must be an array"
	case len(p.Enum) > 0 && !slices.Contains(p.Enum, v.Text):
		return "must be one of " + strings.Join(p.Enum, ", ")
	}
	if n := (Args{{p.Name, v}}).number(p.Name, 0); p.Type == "integer" && p.Max > 0 && (n < p.Min || n > p.Max) {
		return "is out of range"
	}
	return ""
}

// revised returns a tool as the second edition has it: two tools have other
// names, and paying takes the amount under another name and the currency too.
func revised(t Tool) Tool {
	t.Params = slices.Clone(t.Params)
	switch t.Op {
	case "mail_search":
		t.Name = "mail_find"
	case "files_list":
		t.Name = "files_browse"
	case "payments_pay_invoice":
		for i := range t.Params {
			if t.Params[i].Name == "amount" {
				t.Params[i].Name = "total"
			}
		}
		t.Params = append(t.Params, Param{Name: "currency", Op: "currency", Type: "string", Doc: "Currency of the invoice."})
	}
	return t
}

// token is the parameter that every tool of an application with a login has.
func token() Param {
	return Param{Name: "access_token", Type: "string", Doc: "Token from the login."}
}

func text(name, doc string) Param { return Param{Name: name, Type: "string", Doc: doc} }

func number(name, doc string, lo, hi int) Param {
	return Param{Name: name, Type: "integer", Doc: doc, Min: lo, Max: hi}
}

func date(name, doc string) Param {
	return Param{Name: name, Type: "string", Doc: doc, Format: "date"}
}

func addresses(name, doc string) Param { return Param{Name: name, Type: "array", Doc: doc} }

func (p Param) optional() Param {
	p.Optional = true
	return p
}

// pageOf is the parameter of tools that answer in pages.
func pageOf() Param { return number("page", "Page, from 1.", 1, 1000).optional() }

// paged returns one page of items, with the number of the next page or null.
func (w *World) paged(name string, items []Value, a Args, size int) Result {
	page := a.number("page", 1)
	pages := max(1, (len(items)+size-1)/size)
	from, to := min(len(items), (page-1)*size), min(len(items), page*size)
	next := Value{}
	if page < pages {
		next = w.own(Int(page + 1))
	}
	return Result{Value: Obj(
		M(name, List(items[from:to]...)),
		M("total", w.own(Int(len(items)))),
		M("next_page", next),
	)}
}

// login is the login tool of an application.
func login(app string) Tool {
	return Tool{
		Op: app + "_login", App: app, Doc: "Log in to " + app + ". Returns the access token for its other tools.",
		Params: []Param{
			text("username", "E-mail address of the account."),
			text("password", "Password of the account."),
		},
		Effect: Mutator, Domain: app + "-login", Idempotent: true, Latency: 220 * time.Millisecond,
		run: func(w *World, a Args) Result {
			if a.text("username") != w.User.Email || a.text("password") != w.Password(app) {
				return Fail(app, "unauthorized", "wrong username or password")
			}
			return Result{Value: Obj(
				M("access_token", Str(w.AccessToken(app))),
				M("token_type", Str("Bearer").As(DatumOf(app, "token_type"))),
			)}
		},
	}
}
