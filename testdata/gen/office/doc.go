// Package office makes agent runs in the toy office of package world: tasks in
// sixteen families, agents with habits that work on them, what a model and its
// provider would have recorded (turns, calls, results, token usage, times), and
// beside every argument the place where its value came from.
//
// In go Options, out comes a stream of Runs. A run is a pure function of the
// options and its number, so runs can be made in any order and in parallel; the
// stream is in order and holds a few runs in memory, whatever its length. The
// package writes no trace format (see encode) and judges nothing (see truth).
//
// No model is called. The names of models are borrowed so that price tables
// apply; nothing here says how those models behave.
package office
