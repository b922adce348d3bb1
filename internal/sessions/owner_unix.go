//go:build unix

package sessions

import (
	"io/fs"
	"os"
	"syscall"
)

// Owned reports whether the user who runs the program owns a file.
func Owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Getuid()
}
