//go:build unix

package gateway

import (
	"os/exec"
	"syscall"
)

// ownGroup lets a process begin a group, so that what it starts can be ended with it. Where
// the system can, the process ends with the gateway however that ends.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(c.SysProcAttr)
}

// begun does nothing: ownGroup said it all.
func begun(*exec.Cmd) {}

func interrupt(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }

func kill(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
