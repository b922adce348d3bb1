//go:build unix

package cmd

import (
	"runtime"
	"syscall"
	"time"
)

// resources returns the processor time of the process, and the largest memory
// it had in bytes.
func resources() (processor time.Duration, rss int64, ok bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0, false
	}
	rss = int64(u.Maxrss) * 1024
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		rss = int64(u.Maxrss) // in bytes there
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), rss, true
}
