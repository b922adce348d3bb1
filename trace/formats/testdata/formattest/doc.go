// Package formattest is what the tests of trace formats share: reading files and
// texts with all formats, writing down what a trajectory holds, checks that are
// true of every trajectory, and fuzzing. It is imported by tests only.
//
// A format or a file comes in; trajectories go out, or the test ends. The package
// keeps nothing.
package formattest
