package gateway

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// sessionLog is the file of a session. Its recorder sees to it that it has one user at a
// time.
type sessionLog struct {
	s      *session
	r      *Recording
	id     string
	meta   json.RawMessage // of the client's first request, where clients share the session
	file   file            // nil before the first message
	size   int64           // of the lines that are whole
	mark   int64           // where the first line says whether all is there
	failed bool
	redact redactor
	lists  map[[sha256.Size]byte]bool // results that were written
}

func newLog(s *session, r *Recording, id string) *sessionLog {
	return &sessionLog{s: s, r: r, id: id, redact: newRedactor(r, s.setup.servers), lists: map[[sha256.Size]byte]bool{}}
}

// record writes a message. If that fails the file ends with the last line that is whole, and
// its first line says that it is incomplete.
func (l *sessionLog) record(direction string, data []byte, n *note) {
	if l.failed {
		return
	}
	err := l.write(direction, data, n)
	if err == nil {
		return
	}
	l.failed = true
	l.s.g.log.Warn("the recording of this session is incomplete", "reason", err)
	if l.file != nil {
		err = l.file.Truncate(l.size)
		if l.size > 0 { // the bytes are there: no room is needed
			_, e := l.file.WriteAt([]byte(isIncomplete), l.mark)
			err = errors.Join(err, e)
		}
		if err != nil {
			l.s.g.log.Warn("the recording does not say that it is incomplete", "reason", err)
		}
	}
}

// What the first line says of the whole. Both are equally long, so that one can take the
// place of the other on a disk that is full.
const (
	isComplete   = `"incomplete":false`
	isIncomplete = `"incomplete":true `
)

func (l *sessionLog) write(direction string, data []byte, n *note) error {
	now := l.r.now().UTC()
	line := append([]byte(`{"time":`), quoted(now.Format(time.RFC3339Nano))...)
	line = append(append(line, `,"session":`...), quoted(l.id)...)
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
		if l.r.redact != RedactNothing {
			blocks = l.redact.content(blocks)
		}
		line = append(append(line, `,"attached":`...), blocks...)
	}
	if l.file == nil {
		dir := filepath.Join(l.r.dir, now.Format(time.DateOnly))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		about, err := l.about(data)
		if err != nil {
			return err
		}
		if l.file, err = l.r.create(filepath.Join(dir, l.id+".jsonl")); err != nil {
			l.file = nil
			return err
		}
		line = append(line, `,"awo":`...)
		l.mark = int64(len(line) + bytes.Index(about, []byte(isComplete)))
		line = append(line, about...)
	}
	if result := member(data, "result"); len(result) > 0 && member(result, "tools") != nil {
		sum := sha256.Sum256(result)
		if l.lists[sum] { // the same list again
			data = replaced(data, "result", append(append([]byte(`{"tools_sha256":"`), hex.EncodeToString(sum[:])...), `"}`...))
		}
		l.lists[sum] = true
	}
	if l.r.redact != RedactNothing {
		data = l.redact.message(data)
	}
	line = append(append(append(line, `,"message":`...), data...), "}\n"...)
	if _, err := l.file.Write(line); err != nil {
		return err
	}
	l.size += int64(len(line))
	return nil
}

// about returns what the first line says of the session: who takes part, and in which arm
// of an experiment.
func (l *sessionLog) about(first []byte) ([]byte, error) {
	servers, sums := []string{}, sha256.New()
	for i := range l.s.setup.servers {
		s := &l.s.setup.servers[i]
		servers = append(servers, s.Name)
		fmt.Fprintf(sums, "%q %q %q %q\n", s.Name, s.Command, s.Args, s.URL) // no environment, no headers
	}
	e := &l.s.g.options.Experiment
	about := map[string]any{
		"version": l.s.g.options.Version, "servers": servers, "servers_sha256": hex.EncodeToString(sums.Sum(nil)),
		"arm": l.s.arm, "share": e.Share, "unit": e.Unit, "unit_id": l.s.unit, "seed": e.Seed, "era": cmp.Or(l.s.era(), "initialize"),
		"incomplete": false,
	}
	if l.s.setup.layer != nil {
		maps.Copy(about, l.s.setup.layer.About())
	}
	client, meta := member(l.meta, metaClient), l.meta
	if meta == nil {
		client, meta = member(first, "params", "clientInfo"), member(first, "params", "_meta")
	}
	about["client"] = map[string]string{"name": text(member(client, "name")), "version": text(member(client, "version"))}
	ids := maps.Clone(l.s.g.options.IDs)
	for _, name := range conversations {
		if id := text(member(meta, name)); id != "" {
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

func (l *sessionLog) close() {
	if l.file == nil {
		return
	}
	if err := l.file.Close(); err != nil {
		l.s.g.log.Warn("the recording of this session may be incomplete", "reason", err)
	}
}
