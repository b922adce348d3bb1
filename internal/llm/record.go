package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// exchange is one question with its answer, as it is recorded.
type exchange struct {
	Messages []Message `json:"messages"`
	Answer   Answer    `json:"answer"`
}

// exchangeFile is the name of the n-th exchange, from 1.
func exchangeFile(n int) string { return fmt.Sprintf("exchange-%03d.json", n) }

// Recorder writes every exchange with a model into a folder.
type Recorder struct {
	Model Model
	Dir   string

	n int
}

// NewRecorder returns a recorder. The folder is made if it is not there, and must
// hold no exchanges yet.
func NewRecorder(m Model, dir string) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(dir, exchangeFile(1))); err == nil {
		return nil, fmt.Errorf("%s holds a recording already", dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &Recorder{Model: m, Dir: dir}, nil
}

// Ask asks the model and writes what it said. An exchange that failed is not written.
func (r *Recorder) Ask(ctx context.Context, messages []Message) (Answer, error) {
	answer, err := r.Model.Ask(ctx, messages)
	if err != nil {
		return answer, err
	}
	r.n++
	data, err := json.MarshalIndent(exchange{messages, answer}, "", "  ")
	if err != nil {
		return answer, err
	}
	return answer, os.WriteFile(filepath.Join(r.Dir, exchangeFile(r.n)), append(data, '\n'), 0o600)
}

// Replayer answers from a recording.
type Replayer struct {
	Dir string

	n int
}

// ErrOtherQuestion is the error of a question that the recording does not have.
var ErrOtherQuestion = errors.New("the recording answers another question: the traces, the rules or the options are not those that were recorded")

// Ask returns what was recorded as the next answer, if the question is the same.
func (r *Replayer) Ask(_ context.Context, messages []Message) (Answer, error) {
	r.n++
	name := filepath.Join(r.Dir, exchangeFile(r.n))
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Answer{}, fmt.Errorf("%s: the recording has no exchange %d", r.Dir, r.n)
	} else if err != nil {
		return Answer{}, err
	}
	defer f.Close()
	var x exchange
	if err := json.NewDecoder(f).Decode(&x); err != nil {
		return Answer{}, fmt.Errorf("%s is no recorded exchange", name)
	}
	if !slices.Equal(x.Messages, messages) {
		return Answer{}, fmt.Errorf("%s: %w", name, ErrOtherQuestion)
	}
	return x.Answer, nil
}
