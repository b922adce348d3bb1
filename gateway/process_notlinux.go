//go:build unix && !linux

package gateway

import "syscall"

// endWithParent does nothing: a server ends when its standard input does.
func endWithParent(*syscall.SysProcAttr) {}
