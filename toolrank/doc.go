// Package toolrank says which tools a task needs, learned from tasks and the tools
// that were used for them.
package toolrank
