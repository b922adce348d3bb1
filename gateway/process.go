package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// DefaultMaxMessage is how long a message may be, in bytes, unless Options say otherwise.
const DefaultMaxMessage = 16 << 20

// maxUnknown is how many answers in a row that nobody asked for end a connection.
const maxUnknown = 3

// edge is how much of both ends of a message over the bound is looked at for its id.
const edge = 4 << 10

// Periods in which a process is to end by itself.
const (
	endAfterInput  = 2 * time.Second // once its input is closed
	endAfterSignal = 2 * time.Second // once it was asked to end
)

// errUnasked ends a connection.
var errUnasked = errors.New("three messages in a row answered nothing that was asked")

// tooLongError is why a message over the bound is no answer.
type tooLongError struct{ limit int }

func (e *tooLongError) Error() string {
	return fmt.Sprintf("the message is larger than %d bytes (--max-message)", e.limit)
}

// conn is a connection to a server.
type conn interface {
	// Read returns the next message, or an error once the connection has ended. Over HTTP
	// there is only the end to wait for.
	Read(ctx context.Context) (jsonrpc.Message, error)
	Close() error
}

// lines is a connection that sends one JSON-RPC message a line. Other than the
// connections of the SDK it survives lines that are no message: servers print.
type lines struct {
	in    *bufio.Reader
	out   io.WriteCloser
	who   string // is at the other end
	mu    sync.Mutex
	queue []jsonrpc.Message // that came with one that was read
	limit int               // bytes of a message
	noise func()            // called for a line that is no message, which is skipped

	// long is called for a message over the limit, which is not read, with its id if that
	// stands near its beginning or end.
	long func(id jsonrpc.ID, err error)

	end  func() error // called once
	once sync.Once
	err  error
}

// start starts a server's process. Its standard error goes to log.
func start(s *Server, log io.Writer, limit int) (*lines, error) {
	c := exec.Command(s.Command, s.Args...)
	c.Dir, c.Env, c.Stderr = s.Dir, s.environment(os.Environ()), log
	c.WaitDelay = time.Second // somebody else may hold its standard error
	ownGroup(c)
	stdin, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	// A pipe of our own can be closed while something that outlives the process
	// holds its other end.
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	c.Stdout = writer
	err = c.Start()
	err = errors.Join(err, writer.Close())
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	begun(c)
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // how a server ended is seen at its connection
		close(ended)
	}()
	l := newLines("the server", reader, stdin, limit)
	l.end = func() error {
		_ = stdin.Close()
		waited := func(d time.Duration) bool {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-ended:
				return true
			case <-timer.C:
				return false
			}
		}
		if !waited(endAfterInput) {
			interrupt(c)
			waited(endAfterSignal)
		}
		kill(c) // and what it has started
		<-ended
		return reader.Close()
	}
	return l, nil
}

func newLines(who string, in io.Reader, out io.WriteCloser, limit int) *lines {
	return &lines{who: who, in: bufio.NewReaderSize(in, 64<<10), out: out, limit: limit, noise: func() {}, long: func(jsonrpc.ID, error) {}, end: out.Close}
}

// Read returns the next message.
func (l *lines) Read(context.Context) (jsonrpc.Message, error) {
	for {
		if len(l.queue) > 0 {
			m := l.queue[0]
			l.queue = l.queue[1:]
			return m, nil
		}
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			continue
		}
		if l.queue, err = batch(line); err != nil {
			l.queue = nil
			l.noise()
		}
	}
}

// line returns the next line, without one that is too long.
func (l *lines) line() (line []byte, err error) {
	over := false
	for {
		piece, err := l.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err // a line that was not ended is no message
		}
		if line = append(line, piece...); over || len(line) > l.limit {
			if over = true; len(line) > 2*edge { // its ends are kept
				line = append(line[:edge], line[len(line)-edge:]...)
			}
		}
		if err != nil {
			continue
		}
		line = bytes.TrimRight(line, "\r\n")
		if !over {
			return line, nil
		}
		l.long(idAtAnEdge(line), &tooLongError{l.limit})
		line, over = nil, false
	}
}

// lastID matches the id of a message that ends with it.
var lastID = regexp.MustCompile(`,\s*"id"\s*:\s*(-?[0-9]+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// idAtAnEdge returns the id of a response of which the middle is missing.
func idAtAnEdge(line []byte) jsonrpc.ID {
	c := jsonscan.New(line)
	for in := c.Object(); in && c.Member(); {
		if key := string(c.Key()); key == "result" || key == "error" || key == "params" {
			break
		} else if raw := c.Raw(); key == "id" && raw != nil {
			id, _ := readID(raw)
			return id
		}
	}
	if m := lastID.FindSubmatch(line); m != nil {
		id, _ := readID(m[1])
		return id
	}
	return jsonrpc.ID{}
}

// Write sends a message.
func (l *lines) Write(_ context.Context, message jsonrpc.Message) error {
	data := append(encode(message), '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.out.Write(data); err != nil {
		return fmt.Errorf("%s does not read: %w", l.who, err)
	}
	return nil
}

// Close ends the connection, and the process behind it.
func (l *lines) Close() error {
	l.once.Do(func() { l.err = l.end() })
	return l.err
}
