package prefetch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// shopWorld is tools whose answers depend on how often something was written.
type shopWorld struct {
	tools   []string
	version int
}

func (w *shopWorld) answer(c Call) trace.Value {
	h := uint64(w.version)
	for _, b := range []byte(c.Key()) {
		h = h*31 + uint64(b)
	}
	id := func(n uint64) trace.Value { return trace.NewString(fmt.Sprint("v", n%9)) }
	return trace.NewObject(
		trace.Member{Name: "x", Value: trace.Value{Kind: trace.Array, Elems: []trace.Value{id(h), id(h / 7)}}},
		trace.Member{Name: "y", Value: id(h / 11)},
		trace.Member{Name: "version", Value: trace.Value{Kind: trace.Number, Text: fmt.Sprint(w.version)}},
	)
}

// randomSet returns tools, of which some are known to read, and rules between these.
func randomSet(t *testing.T, r *rand.Rand) (*Set, []string) {
	var tools []string
	set := &Set{}
	for i := range 2 + r.IntN(6) {
		tools = append(tools, fmt.Sprint("tool", i))
		if i == 0 || r.IntN(3) > 0 {
			set.Reads = append(set.Reads, tools[i])
		}
	}
	paths := []jsonpath.Path{path(t, "$.x[*]"), path(t, "$.y"), path(t, "$.none")}
	for i := range 1 + r.IntN(5) {
		pick := func() string { return set.Reads[r.IntN(len(set.Reads))] }
		set.Rules = append(set.Rules, Rule{
			ID: fmt.Sprint(i), Source: Source{Tool: pick(), Path: paths[r.IntN(3)]}, Target: Target{Tool: pick(), Argument: "id"}, MaxElements: r.IntN(3), Depth: 1 + r.IntN(2),
			When: When{Turn: []Turn{AnyTime, AnyTime, FirstTime, Again}[r.IntN(4)], Last: []Last{LastAny, LastAny, LastOK, LastFailed}[r.IntN(4)]},
		})
	}
	if r.IntN(10) == 0 { // nothing is known of a rule's target: no rule of the set is followed
		set.Rules[0].Target.Tool = "unknown"
	}
	return set, tools
}

// TestRandomSequences lets agents make calls at random, several at once, that fail, are
// slow or are given up, while writes take effect at any moment of their calls, and reads
// ahead arrive late or never. What a session says was read ahead is what the agent would
// have got had it asked, nothing but reads is made, and none twice.
func TestRandomSequences(t *testing.T) {
	const sequences = 10_000
	r := rand.New(rand.NewPCG(3, 4))
	reads, taken, stale := 0, 0, 0
	for sequence := range sequences {
		set, tools := randomSet(t, r)
		s, world := NewSession(set), &shopWorld{tools: tools}
		isRead := func(tool string) bool { return slices.Contains(set.Reads, tool) }

		type waiting struct { // a read ahead under way
			Read
			value   trace.Value
			version int
		}
		type attached struct {
			value   trace.Value
			version int
		}
		type underWay struct { // a call of the agent
			Call
			since   int // the version when it began
			effects bool
		}
		wrong := set.Check()
		var ahead []waiting
		var calls []underWay
		var known []Call
		have, made := map[string]attached{}, map[string]bool{}
		call := func(list []Read) {
			if len(list) > MaxReads {
				t.Fatalf("sequence %d: %d reads", sequence, len(list))
			}
			for _, read := range list {
				if !isRead(read.Tool) || wrong != nil {
					t.Fatalf("sequence %d: %s is called ahead", sequence, read.Tool)
				}
				if made[read.Key()] {
					t.Fatalf("sequence %d: %s is read twice", sequence, read.Key())
				}
				made[read.Key()] = true
				known = append(known, read.Call)
				reads++
				ahead = append(ahead, waiting{read, world.answer(read.Call), world.version})
			}
		}
		write := func(c *underWay) {
			if !c.effects && !isRead(c.Tool) {
				c.effects = true
				world.version++
			}
		}
		for range 10 + r.IntN(50) {
			switch r.IntN(7) {
			case 0, 1: // a read ahead arrives, late or early, fails, or is given up
				if len(ahead) == 0 {
					continue
				}
				i := r.IntN(len(ahead))
				one := ahead[i]
				ahead = slices.Delete(ahead, i, i+1)
				if r.IntN(4) == 0 {
					s.Lost(one.Read)
					continue
				}
				have[one.Key()] = attached{one.value, one.version}
				call(s.Got(one.Read, one.value))
			case 2, 3: // a call ends
				if len(calls) == 0 {
					continue
				}
				i := r.IntN(len(calls))
				c := calls[i]
				calls = slices.Delete(calls, i, i+1)
				write(&c)
				switch r.IntN(5) {
				case 0:
					call(s.Answered(Answer{Call: c.Call, Failed: true}))
				case 1: // given up: nobody knows what it did
					if !isRead(c.Tool) {
						s.Changed()
					}
				default:
					call(s.Answered(Answer{Call: c.Call, Result: world.answer(c.Call)}))
				}
			case 4: // a write takes effect
				if len(calls) > 0 {
					write(&calls[r.IntN(len(calls))])
				}
			default: // the agent wants to know something, and asks if it was not told
				c := Call{Tool: tools[r.IntN(len(tools))], Arguments: trace.NewObject(trace.Member{Name: "id", Value: trace.NewString(fmt.Sprint("v", r.IntN(9)))})}
				if len(known) > 0 && r.IntN(2) == 0 {
					c = known[r.IntN(len(known))]
				}
				got, told := have[c.Key()]
				if _, _, is := s.Take(c); is && told {
					// Beside a write that is under way it could have got what was there before.
					since := world.version
					for i := range calls {
						if !isRead(calls[i].Tool) {
							since = min(since, calls[i].since)
						}
					}
					now := world.answer(c)
					if got.version < since || since == world.version && !got.value.Equal(now) {
						t.Fatalf("sequence %d: %s was read at version %d, and is %d", sequence, c.Key(), got.version, world.version)
					}
					taken++
					continue
				} else if told && !is && got.version < world.version {
					stale++
				}
				s.Begin(c)
				made[c.Key()] = true
				calls = append(calls, underWay{Call: c, since: world.version})
			}
		}
	}
	t.Logf("%d sequences: %d reads, %d answers taken, %d stale", sequences, reads, taken, stale)
	if reads < sequences || taken < sequences/20 || stale < sequences/100 {
		t.Errorf("only %d reads, %d answers taken, %d stale: this tests nothing", reads, taken, stale)
	}
}
