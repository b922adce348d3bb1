package sse

import (
	"github.com/awo-dev/awo/internal/jsonscan"

	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Response is a response of OpenAI's Responses interface that is put
// together from its events.
type Response struct {
	response []byte // the latest state
	ended    bool
	items    []streamItem
}

// streamItem is an item that is complete.
type streamItem struct {
	index int64
	item  []byte
}

// Add adds an event, which has to be JSON. Only whole items count: what comes in
// pieces comes again at the end of the item.
func (s *Response) Add(event []byte) {
	h, _ := ReadHead(event)
	if h.Response != nil {
		s.response = h.Response
	}
	s.ended = s.ended || h.Ends
	var kind []byte
	var item streamItem
	c := jsonscan.New(event)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "type":
			kind, _ = c.Text()
		case "output_index":
			item.index, _ = c.Int()
		case "item":
			item.item = c.Raw()
		}
	}
	if string(kind) == "response.output_item.done" && build.IsKind(item.item, '{') {
		s.items = append(s.items, item)
	}
}

// Append appends the record of a response: as the interface gave it, or of one
// that broke off what was complete.
func (s *Response) Append(dst []byte) []byte {
	dst = append(dst, `{"response":{`...)
	if s.ended && (len(s.items) == 0 || hasItems(s.response)) {
		return append(appendRawMembers(dst, s.response), "}}"...)
	}
	dst = appendRawMembers(dst, s.response, "output", "status", "object")
	dst = appendRaw(dst, "object", []byte(`"response"`))
	status := []byte(`"incomplete"`)
	if s.ended {
		c := jsonscan.New(s.response)
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "status" && c.Kind() == jsonscan.String {
				status = c.Raw()
			}
		}
	}
	dst = appendRaw(dst, "status", status)
	dst = append(dst, `,"output":[`...)
	for i, item := range s.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, item.item...)
	}
	return append(dst, "]}}"...)
}

// hasItems reports whether a response has output.
func hasItems(response []byte) bool {
	some := false
	c := jsonscan.New(response)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "output" {
			for ok := c.Array(); ok && c.Element(); {
				some = true
			}
		}
	}
	return some
}
