// Package cost says what trajectories cost in tokens and money, and what they
// would cost with other turns or with tools that are registered when they are
// needed.
//
// In come trajectories and a price Table. A Meter makes an Account of each: the
// tokens of every turn, as recorded, or counted with the o200k vocabulary where
// the trace records none. A Fit scales what was counted by turns that have both.
// Account.Total is what a trajectory cost, Account.Without what it would have
// cost with some turns removed, and Lazy what it would have cost with lazy
// registration (EcoAct). A Ledger adds accounts up by model, agent, tool, outcome,
// day and habit.
//
// Money is in US dollars: input that no cache holds, input read from a cache,
// input written to one and output each have a price (the cost function of EcoAct,
// equations 2 and 3, with cached input apart). An Account takes 48 bytes a turn
// and keeps no text; a Meter remembers the counts of at most 32 MiB of texts; a
// Ledger keeps every account and 8 bytes a call, O(calls).
//
// The package does not say whether an agent would still have done its task: all
// it gives is arithmetic on what was recorded, an upper bound of what can be
// saved. It predicts nothing and chooses nothing.
package cost
