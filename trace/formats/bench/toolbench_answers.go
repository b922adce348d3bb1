package bench

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// The other form of ToolBench's answers is what its evaluation reads: one
// document from query ids to the query, the tools that were offered, and the
// answer as a chain of messages. The message of a tool is a Python dictionary
// whose text is cut, so of a call only the name is known.

// isBenchAnswers reports whether a member of a document is such an answer; the
// text may be cut short behind it.
func isBenchAnswers(text []byte) bool {
	return build.IsKind(text, '{') && build.HasMember(text, "query") && build.HasMember(text, "available_tools")
}

// benchAnswers decodes the document c stands behind.
func benchAnswers(r trace.Record, c *jsonscan.Cursor, document trace.Value) ([]trace.Fragment, error) {
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	var out []trace.Fragment
	for _, member := range document.Members {
		chain, ok := member.Value.Lookup("answer")
		if !ok {
			continue
		}
		b := build.New(0)
		b.Trajectory.ID, b.Trajectory.Task = member.Name, member.Name
		if tools, ok := member.Value.Lookup("available_tools"); ok {
			defined := jsonscan.New(tools.AppendCanonical(nil))
			b.Trajectory.Tools = b.ReadTools(&defined)
		}
		details, _ := chain.Lookup("answer_details")
		benchChain(b, details)
		if len(out) == 0 {
			b.Anomaly(build.CodeLoneSurrogate, c.LoneSurrogates())
		}
		out = append(out, trace.Fragment{Trajectory: b.Finish()})
	}
	return out, nil
}

// benchChain follows the messages. Where the chain forks, the last path is the
// one that led to the answer.
func benchChain(b *build.Builder, nodes trace.Value) {
	thought := false // the last message was a text of the model
	for len(nodes.Elems) > 0 {
		b.Anomaly(build.CodeBranchAbandoned, len(nodes.Elems)-1)
		node := nodes.Elems[len(nodes.Elems)-1]
		said := textOf(node, "message")
		role := textOf(node, "role")
		switch role {
		case "system", "user":
			if said != "" {
				b.Message(map[string]trace.Role{"system": trace.RoleSystem, "user": trace.RoleUser}[role], trace.TextOf(said))
			}
		case "assistant":
			b.Turn().Text = trace.TextOf(said).OrAbsent()
		case "tool":
			if !thought {
				b.Turn()
			}
			if name, ok := benchToolName(said); ok {
				b.Call("", b.Names.Intern([]byte(name)), trace.Raw{}, trace.OriginModel)
			} else {
				b.Anomaly(build.CodeCallUnnamed, 1)
			}
		default:
			b.Anomaly(build.CodeMessageShape, 1)
		}
		thought = role == "assistant"
		nodes, _ = node.Lookup("next")
	}
}

// benchToolName reads the name of the tool at the beginning of a message such as
// {'name': 'search', 'arguments': ...
func benchToolName(message string) (string, bool) {
	rest, ok := strings.CutPrefix(message, "{'name': '")
	if !ok {
		return "", false
	}
	name, _, ok := strings.Cut(rest, "'")
	return name, ok && name != ""
}
