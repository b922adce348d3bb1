package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// scratchError is a failure with a temporary file. It is nobody's input that is
// wrong, so it ends reading.
type scratchError struct{ err error }

func (e *scratchError) Error() string { return fmt.Sprintf("temporary file: %v", e.err) }
func (e *scratchError) Unwrap() error { return e.err }

// scratchFile returns a new temporary file in folder, "" for the system's. It
// has no name any more where the system allows that, so nothing is left behind
// even if the program is killed.
func scratchFile(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, "awo-*")
	if err != nil {
		return nil, &scratchError{err}
	}
	_ = os.Remove(f.Name())
	return f, nil
}

// discard closes a temporary file and removes it if it still has a name.
func discard(f *os.File) error {
	err := f.Close()
	if e := os.Remove(f.Name()); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	if err != nil {
		return &scratchError{err}
	}
	return nil
}
