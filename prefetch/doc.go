// Package prefetch reads ahead: when a tool has answered or the user has spoken, it says
// which reads usually follow, so that they can be made at once and their results handed to
// the agent with the answer or the message.
//
// In come rules (where values stand, in the results of a tool or by their shape in a
// message, and the arguments of a read that take them) and what the user said and an agent
// did, one after the other; out come the reads to make, and
// which of the agent's calls such a read has answered already. A [Session] is what one
// agent's run needs to know: which calls were made, what was read ahead and which values
// wait for trust, in memory that is bounded by the rules, [MaxKnown] and [MaxSaidSession].
//
// Nothing but reads is ever asked for: a rule whose tools are not among [Set.Reads]
// does not pass [Set.Check], and a session makes none of its calls. What was read ahead
// counts for nothing once a tool was called that is not known to only read.
//
// The package makes no calls and starts no goroutines, and it knows nothing of how rules
// are found: package prefetch/learn does that.
package prefetch
