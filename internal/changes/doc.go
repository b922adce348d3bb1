// Package changes says what differs between two sets of artefacts that `awo
// extract` wrote, and what of it breaks those who call the meta-tools.
//
// In come the bytes of metatools.json and, where they are there, candidates.json and
// prefetch.json of both sets; out go Changes with stable codes. Whoever wrote the files is not
// trusted: nothing in them is followed or run, and no constant, template or text
// in a filter gets into a Change. The package keeps both sets in memory, O(size
// of the files). It reads no folder, compares no bytes, and knows nothing of
// traces: what changed in the world shows only in what awo found there.
package changes
