// Package compiled is what a gateway has of the artefacts that awo extract wrote: it runs
// meta-tools against the servers, and reads ahead of the agent.
//
// In come a folder of artefacts and, from package gateway, the tools that servers have and
// the calls of agents; out go definitions of meta-tools, their answers, and blocks that
// are attached to answers. A Layer is shared by all sessions: it counts what failed and
// what was used, and withdraws what does not hold. A session's part keeps which reads are
// in flight, and which were not attached, to see whether the agent makes them; no results.
//
// The package opens no connection and records nothing: package gateway does. It reaches
// nothing that finds meta-tools or rules in traces.
package compiled
