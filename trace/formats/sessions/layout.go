// Package sessions reads what agents and frameworks keep of their sessions: messages
// in whatever form, with an envelope that is theirs. Messages reads any that package
// message knows; others have events of their own and are turned into messages here.
//
// A record comes in and fragments of trajectories go out: those of a file where its
// lines are messages, a record's own where it holds a conversation. It is O(session).
package sessions

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/sessionlog"
)

// entry adds what a record says to a log.
type entry func(l *log, record []byte)

// layout is how records become fragments.
type layout struct {
	whole  func([]byte) bool     // a record is a session of its own
	divide func([]byte) [][]byte // the sessions of a record that holds several; may be nil
	// key returns the session that a record of a file says it is of, "" for none, and
	// its place in it; may be nil.
	key func(file string, record []byte) (string, int64)
}

// decoder returns how records become fragments.
func decoder(whole func([]byte) bool, divide func([]byte) [][]byte) func(trace.Record) ([]trace.Fragment, error) {
	return layout{whole: whole, divide: divide}.decode
}

func (y layout) decode(r trace.Record) ([]trace.Fragment, error) {
	if err := build.CheckRecord(r); err != nil {
		return nil, err
	}
	records := [][]byte{r.Data}
	if y.divide != nil {
		records = y.divide(r.Data)
	}
	var out []trace.Fragment
	for i, data := range records {
		part := trace.Fragment{Key: r.File, Data: data, Pos: r.Pos()}
		named := ""
		if y.key != nil {
			named, part.Order = y.key(r.File, data)
		}
		switch {
		case named != "":
			part.Key = named
		case y.whole(data):
			part.Key = r.Pos().String()
			if i > 0 {
				part.Key += "#" + strconv.Itoa(i)
			}
		}
		out = append(out, part)
	}
	if len(out) == 0 {
		return nil, diag.New(r.Pos(), build.CodeRecordShape, "this record holds no session")
	}
	return out, nil
}

// assembler returns how the fragments of a session become its trajectory.
func assembler(agent string, read entry) func(string, []trace.Fragment) ([]*trace.Trajectory, error) {
	return func(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
		l := newLog(agent)
		for i := range parts {
			if i+1 < len(parts) && build.HasMember(parts[i].Data, "values") && strings.Contains(key, "#") {
				continue // a state of the session before the last
			}
			read(l, parts[i].Data)
		}
		t := l.Finish()
		t.Source = parts[0].Pos
		if t.ID == "" && key == parts[0].Pos.File {
			base := path.Base(filepath.ToSlash(key))
			t.ID, _, _ = strings.Cut(base, ".")
		}
		return []*trace.Trajectory{t}, nil
	}
}

// log is the log of a session that a format of this package reads.
type log struct{ *sessionlog.Log }

func newLog(agent string) *log { return &log{sessionlog.New(agent)} }
