package inertia

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
)

// odd is a trajectory of random values, of which many are equal in one way or another.
func odd(seed uint64) *trace.Trajectory {
	r := rand.New(rand.NewPCG(seed, 3))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	texts := []string{
		"mail", "files", "list", "order-17", "order-18", "A17", "a@b.example", "", "17", "#0", "##1", "#1", "0", "1", "Grüße-1", "two words", "x\u0000-1", "mail_list",
	}
	var value func(depth int) string
	value = func(depth int) string {
		switch n := r.IntN(10); {
		case n < 5 || depth > 3:
			return fmt.Sprintf("%q", pick(texts...))
		case n < 7:
			return pick("0", "1", "1.0", "17", "1e2", "true", "false", "null")
		case n == 7:
			return "[" + value(depth+1) + "," + value(depth+1) + "," + value(depth+1) + "]"
		}
		return fmt.Sprintf(`{"id":%s,%q:%s,%q:%s}`, value(depth+1), pick("name", "account_name", "to"), value(depth+1), pick("a b", "order-17", "é", "zz"), value(depth+1))
	}
	t := &trace.Trajectory{ID: fmt.Sprint("odd-", seed), Task: fmt.Sprint("odd task ", seed/2)}
	for n := range 2 + r.IntN(7) {
		if r.IntN(2) == 0 {
			text := fmt.Sprintf("Use %s or (%s), and %s.", pick(texts...), pick(texts...), pick(texts...))
			t.Messages = append(t.Messages, trace.Message{Role: pick2(r, trace.RoleUser, trace.RoleSystem), Text: trace.TextOf(text), Turn: len(t.Turns), Call: n})
		}
		if r.IntN(4) > 0 || n == 0 {
			t.Turns = append(t.Turns, trace.Turn{FirstCall: n})
		}
		t.Turns[len(t.Turns)-1].NumCalls++
		c := trace.Call{Tool: trace.Intern(pick("mail_list", "files_get", "order")), Turn: len(t.Turns) - 1, Status: pick2(r, trace.StatusOK, trace.StatusFailed)}
		c.Args = trace.JSONOf([]byte(pick(fmt.Sprintf(`{"id":%s,"to":%s}`, value(2), value(2)), fmt.Sprintf(`{"id":%s}`, value(3)), "[1]", "{")))
		if c.HasResult = r.IntN(6) > 0; c.HasResult {
			c.Result = pick2(r, trace.JSONOf([]byte(value(0))), trace.TextOf(value(0)))
		}
		t.Calls = append(t.Calls, c)
	}
	return t
}

func pick2[T any](r *rand.Rand, a, b T) T {
	if r.IntN(3) > 0 {
		return a
	}
	return b
}

// TestDigest wants a digest to give the examples that its trajectory gives, and none of
// its values.
func TestDigest(t *testing.T) {
	list := recordings.Read(t, "../testdata/office/trajectories.jsonl.gz")
	for i := range 30 {
		list = append(list, walk(i))
	}
	for i := range 600 {
		list = append(list, odd(uint64(i)))
	}
	var w Observer
	g := NewGraph(3)
	for _, x := range list {
		g.Add(w.Observe(x))
	}
	p, known, examples := NewPredictor(g.Model(ModelOptions{}), PredictorOptions{Any: true}), g.vocabulary(), 0
	for _, x := range list {
		digest := appendDigest(nil, x)
		left := maxElements
		h, _ := readDigest(digest, keptBytes(x), known, &left)
		if h == nil {
			t.Fatalf("the digest of %s contradicts itself", x.ID)
		}
		want, got := p.examples(NewHistory(x), nil), p.examples(h, nil)
		if !slices.Equal(got, want) {
			for i := range want {
				if i < len(got) && got[i] != want[i] {
					t.Logf("\n%+v\n%+v", got[i], want[i])
				}
			}
			t.Fatalf("the digest of %s gives %d examples and the trajectory %d, or others", x.ID, len(got), len(want))
		}
		examples += len(want)
		for i := range x.Calls {
			for _, m := range NewHistory(x).argsValue(i).Members {
				if m.Value.Kind == trace.String && len(m.Value.Text) > 5 && m.Value.Text != "mail_list" && bytes.Contains(digest, []byte(m.Value.Text)) {
					t.Errorf("the digest of %s has %q", x.ID, m.Value.Text)
				}
			}
		}
	}
	if examples < 1000 {
		t.Errorf("%d examples", examples)
	}
}

// TestDigestRoom wants a digest whose lists have more elements than there is room for to be
// passed over, whatever stands in few bytes, and what room it has stay with the others.
func TestDigestRoom(t *testing.T) {
	var run scripted.Run
	run.User("all").Call("list", `{}`, "["+strings.Repeat("0,", 9999)+"0]").Call("list", `{}`, `[1,2]`)
	digest := appendDigest(nil, &run.T)
	if len(digest) > 200 {
		t.Fatalf("the digest has %d bytes", len(digest))
	}
	for room, want := range map[int]bool{10_001: false, 10_002: true, maxElements: true} {
		left := room
		h, ok := readDigest(digest, keptBytes(&run.T), vocabulary{}, &left)
		if !ok || (h != nil) != want {
			t.Errorf("room for %d: history %t, right %t", room, h != nil, ok)
		}
		if used := room - left; want && used != 10_002 || !want && used != 0 {
			t.Errorf("room for %d: %d are taken", room, used)
		}
	}
	left := maxElements
	if h, ok := readDigest(digest, 1000, vocabulary{}, &left); h != nil || ok || left != maxElements {
		t.Error("a trajectory of 1000 bytes has 10,000 values")
	}
	// Many such digests have the room of one: the sample is read as far as it reaches.
	l := NewLessons(2, 7)
	for i := range 5 {
		one := run.T
		one.ID = fmt.Sprint(i)
		l.Add(&one, observe(&one)[0].o)
	}
	l = stored(t, l)
	l.elements = 25_000
	runs, ok := l.Sampled()
	n := 0
	for _, part := range runs {
		n += len(part)
	}
	if !ok || n != 2 {
		t.Errorf("%d trajectories are read, want 2", n)
	}
}

// FuzzReadDigest wants of any bytes no history, or one that can be predicted, within the
// room that it has.
func FuzzReadDigest(f *testing.F) {
	var w Observer
	g := NewGraph(2)
	var run scripted.Run
	run.User("find a-1 or B-2").Call("find", `{"id":"a-1"}`, `{"found":[{"id":"B-2","n":7},{"id":"B-2","n":7}]}`)
	run.Call("get", `{"id":"B-2","n":7}`, `"ok"`)
	for _, x := range []*trace.Trajectory{&run.T, walk(1), {}} {
		g.Add(w.Observe(x))
		f.Add(appendDigest(nil, x))
	}
	p, known := NewPredictor(g.Model(ModelOptions{}), PredictorOptions{Any: true}), g.vocabulary()
	f.Fuzz(func(t *testing.T, data []byte) {
		left := 1000
		h, ok := readDigest(data, 5000, known, &left)
		if h == nil {
			if left != 1000 {
				t.Fatal("room is taken for nothing")
			}
			return
		}
		if !ok || left < 0 {
			t.Fatalf("a history that contradicts itself, or %d beyond its room", -left)
		}
		p.examples(h, nil)
	})
}
