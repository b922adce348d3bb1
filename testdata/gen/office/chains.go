package office

import (
	"slices"

	"github.com/awo-dev/awo/testdata/gen/truth"
	"github.com/awo-dev/awo/testdata/gen/world"
)

// chains returns the chains that agents make out of habit.
func chains() []truth.Chain {
	step := func(tool string) truth.Step { return truth.Step{Tool: tool} }
	bound := func(tool string, bind map[string]truth.Binding) truth.Step { return truth.Step{Tool: tool, Bind: bind} }
	each := func(tool, arg, path string) truth.Step {
		return truth.Step{Tool: tool, Each: true, Bind: map[string]truth.Binding{arg: {Step: 0, Path: path}}}
	}
	fromFirst := func(arg, path string) map[string]truth.Binding {
		return map[string]truth.Binding{arg: {Step: 0, Path: path}}
	}
	byModel := truth.Binding{Model: true}

	var list []truth.Chain
	for _, app := range []string{"mail", "calendar", "files", "payments", "tickets"} {
		list = append(list, truth.Chain{
			ID: "login-" + app, Doc: "Log in to " + app + " with the stored password.", Find: truth.Must,
			Steps: []truth.Step{
				step("supervisor_show_passwords"),
				bound(app+"_login", map[string]truth.Binding{"password": {Step: 0, Path: "[].password", Key: "account_name", Is: app}}),
			},
		})
	}
	for _, first := range []string{"mail_search", "calendar_list_events", "files_list", "payments_list_invoices", "tickets_search"} {
		app := firstPart(first)
		list = append(list, truth.Chain{
			ID: "enter-" + app, Doc: "Log in to " + app + " and look for the first time.", Find: truth.Must,
			Steps: []truth.Step{step(app + "_login"), bound(first, fromFirst("access_token", "access_token"))},
		})
	}
	return append(list,
		truth.Chain{
			ID: "read-mails", Doc: "Search and read each.", Find: truth.Must,
			Steps: []truth.Step{step("mail_search"), each("mail_read", "message_id", "messages[].message_id")},
		},
		truth.Chain{
			ID: "read-files", Doc: "List a folder and read each file.", Find: truth.Must,
			Steps: []truth.Step{step("files_list"), each("files_read", "file_id", "files[].file_id")},
		},
		truth.Chain{
			ID: "open-events", Doc: "List a day and open each event.", Find: truth.Must,
			Steps: []truth.Step{step("calendar_list_events"), each("calendar_get_event", "event_id", "events[].event_id")},
		},
		truth.Chain{
			ID: "open-tickets", Doc: "Search tickets and open each.", Find: truth.Must,
			Steps: []truth.Step{step("tickets_search"), each("tickets_get", "ticket_id", "tickets[].ticket_id")},
		},
		truth.Chain{
			ID: "look-up-contact", Doc: "Find a colleague and open the entry.", Find: truth.Must,
			Steps: []truth.Step{
				step("contacts_search"),
				bound("contacts_get", map[string]truth.Binding{"contact_id": {Step: 0, Path: "contacts[].contact_id", Key: "name"}}),
			},
		},
		truth.Chain{
			ID: "ticket-requester", Doc: "Open a ticket and the entry of who opened it.", Find: truth.Must,
			Steps: []truth.Step{step("tickets_get"), bound("contacts_get", fromFirst("contact_id", "requester_id"))},
		},
		truth.Chain{
			ID: "book-first-slot", Doc: "Find free times and book the first.", Find: truth.Must,
			Steps: []truth.Step{
				step("calendar_find_slot"),
				bound("calendar_create_event", map[string]truth.Binding{
					"date": {Step: 0, Path: "slots[].date"}, "start": {Step: 0, Path: "slots[].start"},
				}),
			},
		},
		truth.Chain{
			ID: "pay-as-shown", Doc: "Open an invoice and pay the amount that it shows.", Find: truth.Must,
			Steps: []truth.Step{step("payments_get_invoice"), bound("payments_pay_invoice", fromFirst("amount", "amount"))},
		},
		truth.Chain{
			ID: "open-invoice", Doc: "List invoices and open the one of a vendor: needs a filter by an input.", Find: truth.May,
			Steps: []truth.Step{
				step("payments_list_invoices"),
				bound("payments_get_invoice", map[string]truth.Binding{"invoice_id": {Step: 0, Path: "invoices[].invoice_id", Key: "vendor"}}),
			},
		},
		truth.Chain{
			ID: "look-then-remind", Doc: "List a day, then create an event whose values all stand in the task: no value flows.", Find: truth.May,
			Steps: []truth.Step{step("calendar_list_events"), step("calendar_create_event")},
		},
		truth.Chain{
			ID: "move-then-look", Doc: "Move a file and list the folder again: no value flows.", Find: truth.May,
			Steps: []truth.Step{step("files_move"), step("files_list")},
		},
		truth.Chain{
			ID: "resolve-ticket", Doc: "Read a ticket, write what was done, close it.", Find: truth.MustNot, Blocked: "1.text",
			Steps: []truth.Step{
				step("tickets_get"),
				bound("tickets_comment", map[string]truth.Binding{"text": byModel}),
				bound("tickets_close", map[string]truth.Binding{"resolution": byModel}),
			},
		},
		truth.Chain{
			ID: "set-priority", Doc: "Read a ticket and give it a priority.", Find: truth.MustNot, Blocked: "1.priority",
			Steps: []truth.Step{step("tickets_get"), bound("tickets_update", map[string]truth.Binding{"priority": byModel})},
		},
		truth.Chain{
			ID: "answer-mail", Doc: "Read a mail and answer it.", Find: truth.MustNot, Blocked: "1.body",
			Steps: []truth.Step{
				step("mail_read"),
				bound("mail_send", map[string]truth.Binding{
					"to[]": {Step: 0, Path: "from"}, "subject": {Step: 0, Path: "subject", Template: "Re: {}"}, "body": byModel,
				}),
			},
		},
		truth.Chain{
			ID: "write-overview", Doc: "Read files and write what they say.", Find: truth.MustNot, Blocked: "2.content",
			Steps: []truth.Step{
				step("files_list"),
				each("files_read", "file_id", "files[].file_id"),
				bound("files_write", map[string]truth.Binding{"content": byModel}),
			},
		},
	)
}

func firstPart(tool string) string {
	for i := range tool {
		if tool[i] == '_' {
			return tool[:i]
		}
	}
	return tool
}

// occurrences returns where a chain was made whole in a run: consecutive calls
// that did not fail, without a user message between, whose bound arguments come
// from where the chain says and whose other arguments were known before its
// first call. An each step takes as many calls as fit.
func occurrences(chain *truth.Chain, calls []*Call, afterUser []bool) []truth.ChainOccurrence {
	var found []truth.ChainOccurrence
	for first := 0; first < len(calls); first++ {
		steps := match(chain, calls, afterUser, first)
		if steps == nil {
			continue
		}
		found = append(found, truth.ChainOccurrence{Chain: chain.ID, Steps: steps})
		last := steps[len(steps)-1]
		first = last[len(last)-1] - 1 // a call may end one occurrence and begin the next
	}
	return found
}

func match(chain *truth.Chain, calls []*Call, afterUser []bool, first int) [][]int {
	steps := make([][]int, 0, len(chain.Steps))
	next := first
	for k := range chain.Steps {
		step := &chain.Steps[k]
		var taken []int
		for next < len(calls) && (step.Each || len(taken) == 0) && (next == first || !afterUser[next]) &&
			fits(step, calls[next], first, steps) {
			taken = append(taken, next)
			next++
		}
		if len(taken) == 0 {
			return nil
		}
		steps = append(steps, taken)
	}
	return steps
}

// fits reports whether a call can be the step of a chain that began at the call
// first and has gone through the given steps.
func fits(step *truth.Step, c *Call, first int, steps [][]int) bool {
	if c.Tool.Op != step.Tool || !c.HasResult || c.Result.Failed {
		return false
	}
	met := 0
	for i := range c.Sources {
		s := &c.Sources[i]
		b, ok := step.Bind[Pattern(c.original(s.Arg))]
		if !ok {
			// The first step takes any argument, a later one what was known.
			if len(steps) > 0 && !knownBefore(&s.Source, first) {
				return false
			}
			continue
		}
		met++
		if !bindingHolds(b, &s.Source, steps) {
			return false
		}
	}
	return met >= len(step.Bind)
}

// original returns a path of an argument with the name that the parameter has in
// the first edition.
func (c *Call) original(path string) string {
	for _, p := range c.Tool.Params {
		if p.Name != p.Op && len(path) >= len(p.Name) && path[:len(p.Name)] == p.Name {
			return p.Op + path[len(p.Name):]
		}
	}
	return path
}

func knownBefore(s *Source, first int) bool {
	switch s.Origin {
	case FromModel:
		return false
	case FromResult:
		return s.Call < first || s.Told
	case FromTemplate:
		return !slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Source != nil && !knownBefore(p.Source, first) })
	}
	return true
}

func bindingHolds(b truth.Binding, s *Source, steps [][]int) bool {
	if b.Model {
		return s.Origin == FromModel
	}
	if b.Template != "" {
		i := slices.IndexFunc(s.Parts, func(p Part) bool { return p.Source != nil })
		return i >= 0 && bindingHolds(truth.Binding{Step: b.Step, Path: b.Path}, s.Parts[i].Source, steps)
	}
	return s.Origin == FromResult && s.Call == steps[b.Step][0] && Pattern(s.Path) == b.Path &&
		s.Key == b.Key && (b.Is == "" || s.KeyValue == b.Is)
}

// coincidences returns the coincidences that the office and the tasks are made
// to have.
func coincidences() []truth.Coincidence {
	link := func(tool, path string) truth.Link { return truth.Link{Tool: tool, Path: path} }
	return []truth.Coincidence{
		{
			ID: "desk-room", Kind: "pool", Doc: "Desks and meeting rooms are drawn from the same eight names.",
			From: link("contacts_get", "desk"), To: link("calendar_create_event", "room"),
		},
		{
			ID: "start-start", Kind: "pool", Doc: "The time of a new event is chosen without regard to the day's other events.",
			From: link("calendar_list_events", "events[].start"), To: link("calendar_create_event", "start"),
		},
		{
			ID: "start-moved", Kind: "pool", Doc: "The new time of an event is chosen without regard to the day's other events.",
			From: link("calendar_list_events", "events[].start"), To: link("calendar_update_event", "start"),
		},
		{
			ID: "severity-priority", Kind: "pool", Doc: "The model gives a priority from 1 to 5; the ticket has a severity from 1 to 5.",
			From: link("tickets_get", "severity"), To: link("tickets_update", "priority"),
		},
		{
			ID: "days-minutes", Kind: "constant", Doc: "Every invoice says 30 net days; the task blocks 30 minutes.",
			From: link("payments_list_invoices", "invoices[].net_days"), To: link("calendar_create_event", "minutes"),
		},
	}
}

// coincide returns where a coincidence came about in a run.
func coincide(c *truth.Coincidence, calls []*Call) []truth.CoincidenceAtCall {
	var found []truth.CoincidenceAtCall
	for i, call := range calls {
		if call.Tool.Op != c.To.Tool {
			continue
		}
		for _, s := range call.Sources {
			if Pattern(call.original(s.Arg)) != c.To.Path {
				continue
			}
			for _, p := range s.Lookalikes {
				if calls[p.Call].Tool.Op == c.From.Tool && p.Path == c.From.Path {
					found = append(found, truth.CoincidenceAtCall{ID: c.ID, Call: i, Arg: s.Arg, With: p.Call})
				}
			}
		}
	}
	return found
}

// effectsOf returns what is true of the tools of both editions.
func effectsOf(first, second *world.Edition) []truth.Tool {
	var tools []truth.Tool
	for _, t := range first.Tools {
		tool := truth.Tool{
			Name: t.Name, App: t.App, Effect: string(t.Effect), Domain: t.Domain,
			Idempotent: t.Idempotent, Destructive: t.Destructive,
		}
		if later := second.Op(t.Op).Name; later != t.Name {
			tool.Second = later
		}
		tools = append(tools, tool)
	}
	return tools
}
