//go:build unix && !linux

package serve

import "syscall"

// endWithParent does nothing: a server ends when its standard input does.
func endWithParent(*syscall.SysProcAttr) {}
