package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Bounds of what a server may send.
const (
	maxMessage = 16 << 20 // bytes of a message
	maxBad     = 3        // unreadable messages in a row, before the connection is given up
)

// Periods in which a process is to end by itself.
const (
	endAfterInput  = 2 * time.Second // once its input is closed
	endAfterSignal = 2 * time.Second // once it was asked to end
)

// errUnreadable ends a connection whose messages cannot be read.
var errUnreadable = errors.New("three messages in a row could not be read")

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
	in      *bufio.Reader
	out     io.WriteCloser
	who     string // is at the other end
	mu      sync.Mutex
	queue   []jsonrpc.Message // that came with one that was read
	bad     int               // in a row
	dropped func()            // called for a line that is dropped
	end     func() error      // called once
	once    sync.Once
	err     error
}

// start starts a server's process. Its standard error goes to log.
func start(s *Server, log io.Writer, dropped func()) (*lines, error) {
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
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // how a server ended is seen at its connection
		close(ended)
	}()
	l := newLines("the server", reader, stdin)
	l.dropped = dropped
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

func newLines(who string, in io.Reader, out io.WriteCloser) *lines {
	return &lines{who: who, in: bufio.NewReaderSize(in, 64<<10), out: out, dropped: func() {}, end: out.Close}
}

// Read returns the next message.
func (l *lines) Read(context.Context) (jsonrpc.Message, error) {
	for {
		if len(l.queue) > 0 {
			m := l.queue[0]
			l.queue = l.queue[1:]
			return m, nil
		}
		line, whole, err := l.line()
		if err != nil {
			return nil, err
		}
		if whole && len(line) == 0 {
			continue
		}
		if whole {
			if l.queue, err = batch(line); err == nil {
				l.bad = 0
				continue
			}
			l.queue = nil
		}
		l.dropped()
		if l.bad++; l.bad >= maxBad {
			return nil, errUnreadable
		}
	}
}

// line returns the next line, or whole false for one that was too long.
func (l *lines) line() (line []byte, whole bool, err error) {
	whole = true
	for {
		piece, err := l.in.ReadSlice('\n')
		if whole = whole && len(line)+len(piece) <= maxMessage; whole {
			line = append(line, piece...)
		} else {
			line = nil
		}
		switch {
		case err == nil:
			for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
				line = line[:len(line)-1]
			}
			return line, whole, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err // a line that was not ended is no message
		}
	}
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
