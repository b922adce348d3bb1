package emit

// Graph emits the merged state graph as JSON (stategraph.Document).
var Graph = Emitter{
	Name: "graph.json",
	Doc:  "the merged state graph: states, transitions and how many executions take them",
	Emit: func(in Results) ([]File, error) {
		f, err := jsonFile("graph.json", in.View.Document(in.Names))
		return []File{f}, err
	},
}
