// Package replay runs meta-tools where agents made their calls one by one, and
// compares what they call with what was called.
//
// Meta-tools and trajectories come in. A [Finder] says where a meta-tool could
// have stood in for calls, and which turns there would be without; a [Verifier]
// counts how often it makes the recorded calls. Both replay with [Recordings], a
// Caller that answers from a trajectory.
//
// Memory is that of one trajectory. A Verifier keeps counts and the first
// disagreements, O(meta-tools). Nothing that it keeps holds a value of an argument
// or result.
package replay
