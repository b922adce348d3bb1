package spantree

import (
	"strings"

	"github.com/awo-dev/awo/trace"
)

// SpanKeys returns the key of a span, and the alias by which a trace is part of
// the conversation that any of its spans names.
func SpanKeys(trace, conversation string) (key string, aliases []string) {
	if conversation == "" {
		return traceKey + trace, nil
	}
	if trace == "" {
		return conversationKey + conversation, nil
	}
	return conversationKey + conversation, []string{traceKey + trace}
}

// Finish joins the spans of a key: those of each conversation, or of the one
// trace that names none. A conversation that began below a span of another is
// joined with that, as a sub-agent of it.
func Finish(key string, parts []trace.Fragment, spans []*Span) []*trace.Trajectory {
	var out []*trace.Trajectory
	for _, c := range spanConversations(spans) {
		id := c.name
		if id == "" {
			id = strings.TrimPrefix(strings.TrimPrefix(key, traceKey), conversationKey)
		}
		out = append(out, Join(c.spans, c.name, id)...)
	}
	for _, t := range out {
		t.Source = parts[0].Pos
	}
	return out
}

// spanConversation is the spans of a conversation and of those below it.
type spanConversation struct {
	name  string
	spans []*Span
}

// spanConversations divides spans among conversations, in order of appearance. A
// span is of the conversation that it names, else of that of the next span
// upwards that names one, else of the one that its trace named first.
func spanConversations(spans []*Span) []spanConversation {
	byID := map[[2]string]*Span{}
	first := map[string]string{} // by trace
	for _, s := range spans {
		if id := [2]string{s.Trace, s.ID}; byID[id] == nil {
			byID[id] = s
		}
		s.conversation = s.conversationName()
		if first[s.Trace] == "" {
			first[s.Trace] = s.conversation
		}
	}
	// Every span is passed once: what one that was passed has not found, nobody below it does.
	passed := map[*Span]bool{}
	var way []*Span
	for _, s := range spans {
		way = way[:0]
		up := s
		for up != nil && up.conversation == "" && !passed[up] {
			passed[up] = true
			way = append(way, up)
			if up.Parent == "" {
				up = nil
				break
			}
			up = byID[[2]string{up.Trace, up.Parent}]
		}
		name := first[s.Trace]
		if up != nil && up.conversation != "" {
			name = up.conversation
		}
		for _, below := range way {
			below.conversation = name
		}
	}
	above := map[string]string{} // the conversation in which one began, or one further up
	top := func(name string) string {
		last := name
		for above[last] != "" {
			last = above[last]
		}
		for above[name] != "" { // the next who asks has a short way
			name, above[name] = above[name], last
		}
		return last
	}
	for _, s := range spans {
		up := byID[[2]string{s.Trace, s.Parent}]
		if up == nil || s.Parent == "" || up.conversation == s.conversation || above[s.conversation] != "" {
			continue
		}
		if top(up.conversation) != s.conversation { // else a circle
			above[s.conversation] = up.conversation
		}
	}
	index := map[string]int{}
	var out []spanConversation
	for _, s := range spans {
		name := top(s.conversation)
		i, ok := index[name]
		if !ok {
			i = len(out)
			index[name] = i
			out = append(out, spanConversation{name: name})
		}
		out[i].spans = append(out[i].spans, s)
	}
	return out
}

// Keys of open fragments: what follows is the name of a conversation, or the id
// of a trace.
const (
	conversationKey = "conversation:"
	traceKey        = "trace:"
)
