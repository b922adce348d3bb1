// Package learn finds out which reads may be made ahead of an agent, and how often they
// are used.
//
// In come trajectories, looked at several times: links between results and arguments
// (package dataflow), where the other arguments of the calls come from, which arguments
// stood in messages of the user and what they look like, after whose success such reads are
// made, and then what was offered by each rule and used. Out comes a [Survey]; [Survey.Choose] makes of it the rules that
// are worth following, each with its evidence. It keeps the links and a few bytes for each
// value that an answer offered, [maxOffers] of them at most.
//
// P(use) is uses by offered values. A value is offered where an answer or a message holds
// it that the target was not called with before; it is used if a call that the rule gives exactly is
// made later, in another turn, does not fail, and no tool that is not known to only read
// is called between. Its interval is over tasks: values of one answer are not independent.
//
// The package does not say which tools read, what a read costs, or what an agent would do
// differently: a back-test replays the rules.
package learn
