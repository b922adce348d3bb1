package world

import "time"

func supervisorTools() []Tool {
	return []Tool{
		{
			Op: "supervisor_show_profile", App: "supervisor", Doc: "Show who the supervisor is.",
			Effect: Accessor, Latency: 60 * time.Millisecond,
			run: func(w *World, _ Args) Result {
				return Result{Value: Obj(
					M("name", Str(w.User.Name)),
					M("email", Str(w.User.Email)),
					M("phone", Str(w.User.Phone)),
					M("team", Str(w.User.Team).As(DatumOf(w.User.ID, "team"))),
					M("desk", Str(w.User.Desk).As(DatumOf(w.User.ID, "desk"))),
					M("floor", Int(w.Floor).As(DatumOf(w.User.ID, "floor"))),
				)}
			},
		},
		{
			Op: "supervisor_show_passwords", App: "supervisor", Doc: "Show the stored password of every application.",
			Effect: Accessor, Latency: 60 * time.Millisecond,
			run: func(w *World, _ Args) Result {
				items := make([]Value, len(w.Accounts))
				for i, a := range w.Accounts {
					items[i] = Obj(M("account_name", Str(a.App)), M("password", Str(a.Password)))
				}
				return Result{Value: List(items...)}
			},
		},
		{
			Op: "supervisor_complete_task", App: "supervisor", Doc: "Hand the task back as done. Nothing can be called after it.",
			Params: []Param{text("answer", "Answer for the supervisor, if one was asked for.").optional()},
			Effect: Mutator, Latency: 40 * time.Millisecond,
			run: func(w *World, _ Args) Result {
				w.Completed = true
				return Result{Value: Obj(M("completed", Truth(true).As(DatumOf("task", "completed"))))}
			},
		},
		{
			Op: "think", App: "notes", Doc: "Write down a thought. It changes nothing and returns nothing new.",
			Params: []Param{text("thought", "What to keep in mind.")},
			Effect: Annotator, Latency: 5 * time.Millisecond,
			run: func(*World, Args) Result { return Result{Value: Str("noted")} },
		},
	}
}
