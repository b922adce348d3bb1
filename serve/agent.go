package serve

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// streams is an agent that reads and writes lines. The first request says whether it
// speaks the protocol without sessions.
type streams struct {
	mcp.Connection
	s         *session
	stateless *stateless // nil if there are sessions; set by the first Read
	read      bool
	work      sync.WaitGroup
	end       context.CancelFunc
}

// Streams returns an agent at the other end of two streams, such as standard input and
// output, one message a line.
func Streams(in io.ReadCloser, out io.WriteCloser) (Agent, error) {
	c, err := (&mcp.IOTransport{Reader: in, Writer: out}).Connect(context.Background())
	if err != nil {
		return nil, err
	}
	return &streams{Connection: c, end: func() {}}, nil
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
	m, err := a.Connection.Read(ctx)
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
	var mu sync.Mutex
	cancels := map[jsonrpc.ID]func(){}
	for {
		switch {
		case request == nil: // an answer: nobody asked
		case request.IsCall():
			id := request.ID
			mu.Lock()
			_, twice := cancels[id]
			if !twice {
				cancels[id] = func() {}
			}
			mu.Unlock()
			if twice {
				_ = a.Write(ctx, &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request with this id is in flight"}})
				break
			}
			cancel := a.stateless.receive(request, func(m jsonrpc.Message, last bool) {
				if last {
					mu.Lock()
					delete(cancels, id)
					mu.Unlock()
				}
				if err := a.Write(ctx, m); err != nil && ctx.Err() == nil {
					a.s.g.log.Warn("message not delivered to the agent", "reason", err)
				}
			})
			mu.Lock()
			if cancels[id] != nil {
				cancels[id] = cancel
			}
			mu.Unlock()
		case request.Method == "notifications/cancelled":
			id, _ := idOf(member(request.Params, "requestId"))
			mu.Lock()
			cancel := cancels[id]
			delete(cancels, id)
			mu.Unlock()
			if cancel != nil {
				cancel()
			}
		}
		m, err := a.Connection.Read(ctx)
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
	err := a.Connection.Close()
	a.work.Wait()
	return err
}
