// Package gateway stands between an agent and its servers of the Model Context Protocol:
// a server to the agent, a client to each of them.
//
// In come a configuration and a connection of an agent; messages go out to the servers
// and back. Arguments, results and definitions are never decoded into values: they pass
// as they were written, but for white space between tokens, the names of tools that
// collide, and the ids of requests, which each connection counts for itself. Lists of
// all servers become one list. What passes between the agent and the relay can be
// recorded, with credentials as keyed hashes, in the format that package
// trace/formats/mcp reads.
//
// Every session of an agent has connections of its own to all servers. Agents of the
// protocol without sessions share one over HTTP. The package keeps
// the lists of each session and its requests in flight in memory. It starts the
// servers' processes and ends them; it reads no settings and prints nothing but through
// the logger that it is given, which never gets a value of a message.
package gateway
