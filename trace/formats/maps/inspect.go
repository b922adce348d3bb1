package maps

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// inspectArchive finds the samples of an .eval archive: "samples/ID_epoch_N.json",
// beside a header that is the log without them. A run that was broken off has no
// header, but what the header begins with as "_journal/start.json".
func inspectArchive(a *trace.Archive, limit int) (records trace.ArchiveRecords, ok bool) {
	document := []byte("{}")
	for _, name := range []string{"header.json", "_journal/start.json"} {
		e := a.Entry(name)
		if e == nil || ok {
			continue
		}
		data, err := a.Read(e, limit)
		if err != nil || data == nil {
			ok = true // it is one all the same
			continue
		}
		eval := build.MemberRaw(data, "eval")
		ok = eval != nil
		if c := jsonscan.New(data); ok && c.End() == nil {
			document = build.Object("eval", eval)
		}
	}
	if !ok {
		return records, false
	}
	records.Shared = document
	for _, e := range a.Entries {
		if strings.HasPrefix(e.Name, "samples/") && strings.HasSuffix(e.Name, ".json") {
			records.Entries = append(records.Entries, e)
		}
	}
	return records, true
}
