package show

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// JSON is the JSON of `awo show`; docs/artefacts.md describes it.
type JSON struct {
	Schema       string           `json:"schema"`
	Input        cli.InputJSON    `json:"input"`
	Trajectory   []trajectoryJSON `json:"trajectory,omitempty"`   // with an ID
	Trajectories []lineJSON       `json:"trajectories,omitempty"` // without
	Calls        []foundJSON      `json:"calls,omitempty"`        // with --find
	Found        int              `json:"calls_found,omitempty"`
}

type lineJSON struct {
	ID        string      `json:"id"`
	Task      string      `json:"task"`
	Model     string      `json:"model"`
	Outcome   string      `json:"outcome"`
	Turns     int         `json:"turns"`
	Calls     int         `json:"calls"`
	Failed    int         `json:"failed"`
	Tokens    int64       `json:"tokens"`
	Estimated int         `json:"estimated_turns"` // whose tokens were counted, because none are recorded
	CostUSD   stat.Figure `json:"cost_usd"`
}

type trajectoryJSON struct {
	lineJSON
	Agent  string      `json:"agent"`
	Format string      `json:"format"`
	File   string      `json:"file"`
	Line   int         `json:"line"`
	Turn   []turnJSON  `json:"steps"`
	Places []placeJSON `json:"places,omitempty"` // with --tools
}

// turnJSON is a message, a turn of the model, or calls that have no turn.
type turnJSON struct {
	From    string      `json:"from"` // user, system, model, or another origin
	Turn    int         `json:"turn"` // from 1; 0 is none
	Text    string      `json:"text"` // its shape, unless values are shown
	Tokens  int64       `json:"tokens"`
	CostUSD stat.Figure `json:"cost_usd"`
	Counted bool        `json:"tokens_estimated"`
	Calls   []callJSON  `json:"calls,omitempty"`
}

type callJSON struct {
	Tool      string      `json:"tool"`
	Status    string      `json:"status"`
	Origin    string      `json:"origin"`
	Arguments string      `json:"arguments"` // their shape, unless values are shown
	Result    string      `json:"result"`
	Seconds   stat.Figure `json:"seconds"`
	number    int
}

type foundJSON struct {
	Trajectory string `json:"trajectory"`
	Number     int    `json:"call"` // from 1
	callJSON
}

type placeJSON struct {
	Tool  string `json:"meta_tool"`
	First int    `json:"first_call"` // from 1
	Last  int    `json:"last_call"`
	Turns int    `json:"turns_saved"`
	Exact bool   `json:"exact"`
}

func (s *shower) trajectory(t *trace.Trajectory) trajectoryJSON {
	marks := s.marker.Marks(t)
	out := trajectoryJSON{lineJSON: s.line(t), Agent: t.Agent, Format: t.Format, File: t.Source.File, Line: t.Source.Line, Turn: []turnJSON{}}
	account := s.meter.Trajectory(t)
	message, call := 0, 0
	messages := func(turn, upTo int) {
		for message < len(t.Messages) && t.Messages[message].Turn <= turn && t.Messages[message].Call <= upTo {
			m := &t.Messages[message]
			from := "user"
			if m.Role == trace.RoleSystem {
				from = "system"
			}
			out.Turn = append(out.Turn, turnJSON{From: from, Text: s.value("", m.Text), CostUSD: stat.Unknown("a message is paid with the turns that read it")})
			message++
		}
	}
	outside := func(turn, end int) {
		for ; call < end; call++ {
			messages(turn, call)
			c := &t.Calls[call]
			out.Turn = append(out.Turn, turnJSON{From: c.Origin.String(), CostUSD: stat.Unknown("its turn is not recorded"), Calls: []callJSON{s.numbered(c, call)}})
		}
		messages(turn, call)
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		outside(i, turn.FirstCall)
		totals := account.Turn(i)
		step := turnJSON{From: "model", Turn: i + 1, Text: s.value("", turn.Text), Counted: totals.Estimated > 0}
		step.Tokens, step.CostUSD = totalsJSON(totals)
		for k := range turn.NumCalls {
			step.Calls = append(step.Calls, s.numbered(&t.Calls[call+k], call+k))
		}
		call += turn.NumCalls
		out.Turn = append(out.Turn, step)
	}
	outside(len(t.Turns), len(t.Calls))
	messages(len(t.Turns), len(t.Calls))
	if s.finder != nil {
		out.Places = []placeJSON{}
		for _, p := range s.finder.Find(t, marks) {
			out.Places = append(out.Places, placeJSON{
				Tool: s.tools[p.Tool].Name, First: p.Replay.Occurrence.First() + 1, Last: p.Replay.Occurrence.Last() + 1,
				Turns: len(p.Removed), Exact: p.Replay.Exact,
			})
		}
	}
	return out
}

func (s *shower) numbered(c *trace.Call, i int) callJSON {
	out := s.call(c)
	out.number = i + 1
	return out
}

func (s *shower) call(c *trace.Call) callJSON {
	out := callJSON{Tool: c.Tool.Value(), Status: c.Status.String(), Origin: c.Origin.String(), Arguments: s.value("", c.Args), Seconds: stat.Unknown("the trace does not say when the call began and ended")}
	switch {
	case c.HasResult:
		out.Result = s.value("", c.Result)
	default:
		out.Result = "(no result)"
	}
	if !c.Start.IsZero() && !c.End.IsZero() {
		out.Seconds = stat.Known(c.End.Sub(c.Start).Round(time.Microsecond).Seconds())
	}
	return out
}

// Bounds of what is shown of a value.
const (
	textMost    = 400 // characters of a text
	membersMost = 30  // of an object or list
	depthMost   = 6
)

// value returns what r holds, or its shape.
func (s *shower) value(name string, r trace.Raw) string {
	if r.IsEmpty() {
		return ""
	}
	content := r.Content()
	v, err := trace.ParseValue(content)
	if err != nil || v.Kind == trace.String {
		text := r.Text()
		if err == nil {
			text = v.Text
		}
		return s.text(name, text, false)
	}
	var b strings.Builder
	s.write(&b, name, v, 0)
	return b.String()
}

// text returns a text, shortened, or how long it is.
func (s *shower) text(name, text string, quoted bool) string {
	if !s.j.ShowValues {
		return "text of " + strconv.Itoa(len([]rune(text)))
	}
	if secret.LooksLike(name, text) {
		return "[credential]"
	}
	if runes := []rune(text); len(runes) > textMost {
		text = string(runes[:textMost]) + fmt.Sprintf("… (%d characters more)", len(runes)-textMost)
	}
	if quoted {
		data, err := json.Marshal(text)
		if err == nil {
			return string(data)
		}
	}
	return text
}

func (s *shower) write(b *strings.Builder, name string, v trace.Value, depth int) {
	switch v.Kind {
	case trace.Object:
		if depth == depthMost {
			b.WriteString("{…}")
			return
		}
		b.WriteByte('{')
		for i, m := range v.Members {
			if i > 0 {
				b.WriteString(", ")
			}
			if i == membersMost {
				fmt.Fprintf(b, "… %d more", len(v.Members)-i)
				break
			}
			key := m.Name
			if secret.HasForm(key) { // names of members can be values, too
				key = "[credential]"
			}
			b.WriteString(key + ": ")
			s.write(b, m.Name, m.Value, depth+1)
		}
		b.WriteByte('}')
	case trace.Array:
		if !s.j.ShowValues {
			fmt.Fprintf(b, "%d of [", len(v.Elems))
			if len(v.Elems) > 0 {
				if depth == depthMost {
					b.WriteString("…")
				} else {
					s.write(b, name, v.Elems[0], depth+1)
				}
			}
			b.WriteByte(']')
			return
		}
		b.WriteByte('[')
		for i, item := range v.Elems {
			if i > 0 {
				b.WriteString(", ")
			}
			if i == membersMost || depth == depthMost {
				fmt.Fprintf(b, "… %d more", len(v.Elems)-i)
				break
			}
			s.write(b, name, item, depth+1)
		}
		b.WriteByte(']')
	case trace.String:
		b.WriteString(s.text(name, v.Text, true))
	default:
		if !s.j.ShowValues {
			b.WriteString(v.Kind.String())
			return
		}
		switch {
		case secret.LooksLike(name, ""):
			b.WriteString("[credential]")
		case v.Kind == trace.Bool:
			b.WriteString(strconv.FormatBool(v.Bool))
		case v.Kind == trace.Number:
			b.WriteString(v.Text)
		default:
			b.WriteString("null")
		}
	}
}
