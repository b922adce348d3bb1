package world

import (
	"strings"
	"time"
)

func contactTools() []Tool {
	return []Tool{
		{
			Op: "contacts_search", App: "contacts", Doc: "Find colleagues by name or team.",
			Params: []Param{text("query", "Part of the name or the team.")},
			Effect: Accessor, Latency: 120 * time.Millisecond,
			run: func(w *World, a Args) Result {
				query := strings.ToLower(a.text("query"))
				var hits []Value
				for _, c := range w.Contacts {
					if strings.Contains(strings.ToLower(c.Name), query) || strings.Contains(strings.ToLower(c.Team), query) {
						hits = append(hits, Obj(
							M("contact_id", Str(c.ID)), M("name", Str(c.Name)),
							M("team", Str(c.Team).As(DatumOf(c.ID, "team"))),
						))
					}
				}
				return Result{Value: Obj(M("contacts", List(hits...)), M("total", w.own(Int(len(hits)))))}
			},
		},
		{
			Op: "contacts_get", App: "contacts", Doc: "Show a colleague's address, desk and next meeting.",
			Params: []Param{text("contact_id", "Id of the colleague.")},
			Effect: Accessor, Latency: 90 * time.Millisecond,
			run: func(w *World, a Args) Result {
				c := w.contact(a.text("contact_id"))
				if c == nil {
					return Fail("contacts", "not_found", "no such contact")
				}
				return Result{Value: Obj(
					M("contact_id", Str(c.ID)), M("name", Str(c.Name)), M("email", Str(c.Email)), M("phone", Str(c.Phone)),
					M("team", Str(c.Team).As(DatumOf(c.ID, "team"))),
					M("desk", Str(c.Desk).As(DatumOf(c.ID, "desk"))),
					M("next_meeting", w.nextMeeting(c.Email)),
				)}
			},
		},
	}
}

// nextMeeting is the title of the colleague's first event from today on: the
// directory reads the calendar.
func (w *World) nextMeeting(email string) Value {
	var first *Event
	for i := range w.Events {
		e := &w.Events[i]
		if e.Date < w.Today || first != nil && (e.Date > first.Date || e.Date == first.Date && e.Start >= first.Start) {
			continue
		}
		for _, a := range e.Attendees {
			if a == email {
				first = e
			}
		}
	}
	if first == nil {
		return Value{}
	}
	return Str(first.Title).As(DatumOf(first.ID, "title"))
}
