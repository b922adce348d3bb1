// Package findings says what is wrong with an agent as its traces show it: tools that
// fail, calls made again after a failure or with nothing changed, calls that need not
// wait for each other, and turns without a call.
//
// In come trajectories whose calls have their statuses, one after the other, with their
// accounts where tokens and money are wanted; out comes a list of findings, those that
// cost most first, each with how often, in how many trajectories, what it cost and what
// to do. Kept in memory are sums by tool, for at most MaxTools tools. Nothing of an
// argument or a result is kept but codes of HTTP, and nothing is read from a text that a
// built-in pattern of package trace does not read.
//
// It does not say why an agent does so, and it decides on nothing: what is saved by
// mending a finding is an upper bound.
package findings
