// Package execute runs meta-tools.
//
// A meta-tool and the values of its inputs come in, and a [Caller] that makes
// the single calls; out comes an [Outcome]: what the steps returned, or at which
// step it ended and what that leaves behind. A meta-tool that did not make all
// of its calls never counts as done.
//
// Memory is that of one run: the results of its steps. The package speaks no
// protocol: a Caller for real tools belongs to whoever has them. It imports
// nothing that finds meta-tools in traces, so that what runs them can be small;
// execute/replay, which runs them over recordings, does.
package execute
