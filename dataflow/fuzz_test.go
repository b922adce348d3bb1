package dataflow_test

import (
	"testing"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// FuzzCollect runs everything over a trajectory with arbitrary arguments,
// results and texts: nothing panics, sources come from earlier turns, and every
// place can be read back.
func FuzzCollect(f *testing.F) {
	f.Add(`{"id":"A1","n":7}`, `{"id":"A1","list":[{"k":"x","v":"A1"},{"k":"y","v":"B2"}]}`, "A1 on 2024-05-20")
	f.Add(`{"a":{"b":[1,[2,{"c":"xyz"}]]}}`, `[[["xyz"]],{"123":{"id":"xyz"},"456":{"id":"q"}}]`, "1,234.50 May 3rd")
	f.Add(`not json`, `{'python': 'repr', 'n': None}`, "\xff\xfe not json")
	f.Add(`{"_":"Re: Invoice 12, Bob"}`, `"{\"a\":\"{\\\"b\\\":\\\"Invoice 12\\\"}\"}"`, "")
	f.Add(`{"":"","\u0000":"\u0000\u0000x","s":"a\u0000b"}`, `{"'":{"]":"a"}}`, "東京 x\u0301yz")
	f.Add(`[1,2,3]`, `7.0`, "7")
	f.Add(`{"":""}`, `{}`, "\xe6\x01\xb1京 x́yz")
	f.Add(`{"x":7,"y":"7","z":7.0}`, `[7,"7",7.0,true,null]`, "")
	f.Fuzz(func(t *testing.T, args, result, text string) {
		s := run("r").user(text).call("f", args, result).user(result).
			turn(call{"f", args, text}, call{"g", args, result}).call("g", args, args).call("f", result, result)
		var c dataflow.Collector
		l := dataflow.NewLinks()
		for range 4 {
			flow := c.Collect(&s.t)
			l.Add(flow)
			for i := range flow.Uses {
				u := &flow.Uses[i]
				flow.KnownBefore(u, u.Call, dataflow.Enums{})
				for j := range u.Sources {
					source := &u.Sources[j]
					if flow.Slots[source.Slot].Side <= dataflow.Input && s.t.Calls[source.Call].Turn >= s.t.Calls[u.Call].Turn {
						t.Fatalf("call %d is a source of call %d", source.Call, u.Call)
					}
				}
			}
			for _, slot := range flow.Slots {
				if p, err := jsonpath.Parse(slot.Path); err != nil || p.String() != slot.Path {
					t.Fatalf("place %q is read as %q: %v", slot.Path, p, err)
				}
			}
		}
		set := l.Set()
		for i := range set.Links {
			set.Links[i].Verdict = dataflow.Accepted
		}
		j := dataflow.NewJudge(set)
		j.Add(j.Check(&s.t))
		for _, g := range j.Judgments() {
			if g.Agree > g.Uses {
				t.Fatalf("%d of %d", g.Agree, g.Uses)
			}
		}
		if v, err := trace.ParseValue([]byte(args)); err == nil {
			checkKnowledge(t, &c, &s.t, append(scalars(nil, v), v, trace.NewString(result), trace.NewString(text)))
		}
	})
}
