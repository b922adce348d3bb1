package sse

import (
	"bytes"
	"slices"

	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Response is a response of OpenAI's Responses interface that is put
// together from its events.
type Response struct {
	response object // the latest state
	ended    bool
	items    [][]byte // that are complete
}

// Add adds an event, which has to be JSON. Only whole items count: what comes in
// pieces comes again at the end of the item.
func (s *Response) Add(event []byte) {
	h, _ := ReadHead(event)
	if h.Response != nil {
		s.response = readObject(h.Response)
	}
	s.ended = s.ended || h.Ends
	e := readObject(event)
	if item := e.get("item"); e.is("type", "response.output_item.done") && build.IsKind(item, '{') {
		s.items = append(s.items, item)
	}
}

// Text returns the record of a response: as the interface gave it, or of one that broke
// off what was complete.
func (s *Response) Text() []byte {
	response := s.response
	if !s.ended || len(s.items) > 0 && build.FirstElement(response.get("output")) == nil {
		response.set("object", []byte(`"response"`))
		if !s.ended || response.token("status") == nil {
			response.set("status", []byte(`"incomplete"`))
		}
		response.set("output", slices.Concat([]byte{'['}, bytes.Join(s.items, []byte{','}), []byte{']'}))
	}
	return object{{[]byte("response"), response.text()}}.text()
}
