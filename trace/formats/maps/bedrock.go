package maps

import (
	"strings"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// divideBedrock returns the parts of a trace that a record holds, each with its session,
// the agent in it that another one asked, and its steps. Events next to the trace, which
// are pieces of the answer, are left out.
func divideBedrock(record []byte) [][]byte {
	parts := [][]byte{}
	r, _ := trace.ParseValue(record)
	events := []trace.Value{r}
	if list := r.Member("traces", "completion", "trace", "events"); list.Kind == trace.Array {
		events = list.Elems
	}
	for _, event := range events {
		if inner := event.Member("trace"); inner.Member("trace").Kind == trace.Object {
			event = inner
		}
		session, name, asked, parent := event.Member("sessionId"), event.Member("agentName", "agentId"), trace.Value{}, trace.Value{}
		if len(event.Member("callerChain").Elems) > 1 {
			asked, parent = event.Member("collaboratorName", "agentName", "agentId"), session
			name = asked
		}
		steps := event.Member("trace")
		if steps.Kind != trace.Object {
			steps = event
		}
		list := trace.Value{Kind: trace.Array, Elems: bedrockSteps(steps, event.Member("eventTime"))}
		if session.Text != "" || len(list.Elems) > 0 {
			parts = append(parts, object("session", session, "asked", asked, "agent", name, "parent", parent, "steps", list).AppendCanonical(nil))
		}
	}
	return parts
}

// bedrockSteps returns the steps of a part as events.
func bedrockSteps(part, at trace.Value) (steps []trace.Value) {
	add := func(event string, step trace.Value) {
		steps = append(steps, object("event", trace.NewString(event), "time", at, "step", step, "call", bedrockCall(step)))
	}
	for _, m := range part.Members {
		if m.Name == "failureTrace" {
			add(m.Name, m.Value)
		} else if !strings.HasSuffix(m.Name, "Trace") || m.Name == "guardrailTrace" {
			continue
		}
		for _, name := range []string{"modelInvocationInput", "modelInvocationOutput", "rationale", "invocationInput"} {
			if step := m.Value.Member(name); step.Kind == trace.Object {
				add(name, step)
			}
		}
		for _, seen := range m.Value.Member("observation").Members {
			if seen.Value.Kind == trace.Object {
				add(seen.Name, seen.Value)
			}
		}
	}
	return steps
}

// bedrockCall returns the call of an action group: its name and its parameters as an
// object. What is no string is written as its text.
func bedrockCall(step trace.Value) trace.Value {
	for member, tool := range map[string]string{"knowledgeBaseLookupInput": "knowledgeBaseLookup", "codeInterpreterInvocationInput": "codeInterpreter"} {
		if args := step.Member(member); args.Kind == trace.Object {
			return object("tool", trace.NewString(tool), "arguments", args)
		}
	}
	action := step.Member("actionGroupInvocationInput")
	if action.Kind != trace.Object {
		return trace.Value{}
	}
	name := action.Member("function").Text
	if name == "" {
		name = strings.TrimPrefix(action.Member("verb").Text+"__"+action.Member("apiPath").Text, "__")
	}
	lists := []trace.Value{action.Member("parameters")}
	for _, m := range action.Member("requestBody").Member("content").Members {
		lists = append(lists, m.Value)
	}
	args := trace.Value{Kind: trace.Object}
	for _, list := range lists {
		for _, p := range list.Elems {
			value := p.Member("value")
			if inner, ok := build.JSONIn(value); ok && p.Member("type").Text != "string" {
				value = inner
			}
			if value.Kind != trace.Null {
				args.Members = append(args.Members, trace.Member{Name: p.Member("name").Text, Value: value})
			}
		}
	}
	args.Members = trace.SortedMembers(args.Members)
	return object("tool", trace.NewString(strings.Trim(action.Member("actionGroupName").Text+"__"+name, "_")), "arguments", args)
}

// readBedrock puts in the place of the prompts of a session what the user asked in them:
// they repeat what was said before.
func readBedrock(_ *build.Builder, records [][]byte) (out [][]byte) {
	before, system := "", true
	for _, record := range records {
		part, _ := trace.ParseValue(record)
		for i, step := range part.Member("steps").Elems {
			if step.Member("event").Text != "modelInvocationInput" {
				continue
			}
			prompt, _ := build.JSONIn(step.Member("step").Member("text"))
			ask := object("event", trace.NewString("ask"), "time", step.Member("time"), "model", step.Member("step").Member("foundationModel"))
			if list := prompt.Member("messages").Elems; len(list) > 0 && list[len(list)-1].Member("role").Text == "user" {
				asked := list[len(list)-1].Member("content").Text
				if inner, ok := strings.CutSuffix(asked, ", type=text}]"); ok {
					asked = strings.TrimPrefix(inner, "[{text=")
				}
				if asked != before && !strings.HasPrefix(asked, "[{tool_use_id=") { // results in other words
					before = asked
					ask = object("event", trace.NewString("ask"), "time", step.Member("time"), "model", ask.Member("model"), "asked", trace.NewString(asked))
				}
			}
			if said := prompt.Member("system"); system && said.Kind != trace.Null {
				system = false
				ask.Members = trace.SortedMembers(append(ask.Members, trace.Member{Name: "system", Value: said}))
			}
			part.Member("steps").Elems[i] = ask
		}
		out = append(out, part.AppendCanonical(nil))
	}
	return out
}
