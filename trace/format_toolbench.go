package trace

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatToolBench reads the answers of ToolBench's depth-first search: a document
// with a tree of thoughts, actions and their inputs. The path to the answer, or
// to where the model gave up if there is none, or else the path that was tried
// last, is the trajectory; model responses of other branches are counted. A call
// failed if its observation has an error or a code of one. Tokens are counted for
// the whole search, which no turn has.
var formatToolBench = Format{
	Name:   "toolbench",
	Doc:    "Answer trees of ToolBench, whose finishing path is the trajectory.",
	Spec:   "https://github.com/OpenBMB/ToolBench",
	Detect: detectToolBench,
	Decode: decodeToolBench,
}

// What the codes of observations mean that are no failures.
const (
	benchOK     = "0"
	benchAnswer = "3"
	benchGaveUp = "4"
)

// benchSearch finds the path that counts.
type benchSearch struct {
	path, best []Value // nodes; best ends the search so far
	rank       int     // of best: 1 tried, 2 given up, 3 answered
	responses  int     // in the whole tree
}

// visit walks the tree below a node, in the order in which it was tried.
func (s *benchSearch) visit(node Value, afterThought bool) {
	kind := textOf(node, "node_type")
	if kind == "Thought" || kind == "Action" && !afterThought {
		s.responses++
	}
	s.path = append(s.path, node)
	children, _ := node.Lookup("children")
	if rank := benchRank(node, len(children.Elems)); rank > s.rank || rank == 1 && s.rank == 1 {
		s.rank, s.best = rank, append(s.best[:0], s.path...)
	}
	for _, child := range children.Elems {
		s.visit(child, kind == "Thought")
	}
	s.path = s.path[:len(s.path)-1]
}

// benchRank says how good an end of a path a node is.
func benchRank(node Value, children int) int {
	code, _ := node.Lookup("observation_code")
	switch {
	case children > 0:
		return 0
	case code.Text == benchAnswer:
		return 3
	case code.Text == benchGaveUp:
		return 2
	}
	return 1
}

// text returns a member that is a string.
func textOf(v Value, name string) string {
	member, _ := v.Lookup(name)
	if member.Kind != String {
		return ""
	}
	return member.Text
}

func decodeToolBench(r Record) ([]Fragment, error) {
	c := jsonscan.New(r.Data)
	var p valueParser
	document := p.value(&c)
	b := newBuilder(len(r.Data))
	answer, _ := document.Lookup("answer_generation")
	tree, ok := document.Lookup("tree")
	if !ok && len(document.Members) > 0 && isBenchAnswers(document.Members[0].Value.AppendCanonical(nil)) {
		return benchAnswers(r, &c, document)
	}
	root, ok2 := tree.Lookup("tree")
	if !ok || !ok2 || root.Kind != Object {
		return b.finishRecord(r, &c, `this record has no "tree" with a "tree"`)
	}
	if win, ok := document.Lookup("win"); ok && win.Kind == Bool {
		b.t.Outcome = OutcomeFailure
		if win.Bool {
			b.t.Outcome = OutcomeSuccess
		}
	}
	if functions, ok := answer.Lookup("function"); ok {
		tools := jsonscan.New(functions.AppendCanonical(nil))
		b.t.Tools = b.readTools(&tools)
	}
	benchPrompt(b, answer)
	var s benchSearch
	s.visit(root, false)
	taken := benchPath(b, s.best)
	b.odd(CodeBranchAbandoned, max(s.responses-taken, 0))
	return b.finishRecord(r, &c, "")
}

// benchPrompt adds what the model was told, and what the user asked.
func benchPrompt(b *builder, answer Value) {
	if chains, _ := answer.Lookup("train_messages"); len(chains.Elems) > 0 && len(chains.Elems[0].Elems) > 0 {
		first := chains.Elems[0].Elems[0]
		if textOf(first, "role") == "system" {
			b.message(RoleSystem, TextOf(textOf(first, "content")).orAbsent())
		}
	}
	if query := textOf(answer, "query"); query != "" {
		b.message(RoleUser, TextOf(query))
	}
}

// benchPath adds the nodes of a path, and returns how many responses they are.
func benchPath(b *builder, path []Value) int {
	var name string
	thought := false // the last node was one
	open := false    // there is an action without an input
	action := func(args Raw) *Call {
		open = false
		if name == "" {
			b.odd(CodeCallUnnamed, 1)
			return nil
		}
		return b.call("", b.names.intern([]byte(name)), args, OriginModel)
	}
	for i, node := range path {
		kind, said := textOf(node, "node_type"), textOf(node, "description")
		switch {
		case kind == "Thought":
			b.turn().Text = TextOf(said).orAbsent()
		case kind == "Action":
			if !thought {
				b.turn()
			}
			name, open = said, true
		case kind == "Action Input" && i > 0 && len(b.t.Turns) > 0 && open:
			if call := action(TextOf(said)); call != nil {
				observe(call, node)
			}
		case i > 0:
			b.odd(CodeMessageShape, 1)
		}
		thought = kind == "Thought"
	}
	if open {
		action(Raw{})
	}
	return len(b.t.Turns)
}

// observe gives a call what its node says about the result.
func observe(c *Call, node Value) {
	observation, ok := node.Lookup("observation")
	if !ok || observation.Kind != String {
		return
	}
	c.HasResult, c.Result = true, TextOf(observation.Text)
	code, ok := node.Lookup("observation_code")
	if !ok || code.Kind != Number {
		return
	}
	c.Status = statusOf(code.Text == benchOK || code.Text == benchAnswer || code.Text == benchGaveUp)
	if v, err := ParseValue([]byte(observation.Text)); err == nil {
		if failure := textOf(v, "error"); failure != "" {
			c.Status, c.Error = StatusFailed, TextOf(failure)
		}
	}
}

func detectToolBench(h Head) Match {
	if len(h.Records) == 0 {
		return Match{}
	}
	r := h.Records[0]
	tree := r.Members["tree"]
	if len(r.Keys) > 0 && isBenchAnswers(r.Members[r.Keys[0]]) {
		return Match{OK: true}
	}
	switch {
	case !isKind(tree, '{'):
		return Match{}
	case hasMember(tree, "tree") && bytes.Contains(tree, []byte(`"node_type"`)):
		return Match{OK: true}
	case r.Has("answer_generation"):
		return Match{Lacks: `"tree" has no tree of nodes`}
	}
	return Match{}
}
