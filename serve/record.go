package serve

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// ownKey holds the key of a folder of recordings, so that equal credentials have equal
// hashes in all of them.
const ownKey = ".key"

// Recording writes sessions into a folder, DATE/SESSION.jsonl in it.
type Recording struct {
	dir  string
	hide bool
	key  []byte
	now  func() time.Time
}

// NewRecording prepares a folder for recordings. With hide, what looks like a credential
// is written as a keyed hash; the key is that of keyFile, which is made if it is not
// there, or of a file in the folder if keyFile is "".
func NewRecording(dir string, hide bool, keyFile string) (*Recording, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r := &Recording{dir: dir, hide: hide, now: time.Now}
	if !hide {
		return r, nil
	}
	name := cmp.Or(keyFile, filepath.Join(dir, ownKey)) // hidden, so that it is not taken for a trace
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		_, err = f.WriteString(hex.EncodeToString(key) + "\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	default:
		written, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if key, err = hex.DecodeString(string(bytes.TrimSpace(written))); err != nil || len(key) < 16 {
			return nil, fmt.Errorf("%s: this is no key: 32 or more hexadecimal digits", name)
		}
	}
	r.key = key
	return r, nil
}

// recorder writes one session. A nil recorder writes nothing.
type recorder struct {
	mu     sync.Mutex
	g      *Gateway
	s      *session
	r      *Recording
	id     string
	file   *os.File
	failed bool
	redact redactor
	lists  map[[sha256.Size]byte]bool // results that were written
}

// begin prepares the recording of a session; its file is made with its first message.
func (r *Recording) begin(s *session) *recorder {
	return &recorder{g: s.g, s: s, r: r, id: s.id, redact: redactor{hmac.New(sha256.New, r.key)}, lists: map[[sha256.Size]byte]bool{}}
}

// note is what a line says beside its message. The zero value is of a message between
// agent and gateway.
type note struct {
	peer     string            // who is at the other end; "" is the agent
	within   *Within           // nil for what the agent asked for
	by       string            // who answered in the place of a server
	attached []json.RawMessage // blocks that follow the content of the result
}

// record writes a message. A disk that is full is said once; the
// relay goes on.
func (c *recorder) record(direction string, message jsonrpc.Message, n *note) {
	if c == nil {
		return
	}
	data := encode(message)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed {
		return
	}
	if n == nil {
		n = &note{}
	}
	if err := c.write(direction, data, n); err != nil {
		c.failed = true
		c.g.log.Warn("the recording of this session is incomplete", "reason", err)
	}
}

func (c *recorder) write(direction string, data []byte, n *note) error {
	now := c.r.now().UTC()
	line := append([]byte(`{"time":`), quoted(now.Format(time.RFC3339Nano))...)
	line = append(append(line, `,"session":`...), quoted(c.id)...)
	line = append(append(line, `,"direction":`...), quoted(direction)...)
	line = append(append(line, `,"peer":`...), quoted(cmp.Or(n.peer, "agent"))...)
	if n.within != nil {
		line = appendID(append(line, `,"within":{"request":`...), n.within.Request)
		line = append(append(line, `,"as":`...), quoted(n.within.As)...)
		line = append(append(append(line, `,"by":`...), quoted(n.within.By)...), '}')
	}
	if n.by != "" {
		line = append(append(line, `,"answered_by":`...), quoted(n.by)...)
	}
	if len(n.attached) > 0 {
		blocks := list(n.attached)
		if c.r.hide {
			blocks = c.redact.content(blocks)
		}
		line = append(append(line, `,"attached":`...), blocks...)
	}
	if c.file == nil {
		dir := filepath.Join(c.r.dir, now.Format(time.DateOnly))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(dir, c.id+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		c.file = f
		about, err := c.about(data)
		if err != nil {
			return err
		}
		line = append(append(line, `,"awo":`...), about...)
	}
	if result := member(data, "result"); len(result) > 0 && member(result, "tools") != nil {
		sum := sha256.Sum256(result)
		if c.lists[sum] { // the same list again
			data = replaced(data, "result", append(append([]byte(`{"tools_sha256":"`), hex.EncodeToString(sum[:])...), `"}`...))
		}
		c.lists[sum] = true
	}
	if c.r.hide {
		data = c.redact.message(data)
	}
	line = append(append(append(line, `,"message":`...), data...), "}\n"...)
	_, err := c.file.Write(line)
	return err
}

// about returns what the first line says of the session: who takes part, and in which arm
// of an experiment.
func (c *recorder) about(first []byte) ([]byte, error) {
	servers, sums := []string{}, sha256.New()
	for i := range c.g.servers {
		s := &c.g.servers[i]
		servers = append(servers, s.Name)
		fmt.Fprintf(sums, "%q %q %q %q\n", s.Name, s.Command, s.Args, s.URL) // no environment, no headers
	}
	e := &c.g.options.Experiment
	about := map[string]any{
		"version": c.g.options.Version, "servers": servers, "servers_sha256": hex.EncodeToString(sums.Sum(nil)),
		"arm": c.s.arm, "share": e.Share, "unit": e.Unit, "unit_id": c.s.unit, "seed": e.Seed, "era": cmp.Or(c.s.era(), "initialize"),
	}
	if c.g.options.Layer != nil {
		maps.Copy(about, c.g.options.Layer.About())
	}
	client := member(first, "params", "clientInfo")
	about["client"] = map[string]string{"name": text(member(client, "name")), "version": text(member(client, "version"))}
	ids := maps.Clone(c.g.options.IDs)
	for _, name := range []string{"threadId", "vscode.conversationId"} {
		if id := text(member(first, "params", "_meta", name)); id != "" {
			if ids == nil {
				ids = map[string]string{}
			}
			ids[name] = id
		}
	}
	if len(ids) > 0 {
		about["ids"] = ids
	}
	return json.Marshal(about)
}

func (c *recorder) close() {
	if c == nil || c.file == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = true // nothing comes behind
	if err := c.file.Close(); err != nil {
		c.g.log.Warn("the recording of this session may be incomplete", "reason", err)
	}
}
