package dataflow_test

import (
	"slices"
	"testing"
	"unique"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

func TestSources(t *testing.T) {
	for _, tc := range []struct {
		name  string
		in    *script
		call  int
		param string
		want  []string
	}{
		{
			"leaf of a result",
			run("a").call("login", `{"user":"amy"}`, `{"access_token":"tok-93481"}`).call("list", `{"token":"tok-93481"}`, ``),
			1, "token",
			[]string{"equal login.access_token@0"},
		},
		{
			"nearest result first, all earlier calls counted",
			run("a").call("get", `{}`, `{"id":"x1y2"}`).call("get", `{}`, `{"id":"x1y2"}`).call("put", `{"id":"x1y2"}`, ``),
			2, "id",
			[]string{"equal get.id@1 x2"},
		},
		{
			"results before arguments before messages, whatever the distance",
			run("a").user("please cancel order W123").call("list", `{}`, `["W123"]`).call("find", `{"order":"W123"}`, `{"n":1}`).call("cancel", `{"order":"W123"}`, ``),
			2, "order",
			[]string{"equal list[*]@0[0]", "equal find(order)@1", "substring task@0"},
		},
		{
			"a result that repeats its own argument comes after it",
			run("a").user("please cancel order W123").call("find", `{"order":"W123"}`, `{"order":"W123","n":1}`).call("cancel", `{"order":"W123"}`, ``),
			1, "order",
			[]string{"equal find(order)@0", "equal find.order@0", "substring task@0"},
		},
		{
			"parallel calls are no sources of each other",
			run("a").turn(call{"get", `{"id":"abc"}`, `{"id":"abc","next":"def"}`}, call{"get", `{"id":"def"}`, `{"id":"def"}`}),
			1, "id",
			[]string{},
		},
		{
			"a call is no source of itself",
			run("a").call("get", `{"id":"abc","copy":"abc"}`, `{"id":"abc"}`),
			0, "copy",
			[]string{},
		},
		{
			"number by value",
			run("a").call("price", `{}`, `{"total":12.50}`).call("pay", `{"amount":12.5}`, ``),
			1, "amount",
			[]string{"equal price.total@0"},
		},
		{
			"large integers are exact",
			run("a").call("get", `{}`, `{"id":9007199254740993}`).call("put", `{"id":9007199254740992}`, ``),
			1, "id",
			[]string{},
		},
		{
			"string for a number is a coercion",
			run("a").call("count", `{}`, `{"n":7}`).call("page", `{"size":"7"}`, ``),
			1, "size",
			[]string{"coerced count.n@0"},
		},
		{
			"number for a string is a coercion",
			run("a").call("count", `{}`, `{"n":"1234"}`).call("page", `{"size":1234}`, ``),
			1, "size",
			[]string{"coerced count.n@0"},
		},
		{
			"a string that only looks like the number is none",
			run("a").call("count", `{}`, `{"n":"007"}`).call("page", `{"size":7}`, ``),
			1, "size",
			[]string{},
		},
		{
			"member of a list, with its position",
			run("a").call("orders", `{}`, `{"ids":["A17","B42","C99"]}`).call("get", `{"id":"B42"}`, ``),
			1, "id",
			[]string{"equal orders.ids[*]@0[1]"},
		},
		{
			"the first of several equal elements",
			run("a").call("orders", `{}`, `[{"id":"A17"},{"id":"B42"},{"id":"B42"}]`).call("get", `{"id":"B42"}`, ``),
			1, "id",
			[]string{"equal orders[*].id@0[1]"},
		},
		{
			"lists in lists",
			run("a").call("orders", `{}`, `[{"items":["p11"]},{"items":["p22","p33"]}]`).call("get", `{"id":"p33"}`, ``),
			1, "id",
			[]string{"equal orders[*].items[*]@0[1 1]"},
		},
		{
			"a map from data is a list",
			run("a").call("user", `{}`, `{"methods":{"card_1234567":{"id":"card_1234567"},"paypal_7654321":{"id":"paypal_7654321"}}}`).call("pay", `{"with":"paypal_7654321"}`, ``),
			1, "with",
			[]string{"equal user.methods[*].id@0[1]"},
		},
		{
			"booleans, null and empty values come from nowhere",
			run("a").call("get", `{}`, `{"a":true,"b":null,"c":"","d":[],"e":{}}`).
				call("put", `{"a":true,"b":null,"c":"","d":[],"e":{}}`, ``).call("put", `{"a":true}`, ``),
			2, "a",
			[]string{},
		},
		{
			"JSON text inside JSON text",
			run("a").call("rpc", `{}`, `{"content":[{"type":"text","text":"{\"user\":{\"id\":\"u_881\"}}"}]}`).call("get", `{"id":"u_881"}`, ``),
			1, "id",
			[]string{"equal rpc.content[*].text.user.id@0[0]", "substring rpc.content[*].text@0[0]"},
		},
		{
			"a whole object, and its leaves",
			run("a").call("get", `{}`, `{"address":{"city":"Turin","zip":"10121"}}`).call("ship", `{"to":{"zip":"10121","city":"Turin"}}`, ``),
			1, "to",
			[]string{"equal get.address@0"},
		},
		{
			"a leaf of a whole object",
			run("a").call("get", `{}`, `{"address":{"city":"Turin","zip":"10121"}}`).call("ship", `{"to":{"zip":"10121","city":"Turin"}}`, ``),
			1, "to.zip",
			[]string{"equal get.address.zip@0"},
		},
		{
			"a whole list",
			run("a").call("get", `{}`, `{"tags":["aa","bb"]}`).call("set", `{"tags":["aa","bb"]}`, ``),
			1, "tags",
			[]string{"equal get.tags@0"},
		},
		{
			"plain text results hold words",
			run("a").call("create", `{}`, `Created event evt_5521 in calendar Work.`).call("delete", `{"id":"evt_5521"}`, ``),
			1, "id",
			[]string{"substring create@0"},
		},
		{
			"Python results are plain text",
			run("a").call("get", `{}`, `{'order_id': '#W4521', 'status': None}`).call("cancel", `{"order_id":"#W4521"}`, ``),
			1, "order_id",
			[]string{"substring get@0"},
		},
		{
			"words, not parts of words",
			run("a").call("get", `{}`, `the code is ABC1234`).call("use", `{"code":"ABC"}`, ``).call("use", `{"code":"1234"}`, ``),
			2, "code",
			[]string{},
		},
		{
			"a message in other case",
			run("a").user("Fly me to  new\n york please").call("search", `{"city":"New York"}`, ``),
			0, "city",
			[]string{"folded task@0"},
		},
		{
			"a date written out",
			run("a").user("on May 20th, 2024 please").call("search", `{"date":"2024-05-20"}`, ``),
			0, "date",
			[]string{"normalized task@0"},
		},
		{
			"a number with separators",
			run("a").user("pay $1,250.50 now").call("pay", `{"amount":1250.5}`, ``),
			0, "amount",
			[]string{"normalized task@0"},
		},
		{
			"two characters in a text prove nothing",
			run("a").user("row se please").call("seat", `{"n":12,"row":"se"}`, ``),
			0, "row",
			[]string{},
		},
		{
			"a number of two digits in a message",
			run("a").user("seat 12 please, not 12.5").call("seat", `{"n":12}`, ``),
			0, "n",
			[]string{"substring task@0"},
		},
		{
			"two digits of a time, a date, a fraction, a name",
			run("a").user("at 10:12, on 2024-12-01, 12.5 of A-12").call("seat", `{"n":12}`, ``),
			0, "n",
			[]string{},
		},
		{
			"two digits in the text of a result prove nothing",
			run("a").call("ask", `{}`, `{"say":"seat 12 is free"}`).call("seat", `{"n":12}`, ``),
			1, "n",
			[]string{},
		},
		{
			"a later message, and not one after the call",
			run("a").user("hello").call("ask", `{}`, `ok`).user("my name is Sofia").call("save", `{"name":"Sofia"}`, ``).user("Sofia again"),
			1, "name",
			[]string{"substring user@1"},
		},
		{
			"the system prompt",
			run("a").system("Today is 2024-05-15.").user("hello").call("list", `{"day":"2024-05-15"}`, ``),
			0, "day",
			[]string{"substring system@0"},
		},
		{
			"fixed text around a value",
			run("a").call("get", `{}`, `{"subject":"Invoice 7781"}`).call("send", `{"subject":"Re: Invoice 7781"}`, ``),
			1, "subject",
			[]string{`template get.subject@0 "Re: {}"/0`},
		},
		{
			"text around two values",
			run("a").call("get", `{}`, `{"name":"Sofia","no":4417}`).call("send", `{"body":"Dear Sofia, order 4417 is on its way"}`, ``),
			1, "body",
			[]string{
				`template get.no@0 "Dear Sofia, order {} is on its way"/0`, `template get.no@0 "Dear {}, order {} is on its way"/1`,
				`template get.name@0 "Dear {}, order 4417 is on its way"/0`, `template get.name@0 "Dear {}, order {} is on its way"/0`,
			},
		},
		{
			"text around a value with signs",
			run("a").call("get", `{}`, `{"id":"#W4521"}`).call("note", `{"text":"order #W4521 done"}`, ``),
			1, "text",
			[]string{`template get.id@0 "order {} done"/0`},
		},
		{
			"an earlier argument",
			run("a").call("search", `{"city":"Turin"}`, `[]`).call("search", `{"city":"Turin","page":"2nd"}`, `[]`).call("book", `{"where":"Turin"}`, ``),
			2, "where",
			[]string{"equal search(city)@1 x2"},
		},
		{
			"arguments that are no JSON",
			run("a").call("bash", `{}`, `{"file":"/tmp/report-17.txt"}`).call("bash", `cat /tmp/report-17.txt`, ``),
			1, "_raw",
			[]string{`template bash.file@0 "cat {}"/0`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := sourcesOf(t, tc.in.flow(), tc.call, tc.param)
			if !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// TestSlotText writes slots as people read them, also one that names nothing.
func TestSlotText(t *testing.T) {
	tool := unique.Make("find")
	for want, slot := range map[string]dataflow.Slot{
		"":             {},
		"find":         {Tool: tool},
		"find.rows[*]": {Tool: tool, Path: "$.rows[*]"},
		"find(name)":   {Side: dataflow.Input, Tool: tool, Path: "$.name"},
		"find()":       {Side: dataflow.Input, Tool: tool},
		"task":         {Side: dataflow.Task},
	} {
		if got := slot.String(); got != want {
			t.Errorf("%+v is %q, want %q", slot, got, want)
		}
	}
}

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
			checkValues(t, &c, &s.t, append(scalars(nil, v), v, trace.NewString(result), trace.NewString(text)))
		}
	})
}
