package world

import (
	"slices"
	"strings"
	"time"
)

func calendarTools() []Tool {
	const domain = "calendar"
	return []Tool{
		login("calendar"),
		{
			Op: "calendar_list_events", App: "calendar", Doc: "List the events of a day.",
			Params: []Param{token(), date("date", "The day.")},
			Effect: Accessor, Latency: 200 * time.Millisecond,
			run: func(w *World, a Args) Result {
				var hits []Value
				for _, e := range w.eventsOn(a.text("date")) {
					hits = append(hits, Obj(
						M("event_id", Str(e.ID)), M("title", Str(e.Title).As(DatumOf(e.ID, "title"))),
						M("start", Str(e.Start).As(DatumOf(e.ID, "start"))), M("room", Str(e.Room).As(DatumOf(e.ID, "room"))),
					))
				}
				return Result{Value: Obj(M("date", Str(a.text("date"))), M("events", List(hits...)))}
			},
		},
		{
			Op: "calendar_get_event", App: "calendar", Doc: "Show an event with its attendees.",
			Params: []Param{token(), text("event_id", "Id of the event.")},
			Effect: Accessor, Latency: 130 * time.Millisecond,
			run: func(w *World, a Args) Result {
				e := w.event(a.text("event_id"))
				if e == nil {
					return Fail("calendar", "not_found", "no such event")
				}
				return Result{Value: e.show()}
			},
		},
		{
			Op: "calendar_find_slot", App: "calendar", Doc: "Find free times of the supervisor and the attendees on a day.",
			Params: []Param{
				token(), date("date", "The day."), number("minutes", "Length in minutes.", 15, 480), addresses("attendees", "Addresses."),
			},
			Effect: Accessor, Latency: 650 * time.Millisecond,
			run: func(w *World, a Args) Result {
				taken := make(map[string]bool)
				day := a.text("date")
				for _, e := range w.eventsOn(day) {
					taken[e.Start] = true
				}
				// Attendees are busy at times that depend on who they are, so that the
				// first free slot is not always the same.
				attendees, _ := a.lookup("attendees")
				for _, who := range attendees.Items {
					h := hash(w.seed, "busy", who.Text, day)
					for i, start := range words.starts {
						if h>>i&3 == 0 {
							taken[start] = true
						}
					}
				}
				var slots []Value
				for _, start := range words.starts {
					if !taken[start] && len(slots) < 3 {
						slots = append(slots, Obj(M("date", Str(day)), M("start", Str(start).As(DatumOf("slot "+day, start)))))
					}
				}
				return Result{Value: Obj(M("slots", List(slots...)))}
			},
		},
		{
			Op: "calendar_create_event", App: "calendar", Doc: "Create an event and invite the attendees.",
			Params: []Param{
				token(), text("title", "Title."), date("date", "The day."), text("start", "Time of day, as in 09:30."),
				number("minutes", "Length in minutes.", 15, 480), addresses("attendees", "Addresses.").optional(), text("room", "Room.").optional(),
			},
			Effect: Mutator, Domain: domain, Latency: 380 * time.Millisecond,
			run: func(w *World, a Args) Result {
				e := Event{
					ID: w.newID("evt"), Title: a.text("title"), Date: a.text("date"), Start: a.text("start"), Room: a.text("room"),
					Minutes: a.number("minutes", 30),
				}
				attendees, _ := a.lookup("attendees")
				for _, who := range attendees.Items {
					e.Attendees = append(e.Attendees, who.Text)
				}
				w.Events = append(w.Events, e)
				return Result{Value: e.show()}
			},
		},
		{
			Op: "calendar_update_event", App: "calendar", Doc: "Move an event to another day or time.",
			Params: []Param{
				token(), text("event_id", "Id of the event."), date("date", "New day.").optional(), text("start", "New time of day.").optional(),
			},
			Effect: Mutator, Domain: domain, Idempotent: true, Latency: 300 * time.Millisecond,
			run: func(w *World, a Args) Result {
				e := w.event(a.text("event_id"))
				if e == nil {
					return Fail("calendar", "not_found", "no such event")
				}
				if v, ok := a.lookup("date"); ok {
					e.Date = v.Text
				}
				if v, ok := a.lookup("start"); ok {
					e.Start = v.Text
				}
				return Result{Value: e.show()}
			},
		},
		{
			Op: "calendar_delete_event", App: "calendar", Doc: "Delete an event.",
			Params: []Param{token(), text("event_id", "Id of the event.")},
			Effect: Mutator, Domain: domain, Destructive: true, Latency: 250 * time.Millisecond,
			run: func(w *World, a Args) Result {
				id := a.text("event_id")
				i := slices.IndexFunc(w.Events, func(e Event) bool { return e.ID == id })
				if i < 0 {
					return Fail("calendar", "not_found", "no such event")
				}
				w.Events = slices.Concat(w.Events[:i], w.Events[i+1:])
				return Result{Value: Obj(M("deleted", Str(id)))}
			},
		},
	}
}

// eventsOn returns the events of a day by time.
func (w *World) eventsOn(date string) []*Event {
	var events []*Event
	for i := range w.Events {
		if w.Events[i].Date == date {
			events = append(events, &w.Events[i])
		}
	}
	slices.SortStableFunc(events, func(a, b *Event) int { return strings.Compare(a.Start, b.Start) })
	return events
}

func (e *Event) show() Value {
	attendees := make([]Value, len(e.Attendees))
	for i, a := range e.Attendees {
		attendees[i] = Str(a)
	}
	return Obj(
		M("event_id", Str(e.ID)), M("title", Str(e.Title).As(DatumOf(e.ID, "title"))), M("date", Str(e.Date)),
		M("start", Str(e.Start).As(DatumOf(e.ID, "start"))), M("minutes", Int(e.Minutes).As(DatumOf(e.ID, "minutes"))),
		M("room", Str(e.Room).As(DatumOf(e.ID, "room"))), M("attendees", List(attendees...)),
	)
}
