// Package dataflow says where the arguments of calls come from: from a leaf of
// an earlier result, an earlier argument, the task, a later message, or nowhere
// in the trajectory.
//
// Trajectories come in, one at a time. Collector.Collect is a pure function of
// one and may run in parallel; it gives a Flow, the possible sources of every
// argument, best first. Links adds flows up in input order and gives a Set:
// every link from a place in a tool's results (or arguments, or a kind of
// message) to a tool's parameter, accepted or refused with the evidence, and
// per parameter the share of each class of sources. A second pass, Judge,
// applies the links to every use and counts how often each gives the recorded
// value, and which element of a list is meant.
//
//	var c dataflow.Collector
//	links := dataflow.NewLinks()
//	for flow := range par.Map(workers, trajectories, c.Collect) {
//		links.Add(flow)
//	}
//	set := links.Set()
//	judge := dataflow.NewJudge(set)
//	for votes := range par.Map(workers, trajectories, judge.Check) {
//		judge.Add(votes)
//	}
//	judgments := judge.Judgments()
//
// What was known when is the same reading of a trajectory: Flow.KnownBefore says it
// of arguments, a Reading of arguments and other values without collecting a
// Flow. A Collector may be shared between them.
//
// # Method
//
// Values are equal as JSON values, numbers by value; "7" for 7 is a coercion.
// Results that are JSON text, and JSON text inside them, are looked through.
// Objects that map data to values (ids to records, say) count as lists. In texts,
// values are found as sequences of whole words. Calls of one turn are never
// each other's sources. An argument that is text may have other values inside
// (a Template).
//
// Equality alone proves nothing where values are few, so a link has to beat
// chance; see Links.Set. What AutoTool (arXiv 2511.14650, Table 2) counts, every
// earlier call of another tool with an equal argument, is there too, without
// that guard: see Set.AutoTool.
//
// # Memory and time
//
// Collect needs memory in proportion to one trajectory and time in proportion
// to its size: what is looked for is indexed by hash, and all texts are read
// once. Links keeps hashes and counts, not values, but for constants that may
// choose an element of a list and the fixed text of templates; it is O(links)
// plus at most two million counts (about 80 MB), beyond which counts become
// upper bounds, to the disadvantage of links. Judge keeps its rules and at most
// 256 counts for each.
//
// The package reads no files, prints nothing, and knows neither rules nor
// graphs. It does not decide whether a call may be automated.
package dataflow
