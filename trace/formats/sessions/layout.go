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
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// decodeMessages returns the sessions of a record, or the record as a part of one.
func decodeMessages(r trace.Record) ([]trace.Fragment, error) {
	if err := build.CheckRecord(r); err != nil {
		return nil, err
	}
	var out []trace.Fragment
	for i, data := range divideMessages(r.Data) {
		part := trace.Fragment{Key: r.File, Data: data, Pos: r.Pos()}
		named, order := conversationKey(r.File, data)
		if part.Order = order; named != "" {
			part.Key = named
		} else if holdsMessages(data) { // a session of its own
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

// assembleMessages makes the trajectory of a session.
func assembleMessages(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	l := message.NewLog()
	for i := range parts {
		if i+1 < len(parts) && build.HasMember(parts[i].Data, "values") && strings.Contains(key, "#") {
			continue // a state of the session before the last
		}
		readMessages(l, parts[i].Data)
	}
	t := l.Finish()
	t.Source = parts[0].Pos
	if t.ID == "" && key == parts[0].Pos.File {
		t.ID, _, _ = strings.Cut(path.Base(filepath.ToSlash(key)), ".")
	}
	return []*trace.Trajectory{t}, nil
}

// entry adds what a record says to a log.
type entry func(l *log, record []byte)

// log is the log of a session.
type log = message.Log
