// Package toolrank says which tools of many a task needs, learned from tasks and the
// tools that were used for them.
//
// A catalogue and tasks come in; a Study, which tests on tasks left out, and a Ranker
// go out, which orders all tools for the text of a task in well under a millisecond.
// The features are words (BM25 over definitions, bare and grown by the words of tasks
// that used a tool), use (by similar tasks, by all), and the graph: what comes before
// and after likely tools in calls, and what their arguments require. A logistic
// regression weighs them.
//
// Tasks, and features of a bounded sample of pairs, are kept in memory. Words of tasks
// that are neither in the catalogue nor in five groups of tasks are forgotten before
// anything is learned. The package makes no call, and does not decide what an agent is
// offered.
package toolrank
