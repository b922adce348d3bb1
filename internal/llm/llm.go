// Package llm asks a language model one question after the other: over HTTP, by an
// interface that many servers have (OpenAI's chat completions), or by a command that
// reads a prompt and writes an answer.
//
// In come messages, out goes a text with the tokens that it took. Answers come from
// outside and are bounded in size and time. A [Recorder] keeps every exchange in a
// folder, a [Replayer] answers from one, so that what was done with a model can be done
// again without it. Keys are sent and never written. Nothing is kept in memory but one
// exchange. The package does not know what is asked.
package llm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Message is one text of a conversation.
type Message struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
}

// Answer is what a model said.
type Answer struct {
	Text         string `json:"text"`
	InputTokens  int64  `json:"input_tokens"` // 0 if the model does not say
	OutputTokens int64  `json:"output_tokens"`
}

// Model answers a conversation.
type Model interface {
	Ask(ctx context.Context, messages []Message) (Answer, error)
}

// maxAnswer is how many bytes of an answer are read.
const maxAnswer = 1 << 20

// DefaultTimeout is how long one answer may take.
const DefaultTimeout = 5 * time.Minute

// errTooLong is the error of an answer beyond maxAnswer.
var errTooLong = errors.New("the answer has more than 1 MiB")

// Tokens guesses how many tokens a text has, for models that do not say: one for four
// bytes.
func Tokens(text string) int64 { return int64(len(text)+3) / 4 }

// counted fills in token counts that the model left out.
func counted(a Answer, messages []Message) Answer {
	if a.InputTokens <= 0 {
		for _, m := range messages {
			a.InputTokens += Tokens(m.Content)
		}
	}
	if a.OutputTokens <= 0 {
		a.OutputTokens = Tokens(a.Text)
	}
	return a
}

// statusError is an answer of a server that is none.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("the server answered with status %d", e.status)
	}
	return fmt.Sprintf("the server answered with status %d: %s", e.status, e.text)
}
