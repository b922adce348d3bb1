package export

import (
	"bufio"
	"encoding/xml"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/awo-dev/awo/trace"
)

// xesLog writes an event log of IEEE 1849-2016: a trace is a trajectory, an event is a
// call, with the standard extensions concept, lifecycle, time and organizational. A
// call whose beginning and end are recorded is two events, "start" and "complete".
type xesLog struct {
	w    *bufio.Writer
	left Lost
}

func (x *xesLog) lost() Lost { return x.left }

func (x *xesLog) begin() error {
	_, err := x.w.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849.2016" xes.features="" xmlns="http://www.xes-standard.org/">
	<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
	<extension name="Lifecycle" prefix="lifecycle" uri="http://www.xes-standard.org/lifecycle.xesext"/>
	<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
	<extension name="Organizational" prefix="org" uri="http://www.xes-standard.org/org.xesext"/>
	<global scope="trace">
		<string key="concept:name" value="UNKNOWN"/>
	</global>
	<global scope="event">
		<string key="concept:name" value="UNKNOWN"/>
		<string key="lifecycle:transition" value="complete"/>
	</global>
	<classifier name="Tool" keys="concept:name"/>
	<classifier name="ToolAndTransition" keys="concept:name lifecycle:transition"/>
	<string key="concept:name" value="calls of agents"/>
	<string key="lifecycle:model" value="standard"/>
`)
	return err
}

func (x *xesLog) end() error {
	_, err := x.w.WriteString("</log>\n")
	return err
}

func (x *xesLog) add(t *trace.Trajectory) error {
	x.w.WriteString("\t<trace>\n")
	in := "\t\t"
	x.text(in, "concept:name", t.ID)
	x.textIfAny(in, "awo:task", t.Task)
	x.textIfAny(in, "awo:session", t.Session)
	if t.Outcome != trace.OutcomeUnknown {
		x.text(in, "awo:outcome", t.Outcome.String())
	}
	if t.Score != nil {
		x.attribute(in, "float", "awo:score", strconv.FormatFloat(*t.Score, 'g', -1, 64))
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if !c.Start.IsZero() && !c.End.IsZero() {
			x.event(t, c, "start", c.Start)
		}
		at := c.End
		if at.IsZero() {
			at = c.Start
		}
		if at.IsZero() {
			x.left.Untimed++
		}
		x.event(t, c, "complete", at)
	}
	_, err := x.w.WriteString("\t</trace>\n")
	return err
}

func (x *xesLog) event(t *trace.Trajectory, c *trace.Call, transition string, at time.Time) {
	x.w.WriteString("\t\t<event>\n")
	in := "\t\t\t"
	x.text(in, "concept:name", c.Tool.Value())
	x.text(in, "lifecycle:transition", transition)
	if !at.IsZero() && at.UTC().Year() >= 1 && at.UTC().Year() <= 9999 {
		x.attribute(in, "date", "time:timestamp", at.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	}
	resource := t.Agent
	if resource == "" {
		resource = t.Model
	}
	x.textIfAny(in, "org:resource", resource)
	if c.Turn >= 0 {
		x.attribute(in, "int", "awo:turn", strconv.Itoa(c.Turn+1))
	}
	if c.Origin != trace.OriginModel {
		x.text(in, "awo:origin", c.Origin.String())
	}
	if transition == "complete" {
		x.text(in, "awo:status", c.Status.String())
	}
	x.w.WriteString("\t\t</event>\n")
}

func (x *xesLog) textIfAny(indent, key, value string) {
	if value != "" {
		x.text(indent, key, value)
	}
}

func (x *xesLog) text(indent, key, value string) { x.attribute(indent, "string", key, value) }

func (x *xesLog) attribute(indent, kind, key, value string) {
	x.w.WriteString(indent + "<" + kind + ` key="` + key + `" value="`)
	xml.EscapeText(x.w, []byte(plain(value))) // what XML cannot hold becomes U+FFFD
	x.w.WriteString("\"/>\n")
}

// plain replaces what moves cursors or turns lines in terminals and editors.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return utf8.RuneError
		}
		return r
	}, s)
}
