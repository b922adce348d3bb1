package gateway

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// streams is an agent that reads and writes lines. The first request says whether it
// speaks the protocol without sessions.
type streams struct {
	*lines
	in        chan jsonrpc.Message
	failed    error         // why nothing more comes; read once in is closed
	gone      chan struct{} // closed by Close
	s         *session
	stateless *stateless // nil if there are sessions; set by the first Read
	read      bool
	work      sync.WaitGroup
	end       context.CancelFunc
}

// Streams returns an agent at the other end of two streams, such as standard input and
// output, one message a line of at most limit bytes; 0 is DefaultMaxMessage.
func Streams(in io.ReadCloser, out io.WriteCloser, limit int) Agent {
	a := &streams{lines: newLines("the agent", in, out, cmp.Or(limit, DefaultMaxMessage)), in: make(chan jsonrpc.Message), gone: make(chan struct{}), end: func() {}}
	a.lines.long = func(id jsonrpc.ID, err error) {
		if id.IsValid() {
			_ = a.lines.Write(context.Background(), &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}}) // who does not read is gone
		}
	}
	a.lines.end = func() error {
		close(a.gone)
		return errors.Join(in.Close(), out.Close())
	}
	go a.pump() // it may wait for a line for ever
	return a
}

// pump reads until the stream ends, because nothing else ends a Read of a stream.
func (a *streams) pump() {
	defer close(a.in)
	for {
		m, err := a.lines.Read(context.Background())
		if err != nil {
			a.failed = err
			return
		}
		select {
		case a.in <- m:
		case <-a.gone:
			a.failed = io.EOF
			return
		}
	}
}

// next returns the next message of the stream.
func (a *streams) next(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-a.in:
		if !ok {
			return nil, a.failed
		}
		return m, nil
	case <-a.gone:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// of implements serves.
func (a *streams) of(s *session) { a.s = s }

// era implements serves.
func (a *streams) era() string {
	if a.stateless != nil {
		return statelessVersion
	}
	return ""
}

// Read implements Agent.
func (a *streams) Read(ctx context.Context) (jsonrpc.Message, error) {
	if a.stateless != nil {
		return a.stateless.Read(ctx)
	}
	m, err := a.next(ctx)
	request, _ := m.(*jsonrpc.Request)
	if first := !a.read; err != nil || !first || request == nil || !isStateless(request.Params) {
		a.read = true
		return m, err
	}
	a.stateless = newStateless(a.s.g, "", false)
	ctx, a.end = context.WithCancel(ctx)
	a.work.Go(func() { a.receive(ctx, request) })
	return a.stateless.Read(ctx)
}

// receive takes the messages of an agent without sessions until it is gone.
func (a *streams) receive(ctx context.Context, request *jsonrpc.Request) {
	defer a.stateless.Close()
	one := newClient(a.stateless, func(m jsonrpc.Message) {
		if err := a.Write(ctx, m); err != nil && ctx.Err() == nil {
			a.s.g.log.Warn("message not delivered to the agent", "reason", err)
		}
	})
	for {
		if request != nil { // else it is an answer: nobody asked
			one.take(request)
		}
		m, err := a.next(ctx)
		if err != nil {
			return
		}
		request, _ = m.(*jsonrpc.Request)
	}
}

// Send implements Agent.
func (a *streams) Send(message jsonrpc.Message, related jsonrpc.ID) error {
	if a.stateless != nil {
		return a.stateless.Send(message, related)
	}
	return a.Write(context.Background(), message)
}

// Close implements Agent.
func (a *streams) Close() error {
	if a.stateless != nil {
		_ = a.stateless.Close() // always nil
	}
	a.end()
	err := a.lines.Close()
	a.work.Wait()
	return err
}
