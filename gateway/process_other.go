//go:build !unix && !windows

package gateway

import "os/exec"

// ownGroup does nothing: there are no groups of processes that a signal reaches.
func ownGroup(*exec.Cmd) {}

// interrupt does nothing: a process cannot be asked to end.
func interrupt(*exec.Cmd) {}

func kill(c *exec.Cmd) { _ = c.Process.Kill() }

// begun does nothing.
func begun(*exec.Cmd) {}
