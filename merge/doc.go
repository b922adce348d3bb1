// Package merge applies rules to trajectories and folds what is left into a
// graph of states (AWO, sections 3.2 and 3.3 and appendices A.1 and B.2).
//
// Trajectories and a set of rules come in. A [Rewriter] turns each trajectory
// into [Step]s: calls as the rules see them, with a label, an effect, a domain.
// A [Walker] turns steps into transitions between states: two histories of
// calls are one state when the rules say that nothing tells them apart. A
// [Merger] runs both over a stream and gives the graph, the walks of all
// trajectories in compact form, the labels, and the figures of every
// cumulative strategy. On demand it also says which rules are about which calls:
// [Usage] counts them, and [Merged.Explain] shows one call. A [View] says where each
// history stands; on it rest package evidence, which holds the rules against what
// the calls returned, and package suggest, which proposes rules.
//
// # Stages
//
// A call passes through them in this order: drop, rename, status, the policy for
// failed calls, fold, insert; then drop_arg and rewrite; then effect, domain,
// loop, commute, barrier, plumbing and state. Every stage sees the names that
// earlier ones left, and the arguments as recorded (of folded calls: as folded).
// Rewrites chain in file order; of rename, fold, effect, domain, loop and plumbing
// rules that match a call the last one wins; drop, insert, drop_arg, commute,
// barrier and state rules add up. File order matters nowhere else.
//
// # States
//
// The key of a state is the set of the reads seen and the writes up to
// commutation; notes (annotators) leave no trace in it. Two writes commute when
// they are of different domains, or when a commute rule says so; a write without
// a domain depends on all others. So the writes of a history are a trace in the
// sense of Mazurkiewicz, and its dependence graph, not their order, is the key:
// see [Walker].
//
// # Memory
//
// O(graph) for states, edges and labels, O(calls) for the walks (13 bytes a
// call, and none if they are not asked for), and bounded caches. Of the
// trajectories nothing is kept but labels: tool names and rewritten arguments.
// These hold values that may be secret; [Masker] writes them for people.
//
// # What it does not do
//
// It parses no rules (package rules), keeps no graph (package stategraph),
// extracts no meta-tools (package metatool), and runs no tool: what the traces
// do not show it does not know.
package merge
