//go:build !linux

package emit

import (
	"io/fs"
	"os"
)

// openUnnamed returns nil: this system has no files without a name.
func openUnnamed(*os.Root, string) *os.File { return nil }

func linkUnnamed(*os.File, *os.Root, string) error { panic("emit: no file is without a name") }

// umask is what most systems have: files are for others to read, not to write.
func umask() fs.FileMode { return 0o022 }
