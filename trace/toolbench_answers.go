package trace

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// The other form of ToolBench's answers is what its evaluation reads: one
// document from query ids to the query, the tools that were offered, and the
// answer as a chain of messages. The message of a tool is a Python dictionary
// whose text is cut, so of a call only the name is known.

// isBenchAnswers reports whether a member of a document is such an answer; the
// text may be cut short behind it.
func isBenchAnswers(text []byte) bool {
	return isKind(text, '{') && hasMember(text, "query") && hasMember(text, "available_tools")
}

// benchAnswers decodes the document c stands behind.
func benchAnswers(r Record, c *jsonscan.Cursor, document Value) ([]Fragment, error) {
	if err := c.End(); err != nil {
		return nil, scanError(r, err)
	}
	var out []Fragment
	for _, member := range document.Members {
		chain, ok := member.Value.Lookup("answer")
		if !ok {
			continue
		}
		b := newBuilder(0)
		b.t.ID, b.t.Task = member.Name, member.Name
		if tools, ok := member.Value.Lookup("available_tools"); ok {
			defined := jsonscan.New(tools.AppendCanonical(nil))
			b.t.Tools = b.readTools(&defined)
		}
		details, _ := chain.Lookup("answer_details")
		benchChain(b, details)
		if len(out) == 0 {
			b.odd(CodeLoneSurrogate, c.LoneSurrogates())
		}
		out = append(out, Fragment{Trajectory: b.finish()})
	}
	return out, nil
}

// benchChain follows the messages. Where the chain forks, the last path is the
// one that led to the answer.
func benchChain(b *builder, nodes Value) {
	thought := false // the last message was a text of the model
	for len(nodes.Elems) > 0 {
		b.odd(CodeBranchAbandoned, len(nodes.Elems)-1)
		node := nodes.Elems[len(nodes.Elems)-1]
		said := textOf(node, "message")
		role := textOf(node, "role")
		switch role {
		case "system", "user":
			if said != "" {
				b.message(map[string]Role{"system": RoleSystem, "user": RoleUser}[role], TextOf(said))
			}
		case "assistant":
			b.turn().Text = TextOf(said).orAbsent()
		case "tool":
			if !thought {
				b.turn()
			}
			if name, ok := benchToolName(said); ok {
				b.call("", b.names.intern([]byte(name)), Raw{}, OriginModel)
			} else {
				b.odd(CodeCallUnnamed, 1)
			}
		default:
			b.odd(CodeMessageShape, 1)
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
