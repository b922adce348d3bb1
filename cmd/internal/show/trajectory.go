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

// figures are those of `awo show`.
type figures struct {
	Input cli.InputJSON `json:"input"`
	Found int           `json:"calls_found,omitempty"` // with --find
}

// line is a row of the list of trajectories.
type line struct {
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

// recorded is a trajectory with where it was recorded.
type recorded struct {
	line
	Agent  string `json:"agent"`
	Format string `json:"format"`
	File   string `json:"file"`
	Line   int    `json:"line"`
}

// found is a call that was looked for.
type found struct {
	Trajectory string `json:"trajectory"`
	call
}

// call is a call with what it was called with and what came back: their shapes, unless values
// are shown.
type call struct {
	Number    int         `json:"call"` // from 1
	Tool      string      `json:"tool"`
	Status    string      `json:"status"`
	Origin    string      `json:"origin"`
	Arguments string      `json:"arguments"`
	Result    string      `json:"result"`
	Seconds   stat.Figure `json:"seconds"`
}

// step is a message, a call, or what a turn says besides its calls. The first of a turn has
// what the turn cost.
type step struct {
	Source  string       `json:"source"` // file and line of the trajectory
	From    string       `json:"from"`   // user, system, model, or another origin
	Turn    *int         `json:"turn"`   // from 1
	Call    *int         `json:"call"`   // from 1
	Tool    string       `json:"tool"`
	What    string       `json:"what"` // a text or arguments
	Result  string       `json:"result"`
	Status  string       `json:"status"`
	Seconds *stat.Figure `json:"seconds"`
	Tokens  *int64       `json:"tokens"`
	CostUSD *stat.Figure `json:"cost_usd"`
	Counted bool         `json:"tokens_estimated"`
}

// trajectory is one that is shown turn by turn.
type trajectory struct {
	recorded
	steps []step
}

func (s *shower) trajectory(t *trace.Trajectory) trajectory {
	s.marker.Marks(t) // statuses that rules read
	out := trajectory{recorded: recorded{s.line(t), t.Agent, t.Format, t.Source.File, t.Source.Line}}
	source := fmt.Sprintf("%s:%d", out.File, out.Line)
	account := s.meter.Trajectory(t)
	message, next := 0, 0
	add := func(one step) {
		one.Source = source
		out.steps = append(out.steps, one)
	}
	messages := func(turn, upTo int) {
		for message < len(t.Messages) && t.Messages[message].Turn <= turn && t.Messages[message].Call <= upTo {
			m := &t.Messages[message]
			from := "user"
			if m.Role == trace.RoleSystem {
				from = "system"
			}
			add(step{From: from, What: s.value("", m.Text)})
			message++
		}
	}
	calls := func(first step, end int) {
		for ; next < end; next++ {
			c, number := s.call(&t.Calls[next], next), next+1
			one := first
			one.From, one.Call, one.Tool, one.What, one.Result, one.Status, one.Seconds = c.Origin, &number, c.Tool, c.Arguments, c.Result, c.Status, &c.Seconds
			add(one)
			first = step{Turn: first.Turn}
		}
	}
	outside := func(turn, end int) {
		for next < end {
			messages(turn, next)
			calls(step{}, next+1)
		}
		messages(turn, next)
	}
	for i := range t.Turns {
		turn, number := &t.Turns[i], i+1
		outside(i, turn.FirstCall)
		totals := account.Turn(i)
		tokens, money := totalsOf(totals)
		first := step{From: "model", Turn: &number, Tokens: &tokens, CostUSD: &money, Counted: totals.Estimated > 0}
		if text := s.value("", turn.Text); text != "" || turn.NumCalls == 0 {
			first.What = text
			add(first)
			first = step{Turn: &number}
		}
		calls(first, next+turn.NumCalls)
	}
	outside(len(t.Turns), len(t.Calls))
	messages(len(t.Turns), len(t.Calls))
	return out
}

func (s *shower) call(c *trace.Call, i int) call {
	out := call{Number: i + 1, Tool: c.Tool.Value(), Status: c.Status.String(), Origin: c.Origin.String(), Arguments: s.value("", c.Args), Seconds: stat.Unknown("the trace does not say when the call began and ended")}
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
