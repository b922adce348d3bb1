package bench

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// ToolBench reads the answers of ToolBench's depth-first search: a document
// with a tree of thoughts, actions and their inputs. The path to the answer, or
// to where the model gave up if there is none, or else the path that was tried
// last, is the trajectory; model responses of other branches are counted. A call
// failed if its observation has an error or a code of one. Tokens are counted for
// the whole search, which no turn has.
var ToolBench = trace.Format{
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
	path, best []trace.Value // nodes; best ends the search so far
	rank       int           // of best: 1 tried, 2 given up, 3 answered
	responses  int           // in the whole tree
}

// visit walks the tree below a node, in the order in which it was tried.
func (s *benchSearch) visit(node trace.Value, afterThought bool) {
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
func benchRank(node trace.Value, children int) int {
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
func textOf(v trace.Value, name string) string {
	member, _ := v.Lookup(name)
	if member.Kind != trace.String {
		return ""
	}
	return member.Text
}

func decodeToolBench(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	var p trace.ValueParser
	document := p.Value(&c)
	b := build.New(len(r.Data))
	answer, _ := document.Lookup("answer_generation")
	tree, ok := document.Lookup("tree")
	if !ok && len(document.Members) > 0 && isBenchAnswers(document.Members[0].Value.AppendCanonical(nil)) {
		return benchAnswers(r, &c, document)
	}
	root, ok2 := tree.Lookup("tree")
	if !ok || !ok2 || root.Kind != trace.Object {
		return b.FinishRecord(r, &c, `this record has no "tree" with a "tree"`)
	}
	if win, ok := document.Lookup("win"); ok && win.Kind == trace.Bool {
		b.Trajectory.Outcome = trace.OutcomeFailure
		if win.Bool {
			b.Trajectory.Outcome = trace.OutcomeSuccess
		}
	}
	if functions, ok := answer.Lookup("function"); ok {
		tools := jsonscan.New(functions.AppendCanonical(nil))
		b.Trajectory.Tools = b.ReadTools(&tools)
	}
	benchPrompt(b, answer)
	var s benchSearch
	s.visit(root, false)
	taken := benchPath(b, s.best)
	b.Anomaly(build.CodeBranchAbandoned, max(s.responses-taken, 0))
	return b.FinishRecord(r, &c, "")
}

// benchPrompt adds what the model was told, and what the user asked.
func benchPrompt(b *build.Builder, answer trace.Value) {
	if chains, _ := answer.Lookup("train_messages"); len(chains.Elems) > 0 && len(chains.Elems[0].Elems) > 0 {
		first := chains.Elems[0].Elems[0]
		if textOf(first, "role") == "system" {
			b.Message(trace.RoleSystem, trace.TextOf(textOf(first, "content")).OrAbsent())
		}
	}
	if query := textOf(answer, "query"); query != "" {
		b.Message(trace.RoleUser, trace.TextOf(query))
	}
}

// benchPath adds the nodes of a path, and returns how many responses they are.
func benchPath(b *build.Builder, path []trace.Value) int {
	var name string
	thought := false // the last node was one
	open := false    // there is an action without an input
	action := func(args trace.Raw) *trace.Call {
		open = false
		if name == "" {
			b.Anomaly(build.CodeCallUnnamed, 1)
			return nil
		}
		return b.Call("", b.Names.Intern([]byte(name)), args, trace.OriginModel)
	}
	for i, node := range path {
		kind, said := textOf(node, "node_type"), textOf(node, "description")
		switch {
		case kind == "Thought":
			b.Turn().Text = trace.TextOf(said).OrAbsent()
		case kind == "Action":
			if !thought {
				b.Turn()
			}
			name, open = said, true
		case kind == "Action Input" && i > 0 && len(b.Trajectory.Turns) > 0 && open:
			if call := action(trace.TextOf(said)); call != nil {
				observe(call, node)
			}
		case i > 0:
			b.Anomaly(build.CodeMessageShape, 1)
		}
		thought = kind == "Thought"
	}
	if open {
		action(trace.Raw{})
	}
	return len(b.Trajectory.Turns)
}

// observe gives a call what its node says about the result.
func observe(c *trace.Call, node trace.Value) {
	observation, ok := node.Lookup("observation")
	if !ok || observation.Kind != trace.String {
		return
	}
	c.HasResult, c.Result = true, trace.TextOf(observation.Text)
	code, ok := node.Lookup("observation_code")
	if !ok || code.Kind != trace.Number {
		return
	}
	c.Status = build.StatusOf(code.Text == benchOK || code.Text == benchAnswer || code.Text == benchGaveUp)
	if v, err := trace.ParseValue([]byte(observation.Text)); err == nil {
		if failure := textOf(v, "error"); failure != "" {
			c.Status, c.Error = trace.StatusFailed, trace.TextOf(failure)
		}
	}
}

func detectToolBench(h trace.Head) trace.Match {
	if len(h.Records) == 0 {
		return trace.Match{}
	}
	r := h.Records[0]
	tree := r.Members["tree"]
	if len(r.Keys) > 0 && isBenchAnswers(r.Members[r.Keys[0]]) {
		return trace.Match{OK: true}
	}
	switch {
	case !build.IsKind(tree, '{'):
		return trace.Match{}
	case build.HasMember(tree, "tree") && bytes.Contains(tree, []byte(`"node_type"`)):
		return trace.Match{OK: true}
	case r.Has("answer_generation"):
		return trace.Match{Lacks: `"tree" has no tree of nodes`}
	}
	return trace.Match{}
}
