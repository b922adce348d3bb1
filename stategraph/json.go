package stategraph

import (
	"iter"
	"slices"
)

// Schema names the version of Document.
const Schema = "awo.graph/v1"

// Document is the JSON form of a View.
type Document struct {
	Schema  string          `json:"schema"`
	Graph   DocumentTotals  `json:"graph"` // of the whole graph, whatever was left out
	States  []DocumentState `json:"states"`
	Edges   []DocumentEdge  `json:"edges"`
	LeftOut LeftOut         `json:"left_out"`
}

// DocumentTotals are the figures of the whole graph.
type DocumentTotals struct {
	Executions   int     `json:"executions"`
	Steps        int     `json:"steps"`
	States       int     `json:"states"`
	Edges        int     `json:"edges"` // distinct pairs of source and target
	SelfLoops    int     `json:"self_loops"`
	Sinks        int     `json:"sinks"`
	Labels       int     `json:"labels"`
	MeanInDegree float64 `json:"mean_in_degree"`
}

// DocumentState is one state.
type DocumentState struct {
	ID       StateID `json:"id"`
	Distance int     `json:"distance"` // edges from the root
	Visits   int     `json:"visits"`
	Ends     int     `json:"ends"` // executions that end here
}

// DocumentEdge is one edge.
type DocumentEdge struct {
	From        StateID `json:"from"`
	To          StateID `json:"to"`
	Label       string  `json:"label"`
	Tool        string  `json:"tool,omitempty"`
	Weight      int     `json:"weight"`
	Occurrences int     `json:"occurrences"`
	Joined      int     `json:"joined"` // executions in which no user message, barrier or cut came before it
}

// Document returns the JSON form of the view.
func (v *View) Document(names Names) Document {
	doc := v.Head()
	doc.States, doc.Edges = slices.AppendSeq(make([]DocumentState, 0, len(v.States)), v.DocumentStates(names)), slices.AppendSeq(make([]DocumentEdge, 0, len(v.Edges)), v.DocumentEdges(names))
	return doc
}

// Head returns Document without its states and edges.
func (v *View) Head() Document {
	stats := v.Graph.Statistics()
	return Document{
		Schema: Schema,
		Graph: DocumentTotals{
			Executions: v.Graph.Executions(), Steps: v.Graph.Steps(),
			States: stats.States, Edges: stats.Edges, SelfLoops: stats.SelfLoops, Sinks: stats.Sinks,
			Labels: stats.Labels, MeanInDegree: stats.MeanInDegree(),
		},
		LeftOut: v.LeftOut,
	}
}

// DocumentStates yields the states of Document.
func (v *View) DocumentStates(names Names) iter.Seq[DocumentState] {
	return func(yield func(DocumentState) bool) {
		visits, ends := v.Graph.Visits(), v.Graph.Ends()
		for _, s := range v.States {
			one := DocumentState{ID: s, Distance: v.Graph.Distance(s), Visits: visits[s], Ends: ends[s]}
			if !yield(one) {
				return
			}
		}
	}
}

// DocumentEdges yields the edges of Document.
func (v *View) DocumentEdges(names Names) iter.Seq[DocumentEdge] {
	return func(yield func(DocumentEdge) bool) {
		for _, id := range v.Edges {
			e := v.Graph.Edge(id)
			one := DocumentEdge{
				From: e.From, To: e.To, Label: names.label(e.Label), Tool: names.tool(e.Label),
				Weight: e.Weight, Occurrences: e.Occurrences, Joined: e.Free,
			}
			if !yield(one) {
				return
			}
		}
	}
}
