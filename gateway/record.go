package gateway

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// ownKey holds the key of a folder of recordings, so that equal credentials have equal
// hashes in all of them.
const ownKey = ".key"

// Redact says what of a recording becomes a keyed hash.
type Redact string

// The choices.
const (
	RedactNothing Redact = "none"
	RedactSecrets Redact = "secrets" // what looks like a credential
	RedactWords   Redact = "words"   // every word, and every number another one: as awo convert --redact does
)

// Recording writes sessions into a folder, DATE/SESSION.jsonl in it.
type Recording struct {
	dir    string
	redact Redact
	digits []byte // of the key as its file has them, which is the key of awo convert --redact
	key    []byte
	now    func() time.Time
	create func(name string) (file, error)
}

// file is where a session is written.
type file interface {
	io.Writer
	io.WriterAt
	Truncate(size int64) error
	Close() error
}

// NewRecording prepares a folder for recordings. The key of what becomes a hash is that of
// keyFile, which is made if it is not there, or of a file in the folder if keyFile is "".
func NewRecording(dir string, redact Redact, keyFile string) (*Recording, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r := &Recording{dir: dir, redact: redact, now: time.Now, create: func(name string) (file, error) {
		return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}}
	if redact == RedactNothing {
		return r, nil
	}
	name := cmp.Or(keyFile, filepath.Join(dir, ownKey)) // hidden, so that it is not taken for a trace
	r.key = make([]byte, 32)
	_, _ = rand.Read(r.key) // never fails
	r.digits = []byte(hex.EncodeToString(r.key))
	if err := makeKey(name, r.digits); err != nil {
		return nil, err
	}
	written, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r.digits = bytes.TrimSpace(written)
	if r.key, err = hex.DecodeString(string(r.digits)); err != nil || len(r.key) < 16 {
		return nil, fmt.Errorf("%s: this is not a key: 32 or more hexadecimal digits", name)
	}
	return r, nil
}

// makeKey writes a key into a file unless one is there: whole or not at all, because
// gateways that start together share it. An empty file, which somebody was stopped from
// writing, is replaced.
func makeKey(name string, digits []byte) error {
	info, err := os.Lstat(name)
	isEmpty := err == nil && info.Mode().IsRegular() && info.Size() == 0
	if err == nil && !isEmpty {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".key-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(digits[:len(digits):len(digits)], '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if isEmpty {
		return os.Rename(f.Name(), name)
	}
	if err := os.Link(f.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// recorder writes what passes in one session: into one log, or into one for each client
// where several share the session. A nil recorder writes nothing.
type recorder struct {
	s *session
	r *Recording

	mu     sync.Mutex
	closed bool
	logs   map[string]*sessionLog     // by client; "" where there is one
	owners map[jsonrpc.ID]*sessionLog // of requests under way, and of questions, where clients share the session
}

// begin prepares the recording of a session; a file is made with its first message.
func (r *Recording) begin(s *session) *recorder {
	return &recorder{s: s, r: r, logs: map[string]*sessionLog{}, owners: map[jsonrpc.ID]*sessionLog{}}
}

// note is what a line says beside its message. The zero value is of a message between
// agent and gateway.
type note struct {
	peer     string            // who is at the other end; "" is the agent
	within   *Within           // nil for what the agent asked for
	of       jsonrpc.ID        // the agent's request that a message of servers belongs to
	by       string            // who answered in the place of a server
	attached []json.RawMessage // blocks that follow the content of the result
}

// record writes a message. A disk that is full is said once; the relay goes on.
func (c *recorder) record(direction string, message jsonrpc.Message, n *note) {
	if c == nil {
		return
	}
	if n == nil {
		n = &note{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.of(message, n); l != nil && !c.closed {
		l.record(direction, encode(message), n)
	}
}

// listed writes what is offered, for an agent that calls a tool without having asked for the
// list: only definitions say what only reads.
func (c *recorder) listed(call *jsonrpc.Request, o *offer) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.of(call, &note{}); l != nil && !c.closed && len(l.lists) == 0 {
		line := append([]byte(`{"jsonrpc":"2.0","result":`), listResult("tools", o.listed)...)
		l.record("server", append(line, '}'), &note{by: "awo"})
	}
}

// maxClients is how many clients of one session have a log of their own.
const maxClients = 64

// of returns the log that a message belongs into, nil for what belongs to no client of
// several. c.mu is held.
func (c *recorder) of(message jsonrpc.Message, n *note) *sessionLog {
	if a, ok := c.s.agent.(*stateless); !ok || !a.shared {
		return c.log("", nil)
	}
	id := n.of
	switch m := message.(type) {
	case *jsonrpc.Response:
		if n.within != nil {
			return c.owners[n.within.Request]
		}
		l := c.owners[m.ID]
		delete(c.owners, m.ID)
		return l
	case *jsonrpc.Request:
		switch client, says := clientOf(m.Params); {
		case n.within != nil:
			return c.owners[n.within.Request]
		case m.Method == "initialize": // of the gateway's own
			return nil
		case m.Method == "notifications/cancelled":
			id, _ = idOf(member(m.Params, "requestId"))
			defer delete(c.owners, id)
		case m.IsCall() && n.of.IsValid(): // a question
			c.owners[m.ID] = c.owners[n.of]
		case m.IsCall():
			if id = m.ID; says {
				c.owners[id] = c.log(client, m.Params)
			}
		}
	}
	return c.owners[id]
}

// log returns the log of a client, whose first request has params.
func (c *recorder) log(client string, params json.RawMessage) *sessionLog {
	if len(c.logs) >= maxClients && c.logs[client] == nil {
		client, params = "", json.RawMessage(`{"_meta":{}}`) // of all others
	}
	l := c.logs[client]
	if l == nil {
		id := c.s.id
		if len(c.logs) > 0 {
			id = fmt.Sprintf("%s-%d", id, len(c.logs)+1)
		}
		l = newLog(c.s, c.r, id)
		l.meta = member(params, "_meta")
		c.logs[client] = l
	}
	return l
}

// clientOf returns what tells the clients of a session and their conversations apart; false
// if a request does not say whose it is.
func clientOf(params json.RawMessage) (string, bool) {
	meta := member(params, "_meta")
	key := []byte(member(meta, metaClient))
	for _, name := range conversations {
		key = append(append(key, 0), member(meta, name)...)
	}
	return string(key), text(member(meta, metaVersion)) != ""
}

// conversations are what clients call theirs in the _meta of a request.
var conversations = []string{"threadId", "vscode.conversationId"}

func (c *recorder) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true // nothing comes behind
	for _, l := range c.logs {
		l.close()
	}
}
