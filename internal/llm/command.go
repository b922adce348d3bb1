package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Command is a model behind a command: the prompt is its standard input, its standard
// output the answer.
type Command struct {
	Shell   []string      // such as sh, -c; the command is its last argument
	Line    string        // the command
	Timeout time.Duration // of one answer; 0 means DefaultTimeout
}

// Ask runs the command once. Messages are separated by a line with the role of each.
func (c *Command) Ask(ctx context.Context, messages []Message) (Answer, error) {
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var prompt strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&prompt, "--- %s ---\n%s\n", m.Role, strings.TrimRight(m.Content, "\n"))
	}
	argv := append(append([]string(nil), c.Shell...), c.Line)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(prompt.String())
	out, problems := &bounded{left: maxAnswer}, &bounded{left: 4 << 10, cut: true}
	cmd.Stdout, cmd.Stderr = out, problems
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case out.full:
		return Answer{}, errTooLong
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Answer{}, fmt.Errorf("the command gave no answer in %s", timeout)
	case err != nil && problems.text.Len() > 0:
		return Answer{}, fmt.Errorf("the command fails: %w: %s", err, shorten(problems.text.String()))
	case err != nil:
		return Answer{}, fmt.Errorf("the command fails: %w", err)
	}
	return counted(Answer{Text: out.text.String()}, messages), nil
}

// bounded is a buffer that takes so much and no more.
type bounded struct {
	text bytes.Buffer // not embedded: its ReadFrom would pass Write by
	left int
	cut  bool // take what fits and drop the rest, instead of failing
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	b.text.Write(p[:n])
	if n < len(p) && !b.cut {
		b.full = true
		return n, errTooLong
	}
	return len(p), nil
}
