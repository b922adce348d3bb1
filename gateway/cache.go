package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/awo-dev/awo/internal/sealed"
)

// maxCache is how much is read of it, in bytes.
const maxCache = 64 << 20

// lastKnown is what a server answered when it was last there: it is shown while it is
// starting.
type lastKnown struct {
	Result json.RawMessage              `json:"initialize"`
	Lists  map[string][]json.RawMessage `json:"lists"`
}

// cacheFile returns where what a server answered is kept, "" if nothing is. Servers with
// another command or address have another file; headers and environment are not in it.
func (u *upstream) cacheFile() string {
	dir := u.s.g.options.Cache
	if dir == "" {
		return ""
	}
	s := u.server
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", s.Name, s.Command, s.Args, s.Dir, s.URL))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+".json")
}

// recall takes what was kept. What cannot be read is nothing.
func (u *upstream) recall() {
	f, err := os.Open(u.cacheFile())
	if err != nil {
		return
	}
	data, err := io.ReadAll(io.LimitReader(f, maxCache+1))
	if err = errors.Join(err, f.Close()); err != nil || len(data) > maxCache {
		return
	}
	var k lastKnown
	if json.Unmarshal(data, &k) != nil || !isObject(k.Result) {
		return
	}
	for method, list := range k.Lists {
		if listMember[method] != "" {
			u.lists[method] = list
			u.recalled = true
		}
	}
	u.result = k.Result
}

// keep writes what the server answered, whole or not at all. That it cannot be written is
// no loss of this session's.
func (u *upstream) keep() {
	file := u.cacheFile()
	if file == "" {
		return
	}
	u.mu.Lock()
	data, err := json.Marshal(lastKnown{u.result, u.lists})
	u.mu.Unlock()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = sealed.Replace(file, data)
	}
	if err != nil {
		u.s.g.log.Info("what the server has is not kept for the next start", "server", u.server.Name, "reason", err)
	}
}
