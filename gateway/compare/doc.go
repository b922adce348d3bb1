// Package compare says what compiled tools changed: it compares the arms of an experiment
// that `awo serve --control` made.
//
// Recordings of sessions come in, in any order; out goes what an agent's session costs with
// what was compiled and without, whether that is used or not, and of every meta-tool and
// rule of reads ahead whether it should stay. Units are drawn for an arm as a whole, so
// they and not sessions or calls are what intervals rest on.
//
// It keeps a few figures a session, and the calls of none. It knows neither the gateway nor
// how meta-tools are found: where a meta-tool could have been called comes as a function.
package compare
