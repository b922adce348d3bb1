package sealed

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace writes a file in the place of another, whole or not at all and for the user alone.
// Its folder must be there.
func Replace(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
