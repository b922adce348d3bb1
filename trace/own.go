package trace

// Parsed is what a call was given and what it returned, as values: what Call.ArgsValue and
// Call.ResultValue return.
type Parsed struct {
	Args, Result     Value
	ArgsOK, ResultOK bool
}

// Parse parses the arguments and results of all calls, for those who ask for them several times.
// Nobody may change these any more.
func (t *Trajectory) Parse() {
	var r ValueReader
	parsed := make([]Parsed, len(t.Calls))
	for i := range t.Calls {
		p := &parsed[i]
		p.Args, p.ArgsOK = r.Args(&t.Calls[i])
		p.Result, p.ResultOK = r.Result(&t.Calls[i])
		t.Calls[i].Parsed = p
	}
}

// Own returns a copy of t whose texts are its own, to be kept: those of a trajectory that was
// read hold on to the block that it was read from. The definitions of tools are those of
// tools, which may belong to many.
func (t *Trajectory) Own(tools []ToolDef) *Trajectory {
	out := *t
	out.Tools = tools
	out.Turns, out.Messages, out.Calls = append([]Turn(nil), t.Turns...), append([]Message(nil), t.Messages...), append([]Call(nil), t.Calls...)
	var raws []*Raw
	for i := range out.Turns {
		raws = append(raws, &out.Turns[i].Text, &out.Turns[i].Thought)
	}
	for i := range out.Messages {
		raws = append(raws, &out.Messages[i].Text)
	}
	for i := range out.Calls {
		c := &out.Calls[i]
		raws = append(raws, &c.Args, &c.Result, &c.Error, &c.Attached)
	}
	size := 0
	for _, r := range raws {
		size += len(r.Data)
	}
	room := make([]byte, 0, size)
	for _, r := range raws {
		if r.Data == nil {
			continue
		}
		from := len(room)
		room = append(room, r.Data...)
		r.Data = room[from:len(room):len(room)]
	}
	return &out
}
