// Package stored writes rules for reading ahead as a file, prefetch.json, and reads them
// again.
//
// In come rules and what speaks for them, out goes JSON with the same bytes for the same
// rules, and back; or every problem of such a file, with its place. The file may be
// anybody's: what it says is held to bounds, a member that nobody knows is refused, and
// so is a rule whose tools the file does not say to read. It holds no values of arguments
// or results but the constants of rules. Memory is O(size of the file).
//
// It does not learn rules (package prefetch/learn does) and does not follow them (package
// prefetch does), and it cannot know whether a tool that the file says to read does so.
package stored
