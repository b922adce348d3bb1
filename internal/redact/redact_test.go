package redact

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/atif"
)

var key = []byte("a key of sixteen or more bytes")

func TestText(t *testing.T) {
	r := New(key)
	for _, same := range [][2]string{
		{"Write to ann@example.org, please", "ann@example.org"},
		{"my id is mia_li_3668.", "mia_li_3668"},
		{"order #W1042 of 1042", "1042"},
		{"from New York to LAX", "New York"},
		{"größe 12 über 3", "größe 12"},
	} {
		whole, part := r.Text(same[0]), r.Text(same[1])
		if !strings.Contains(whole, part) {
			t.Errorf("%q is part of %q, but %q not of %q", same[1], same[0], part, whole)
		}
		if strings.Contains(whole, same[1]) {
			t.Errorf("%q is still in %q", same[1], whole)
		}
	}
	for _, kept := range []string{"", " ", "12", "true", "Error:", "{}", "-", "007", "…"} {
		if got := r.Text(kept); got != kept {
			t.Errorf("%q becomes %q", kept, got)
		}
	}
	if a, b := r.Text("ann"), r.Text("Ann"); a == b || !strings.EqualFold(a, b) {
		t.Errorf("ann becomes %s, and Ann %s", a, b)
	}
	if New([]byte("another key of sixteen bytes")).Text("ann") == r.Text("ann") {
		t.Error("the key does not matter")
	}
}

// TestDigits maps all numbers of three and four digits: none twice, all to their
// length.
func TestDigits(t *testing.T) {
	r := New(key)
	seen := map[string]string{}
	fixed := 0
	for n := 100; n < 10_000; n++ {
		in := strconv.Itoa(n)
		out := r.Text(in)
		if len(out) != len(in) || out[0] == '0' || seen[out] != "" {
			t.Fatalf("%s becomes %s, as %q does", in, out, seen[out])
		}
		if seen[out] = in; in == out {
			fixed++
		}
	}
	if fixed > 20 {
		t.Errorf("%d numbers become themselves", fixed)
	}
	if a, b := r.Text("00123"), r.Text("123"); a != "00"+b {
		t.Errorf("123 becomes %s, 00123 %s", b, a)
	}
	long := strings.Repeat("9", 40)
	if out := r.Text(long); len(out) != 40 || out == long || !regexp.MustCompile(`^[1-9]\d*$`).MatchString(out) {
		t.Errorf("a long number becomes %s", out)
	}
}

// TestEquality redacts texts of any kind: equal ones become equal, different ones
// do not, and what is redacted is valid.
// TestLongDigits: what a number becomes follows from all of its digits, as many as there
// are; a million take no time worth naming if they are hashed once, and minutes else.
func TestLongDigits(t *testing.T) {
	r := New(key)
	for _, n := range []int{19, 40, 1_000_000} {
		run := strings.Repeat("7", n)
		one, other := r.digits(run), r.digits(run[:n-1]+"8")
		if len(one) != n || strings.Trim(one, "0123456789") != "" || one[0] == '0' {
			t.Errorf("%d digits become %.40q…", n, one)
		}
		if half := n / 2; one[:half] == other[:half] || one[half:] == other[half:] {
			t.Errorf("two numbers of %d digits have a half in common", n)
		}
	}
}

func TestEquality(t *testing.T) {
	r := New(key)
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		x, y := r.Text(a), r.Text(b)
		if (a == b) != (x == y) && !strings.EqualFold(a, b) {
			t.Fatalf("%q and %q become %q and %q", a, b, x, y)
		}
		if r.Text(a) != x {
			t.Fatalf("%q becomes %q once, and something else then", a, x)
		}
	})
}

// TestValues looks through JSON and keeps what it is made of.
func TestValues(t *testing.T) {
	run := &trace.Trajectory{
		ID:       "run of ann",
		Tools:    []trace.ToolDef{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(`{"properties":{"Cabin":{"enum":["basic economy"]}}}`))}},
		Messages: []trace.Message{{Text: trace.TextOf("I am mia_li_3668")}},
		Calls: []trace.Call{{
			Tool: trace.Intern("book"), HasResult: true,
			Args:   trace.JSONOf([]byte(`{"Who Is It":"mia_li_3668","Cabin":"basic economy","n":2,"sum":1042.75,"on":true}`)),
			Result: trace.TextOf(`{"mia_li_3668":{"paid_by":[1042],"Cabin":"basic economy"},"note":"{\"a\":\"mia_li_3668\"}"}`),
		}},
	}
	r := New(key)
	who := r.Text("mia_li_3668")
	r.Trajectory(run)
	if got := run.Messages[0].Text.Text(); !strings.HasSuffix(got, who) || strings.Contains(got, "am") {
		t.Errorf("the message is %q", got)
	}
	args, _ := run.Calls[0].ArgsValue()
	if v, _ := args.Lookup("Who Is It"); v.Text != who {
		t.Errorf("the argument is %q, want %q", v.Text, who)
	}
	if v, _ := args.Lookup("Cabin"); v.Text != "basic economy" {
		t.Errorf("a listed value becomes %q", v.Text)
	}
	if v, _ := args.Lookup("sum"); v.Kind != trace.Number || v.Text == "1042.75" || !strings.HasSuffix(v.Text, ".75") {
		t.Errorf("the sum becomes %q", v.Text)
	}
	result, ok := run.Calls[0].ResultValue()
	inner, found := result.Lookup(who)
	if _, has := inner.Lookup("paid_by"); !ok || !found || !has {
		t.Errorf("the result becomes %s", run.Calls[0].Result.Text())
	}
	note, _ := result.Lookup("note")
	if note.Text != `{"a":"`+who+`"}` {
		t.Errorf("JSON inside a text becomes %q", note.Text)
	}
}

// TestOffice redacts the bundled traces: not one word of what was said or done
// is left that is not kept on purpose.
func TestOffice(t *testing.T) {
	reader, err := trace.Open([]string{filepath.Join("..", "..", "testdata", "office", "trajectories.jsonl.gz")}, trace.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	word := regexp.MustCompile(`[\pL\pN]{5,}`)
	r := New(key)
	trajectories := 0
	for run, err := range reader.All() {
		if err != nil {
			t.Fatal(err)
		}
		trajectories++
		secret := map[string]bool{}
		collect := func(text string) {
			for _, w := range word.FindAllString(text, -1) {
				secret[strings.ToLower(w)] = true
			}
		}
		for _, m := range run.Messages {
			collect(m.Text.Text())
		}
		for i := range run.Calls {
			v, _ := run.Calls[i].ArgsValue()
			for _, m := range v.Members {
				collect(m.Value.Text)
			}
		}
		r.Trajectory(run)
		line, err := atif.Append(nil, run)
		if err != nil {
			t.Fatal(err)
		}
		// What stays is made of names: of tools, arguments, definitions.
		var names []string
		for i := range run.Tools {
			names = append(names, run.Tools[i].Name.Value(), run.Tools[i].Description.Text(), run.Tools[i].Input.Text())
		}
		for i := range run.Calls {
			v, _ := run.Calls[i].ArgsValue()
			for _, m := range v.Members {
				names = append(names, m.Name)
			}
			names = append(names, run.Calls[i].Tool.Value())
		}
		allowed := strings.ToLower(strings.Join(names, " ") + run.Model + run.Agent)
		out := strings.ToLower(string(line))
		for w := range secret {
			if strings.Contains(out, w) && !strings.Contains(allowed, w) && !slices.Contains(status[:], w) && !isMember(line, w) {
				t.Errorf("%s: %q is left", run.Source, w)
			}
		}
	}
	if trajectories != 300 {
		t.Errorf("%d trajectories", trajectories)
	}
}

// isMember reports whether a word stands in the name of a member only.
func isMember(line []byte, word string) bool {
	rest := regexp.MustCompile(`\\*"[A-Za-z_]*`+regexp.QuoteMeta(word)+`[A-Za-z_]*\\*":`).ReplaceAll(bytes.ToLower(line), nil)
	return !bytes.Contains(rest, []byte(word))
}
