package serve

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// keyFile holds the key of a folder of recordings, so that equal credentials have equal
// hashes in all of them.
const keyFile = "key"

// Recording writes sessions into a folder, DATE/SESSION.jsonl in it.
type Recording struct {
	dir  string
	hide bool
	key  []byte
	now  func() time.Time
}

// NewRecording prepares a folder for recordings. With hide, what looks like a credential
// is written as a keyed hash; the key is made and kept in the folder if it has none.
func NewRecording(dir string, hide bool) (*Recording, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r := &Recording{dir: dir, hide: hide, now: time.Now}
	if !hide {
		return r, nil
	}
	name := filepath.Join(dir, keyFile)
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
	r      *Recording
	id     string
	file   *os.File
	failed bool
	redact redactor
	lists  map[[sha256.Size]byte]bool // results that were written
}

// begin prepares the recording of a session; its file is made with its first message.
func (r *Recording) begin(g *Gateway) *recorder {
	return &recorder{g: g, r: r, id: rand.Text(), redact: redactor{hmac.New(sha256.New, r.key)}, lists: map[[sha256.Size]byte]bool{}}
}

// record writes a message between agent and relay. A disk that is full is said once; the
// relay goes on.
func (c *recorder) record(direction string, message jsonrpc.Message) {
	if c == nil {
		return
	}
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return // it cannot be sent either
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed {
		return
	}
	if err := c.write(direction, data); err != nil {
		c.failed = true
		c.g.log.Warn("the recording of this session is incomplete", "reason", err)
	}
}

func (c *recorder) write(direction string, data []byte) error {
	now := c.r.now().UTC()
	line := append([]byte(`{"time":`), quoted(now.Format(time.RFC3339Nano))...)
	line = append(append(line, `,"session":`...), quoted(c.id)...)
	line = append(append(line, `,"direction":`...), quoted(direction)...)
	line = append(line, `,"peer":"agent"`...)
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
		line = append(append(line, `,"awo":{"version":`...), quoted(c.g.options.Version)...)
		line = append(line, `,"servers":[`...)
		for i := range c.g.servers {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(line, quoted(c.g.servers[i].Name)...)
		}
		line = append(line, "]}"...)
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
