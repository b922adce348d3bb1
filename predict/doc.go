// Package predict predicts an agent's next call from the calls before it, fills
// in its arguments, and measures what that is worth on recorded trajectories.
//
// Trajectories come in. Observe reads what one of them teaches, a pure function
// of it; a [Graph] adds observations up, and graphs add up to graphs, so that
// shards and days combine. [Graph.Model] turns counts into a [Model], immutable
// and safe to share, which ranks what comes next at a turn of the language model:
// a call of one of the tools, or none, where the turn answers or ends. A
// [Predictor] adds arguments and decides whether the call is worth making without
// asking the language model; [Gate] bounds how often that may happen. [Replay]
// does all of this over recorded trajectories, and says how often it would have
// been right.
//
// The graph is that of AutoTool (arXiv 2511.14650, sections 4.3 and 4.4) with
// other counts: successes and failures apart, turns that answer, and what an
// argument rule was worth whenever it could be applied. [Model.Candidates] scores
// as that paper does.
//
// In memory are counts, O(contexts and links), never trajectories and no argument
// values. Replay is O(turns).
//
// The package makes no calls and reads no files. It does not know which tools only
// read: who does hands in an [Effects]. What replay finds is an upper bound of what
// a live agent saves, because a wrong call changes what comes after it.
package predict
