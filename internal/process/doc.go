// Package process draws what agents do as a process map, the picture that process
// mining starts from: which tool was called after which, how often, how long it took
// and how often it failed (the directly-follows graph; van der Aalst, "Process
// Mining: Data Science in Action", 2016, chapter 5), and keeps a sample of
// trajectories as timelines (Sample).
//
// In come trajectories, one after the other; out come a Map and Timelines that do not
// depend on the order in which they came. Only calls that the model decided on are
// nodes: what a program or a gateway called in between would be counted as a habit of
// the agent.
//
// A Builder takes O(tools + pairs of tools), both bounded, a Sample O(sample). No argument, result or text is kept. The package tests nothing and
// recommends nothing.
package process
