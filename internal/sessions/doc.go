// Package sessions finds the sessions that coding agents keep on a machine: where each
// agent writes them on Linux, macOS and Windows, and which variables move them.
//
// In comes a Machine: its system, the user's home folder and the environment; out come
// the session files of each agent, in the order of their names, and what was left out.
// Folders are listed, and no file is opened. Links are not followed, files of other users
// are left out, and a place holds at most MaxFiles files, at most MaxDepth folders deep.
// Kept in memory are the names of the files.
//
// The package does not read traces: package trace/formats knows what is in the files.
package sessions
