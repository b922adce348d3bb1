package serve

import (
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// streams is an agent that reads and writes lines.
type streams struct{ mcp.Connection }

// Streams returns an agent at the other end of two streams, such as standard input and
// output, one message a line.
func Streams(in io.ReadCloser, out io.WriteCloser) (Agent, error) {
	c, err := (&mcp.IOTransport{Reader: in, Writer: out}).Connect(context.Background())
	if err != nil {
		return nil, err
	}
	return streams{c}, nil
}

// Send implements Agent.
func (a streams) Send(message jsonrpc.Message, _ jsonrpc.ID) error {
	return a.Write(context.Background(), message)
}
