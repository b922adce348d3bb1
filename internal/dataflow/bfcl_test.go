package dataflow_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/trace"
)

// python reads calls as BFCL writes them: name(key='text', other=[1, True]).
type python struct {
	text string
	at   int
}

func (p *python) take(s string) bool {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	if strings.HasPrefix(p.text[p.at:], s) {
		p.at += len(s)
		return true
	}
	return false
}

func (p *python) word() string {
	start := p.at
	for p.at < len(p.text) && (p.text[p.at] == '_' || p.text[p.at] == '.' || p.text[p.at] == '-' || p.text[p.at] == '+' ||
		p.text[p.at]|0x20 >= 'a' && p.text[p.at]|0x20 <= 'z' || p.text[p.at] >= '0' && p.text[p.at] <= '9') {
		p.at++
	}
	return p.text[start:p.at]
}

// call reads a call; arguments without a name are called by their number.
func (p *python) call() (string, map[string]any, error) {
	p.take("")
	name := p.word()
	if !p.take("(") {
		return "", nil, fmt.Errorf("no ( at %d", p.at)
	}
	args := map[string]any{}
	for !p.take(")") {
		p.take("")
		start := p.at
		key := p.word()
		if !p.take("=") {
			p.at, key = start, strconv.Itoa(len(args))
		}
		v, err := p.value()
		if err != nil {
			return "", nil, err
		}
		args[key] = v
		p.take(",")
	}
	return name, args, nil
}

func (p *python) value() (any, error) {
	switch {
	case p.take("["):
		list := []any{}
		for !p.take("]") {
			v, err := p.value()
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			p.take(",")
		}
		return list, nil
	case p.take("{"):
		object := map[string]any{}
		for !p.take("}") {
			k, err := p.value()
			if err != nil || !p.take(":") {
				return nil, fmt.Errorf("no member at %d", p.at)
			}
			if object[fmt.Sprint(k)], err = p.value(); err != nil {
				return nil, err
			}
			p.take(",")
		}
		return object, nil
	case p.take("'"):
		return p.quoted('\'')
	case p.take(`"`):
		return p.quoted('"')
	}
	switch word := p.word(); word {
	case "True", "False":
		return word == "True", nil
	case "None":
		return nil, nil
	default:
		n, err := strconv.ParseFloat(word, 64)
		return n, err
	}
}

func (p *python) quoted(quote byte) (any, error) {
	var b strings.Builder
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == quote:
			p.at++
			return b.String(), nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteByte(p.text[p.at])
		default:
			b.WriteByte(c)
		}
	}
	return nil, fmt.Errorf("the text is not closed")
}

// readLines decodes a file of JSON lines.
func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	var list []T
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestBFCL: reference calls without results. What the user said or an earlier
// call passed is found; the rest would have come from the results that are not there.
func TestBFCL(t *testing.T) {
	type question struct{ Question [][]struct{ Content string } }
	type answer struct {
		GroundTruth [][]string `json:"ground_truth"`
	}
	questions := readLines[question](t, recorded(t, "bfcl/q_base.json"))
	answers := readLines[answer](t, recorded(t, "bfcl/a_base.json"))
	var c dataflow.Collector
	var leaves, short, told, passed int
	for i := range answers {
		s := run(fmt.Sprint(i))
		for turn, calls := range answers[i].GroundTruth {
			for _, m := range questions[i].Question[turn] {
				s.user(m.Content)
			}
			for _, text := range calls {
				name, args, err := (&python{text: text}).call()
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				b, _ := json.Marshal(args)
				s.call(name, string(b), "")
			}
		}
		f := c.Collect(&s.t)
		for k := range f.Uses {
			u := &f.Uses[k]
			if u.Whole {
				continue
			}
			leaves++
			known := f.KnownBefore(u, u.Call, dataflow.Enums{})
			switch {
			case u.Short || u.Kind == trace.Bool:
				short++
			case known && u.Seen.Turn >= 0 && u.Seen.Side == dataflow.Input:
				passed++
			case known && u.Seen.Turn >= 0:
				told++
			}
		}
	}
	t.Logf("%d leaves: %d too short to tell, %d told by the user, %d passed before, %d from elsewhere", leaves, short, told, passed, leaves-short-told-passed)
	if told+passed < (leaves-short)/2 {
		t.Errorf("only %d of %d are found", told+passed, leaves-short)
	}
}
