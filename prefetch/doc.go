// Package prefetch reads ahead: when a tool has answered, it says which reads usually
// follow from that answer, so that they can be made at once and their results handed to
// the agent with it.
//
// In come rules (a place in the results of one tool, and the argument of another that
// takes its values) and, call by call, what an agent did; out come the reads to make, and
// which of the agent's calls such a read has answered already. A [Session] is what one
// agent's run needs to know: which calls were made and what was read ahead, in memory
// that is bounded by the rules and [MaxKnown].
//
// Nothing but reads is ever asked for: a rule whose tools are not both among [Set.Reads]
// does not pass [Set.Check], and a session makes none of its calls. What was read ahead
// counts for nothing once a tool was called that is not known to only read.
//
// The package makes no calls and starts no goroutines, and it knows nothing of how rules
// are found: package prefetch/learn does that.
package prefetch
