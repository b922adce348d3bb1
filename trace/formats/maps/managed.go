package maps

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// readManaged returns the events in a log of managed agents. What the client sent counts
// only in a log without a stream, in which it comes back.
func readManaged(_ *build.Builder, records [][]byte) (events [][]byte) {
	var sent []int // places of events
	streamed := false
	see := func(event []byte) {
		streamed = streamed || strings.HasPrefix(string(build.MemberText(event, "type")), "user.")
		events = append(events, event)
	}
	for _, record := range records {
		if build.IsKind(record, '{') {
			see(record)
			continue
		}
		c := jsonscan.New(record)
		if !c.Array() || !c.Element() {
			continue
		}
		method, _ := c.Text()
		for c.Element() {
			raw := c.Raw()
			switch {
			case !strings.HasSuffix(string(method), ".send"):
				see(raw)
				continue
			}
			for in := jsonscan.New(raw); in.Array(); {
				for in.Element() {
					build.EachObject(in.Raw(), func(_ string, event []byte) {
						sent, events = append(sent, len(events)), append(events, event)
					}, "events")
				}
				break
			}
		}
	}
	if streamed {
		for i := len(sent) - 1; i >= 0; i-- {
			events = append(events[:sent[i]], events[sent[i]+1:]...)
		}
	}
	return events
}
