package emit

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// openUnnamed opens a file in a folder that has no name, nil if the file system has no such
// files, or nothing could name it later.
func openUnnamed(root *os.Root, folder string) *os.File {
	f, err := root.OpenFile(folder, os.O_WRONLY|unix.O_TMPFILE, 0o600)
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(descriptor(f)); err != nil {
		_ = f.Close()
		return nil
	}
	return f
}

func descriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// linkUnnamed gives a file without a name one.
func linkUnnamed(f *os.File, root *os.Root, name string) error {
	folder, err := root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer folder.Close()
	return unix.Linkat(unix.AT_FDCWD, descriptor(f), int(folder.Fd()), path.Base(name), unix.AT_SYMLINK_FOLLOW)
}

// umask is the bits that files of the process do not get.
var umask = sync.OnceValue(func() fs.FileMode {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return fs.FileMode(mask)
})
