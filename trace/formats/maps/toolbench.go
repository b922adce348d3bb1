package maps

import (
	"strings"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// divideToolBench returns the answers in a document of ToolBench's evaluation, each with
// the id of its query, or the document if it is a tree.
func divideToolBench(record []byte) (out [][]byte) {
	document, _ := trace.ParseValue(record)
	if tree, ok := document.Lookup("tree"); ok {
		if tree.Member("tree").Kind == trace.Object {
			return [][]byte{record}
		}
		return nil
	}
	for _, m := range document.Members {
		if _, ok := m.Value.Lookup("answer"); ok {
			out = append(out, object("id", trace.NewString(m.Name), "chain", m.Value).AppendCanonical(nil))
		}
	}
	return out
}

// readToolBench returns a document with the path to its answer as "path".
func readToolBench(b *build.Builder, records [][]byte) [][]byte {
	document, _ := trace.ParseValue(records[0])
	root := document.Member("tree").Member("tree")
	path := benchChain(b, document.Member("chain").Member("answer").Member("answer_details"))
	if root.Kind == trace.Object {
		var s benchSearch
		s.visit(root, false)
		taken := 0
		path, taken = benchPath(b, s.best)
		b.Anomaly(build.CodeBranchAbandoned, max(s.responses-taken, 0))
	}
	whole := object("document", document, "path", trace.Value{Kind: trace.Array, Elems: path})
	return [][]byte{whole.AppendCanonical(nil)}
}

// benchChain follows the messages of an answer. Where the chain forks, the last path is
// the one that led to the answer. The message of a tool is a Python dictionary whose text
// is cut, so only the name of the tool is known.
func benchChain(b *build.Builder, nodes trace.Value) (path []trace.Value) {
	role := ""
	for len(nodes.Elems) > 0 {
		b.Anomaly(build.CodeBranchAbandoned, len(nodes.Elems)-1)
		node := nodes.Elems[len(nodes.Elems)-1]
		said, before := node.Member("message"), role
		switch role = node.Member("role").Text; role {
		case "system", "user":
			if said.Text != "" {
				path = append(path, object("event", trace.NewString(role), "text", said))
			}
		case "assistant":
			path = append(path, object("event", trace.NewString("step")), object("event", trace.NewString("text"), "text", said))
		case "tool":
			if before != "assistant" {
				path = append(path, object("event", trace.NewString("step")))
			}
			rest, _ := strings.CutPrefix(said.Text, "{'name': '")
			name, _, ok := strings.Cut(rest, "'")
			if !ok || len(rest) == len(said.Text) {
				name = ""
			}
			path = append(path, object("event", trace.NewString("call"), "tool", trace.NewString(name)))
		default:
			b.Anomaly(build.CodeMessageShape, 1)
		}
		nodes = node.Member("next")
	}
	return path
}

// benchSearch finds the path that counts: to the answer, else to where the model gave up,
// else the one that was tried last.
type benchSearch struct {
	path, best []trace.Value // nodes; best ends the search so far
	rank       int           // of best: 1 tried, 2 given up, 3 answered
	responses  int           // in the whole tree
}

// visit walks the tree below a node, in the order in which it was tried.
func (s *benchSearch) visit(node trace.Value, afterThought bool) {
	kind := node.Member("node_type").Text
	if kind == "Thought" || kind == "Action" && !afterThought {
		s.responses++
	}
	s.path = append(s.path, node)
	children := node.Member("children").Elems
	rank := map[string]int{"3": 3, "4": 2}[node.Member("observation_code").Text]
	if rank = max(rank, 1); len(children) == 0 && (rank > s.rank || rank == 1 && s.rank == 1) {
		s.rank, s.best = rank, append(s.best[:0], s.path...)
	}
	for _, child := range children {
		s.visit(child, kind == "Thought")
	}
	s.path = s.path[:len(s.path)-1]
}

// benchPath returns the nodes of a path as events, an action and its input as one, and how
// many responses they are.
func benchPath(b *build.Builder, nodes []trace.Value) (path []trace.Value, responses int) {
	kind, open := "", false // there is an action without an input
	for i, node := range nodes {
		before, said := kind, node.Member("description")
		switch kind = node.Member("node_type").Text; {
		case kind == "Thought":
			path = append(path, object("event", trace.NewString("step")), object("event", trace.NewString("text"), "text", said))
			responses++
		case kind == "Action":
			if before != "Thought" {
				path = append(path, object("event", trace.NewString("step")))
				responses++
			}
			path, open = append(path, object("event", trace.NewString("call"), "tool", said)), true
		case kind == "Action Input" && i > 0 && open:
			path[len(path)-1], open = object("event", trace.NewString("call"), "tool", path[len(path)-1].Member("tool"), "node", node), false
		case i > 0:
			b.Anomaly(build.CodeMessageShape, 1)
		}
	}
	return path, responses
}
