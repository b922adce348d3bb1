package inspect

import (
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// inspectEvent is what is read of an event.
type inspectEvent struct {
	kind, message, call []byte
	start, end          time.Time
	usage               trace.Usage
	cached              bool // answered from a cache
	output, failed      bool
}

// events adds what events tell about turns and calls.
func (d *inspectDecoder) events(data []byte) {
	b := d.Builder
	c := jsonscan.New(data)
	calls := map[string][]int{} // that no event has told about, by id
	for i := range b.Trajectory.Calls {
		calls[b.Trajectory.Calls[i].ID] = append(calls[b.Trajectory.Calls[i].ID], i)
	}
	for ok := c.Array(); ok && c.Element(); {
		e := d.event(&c)
		switch string(e.kind) {
		case "model":
			if !e.output {
				continue
			}
			turn, ok := d.turnOf(e.message)
			if !ok {
				b.Anomaly(build.CodeResponseElsewhere, 1)
				continue
			}
			to := &b.Trajectory.Turns[turn]
			to.Start, to.End = e.start, e.end
			if !e.cached {
				to.Usage = e.usage
			}
		case "tool":
			waiting := calls[string(e.call)]
			if len(waiting) == 0 {
				continue
			}
			calls[string(e.call)] = waiting[1:]
			call := &b.Trajectory.Calls[waiting[0]]
			call.Start, call.End = e.start, e.end
			if e.failed {
				call.Status = trace.StatusFailed
			}
		}
	}
}

// turnOf returns the turn that a response is: by the id of its message, or of
// older logs the next one without.
func (d *inspectDecoder) turnOf(id []byte) (int, bool) {
	if turn, ok := d.turns[string(id)]; ok {
		delete(d.turns, string(id))
		return turn, true
	}
	if len(d.unnamed) == 0 {
		return 0, false
	}
	turn := d.unnamed[0]
	d.unnamed = d.unnamed[1:]
	return turn, true
}

func (d *inspectDecoder) event(c *jsonscan.Cursor) (e inspectEvent) {
	b := d.Builder
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "event":
			e.kind, _ = c.Text()
		case "id":
			e.call, _ = c.Text()
		case "timestamp":
			e.start = b.ReadTime(c)
		case "completed":
			e.end = b.ReadTime(c)
		case "cache":
			text, _ := c.Text()
			e.cached = string(text) == "read"
		case "failed":
			e.failed, _ = c.Bool()
		case "tools":
			if len(b.Trajectory.Tools) == 0 {
				b.Trajectory.Tools = b.ReadTools(c)
			}
		case "output":
			e.readOutput(c)
		}
	}
	return e
}

func (e *inspectEvent) readOutput(c *jsonscan.Cursor) {
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "choices":
			for ok := c.Array(); ok && c.Element(); {
				first := !e.output
				e.output = true
				for ok := c.Object(); ok && c.Member(); {
					if string(c.Key()) != "message" {
						continue
					}
					for ok := c.Object(); ok && c.Member(); {
						if string(c.Key()) == "id" && first {
							e.message, _ = c.Text()
						}
					}
				}
			}
		case "usage":
			e.usage = build.UsageInspect.Read(c)
		}
	}
}
