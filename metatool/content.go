package metatool

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// Content returns what a call returned, if that is a result of the Model Context
// Protocol or a list of its content blocks: `structuredContent`, else the text if all
// blocks are texts (one below the other), else the blocks. failed says that the result
// says isError. Any other value is returned as it is.
//
// A result is an object with `content` or `structuredContent` and no member that such
// results do not have.
func Content(v trace.Value) (content trace.Value, failed bool) {
	if v.Kind == trace.Object && isToolResult(&v) {
		isError, _ := v.Lookup("isError")
		failed = isError.Kind == trace.Bool && isError.Bool
		if structured := v.Member("structuredContent"); structured.Kind != trace.Null {
			return structured, failed
		}
		v, _ = v.Lookup("content")
	}
	if IsBlocks(v) {
		if text, only := blocksText(v); only {
			return trace.NewString(text), failed
		}
	}
	return v, failed
}

// resultMembers are those of a result of the Model Context Protocol.
var resultMembers = [...]string{"_meta", "content", "isError", "resultType", "structuredContent"}

func isToolResult(v *trace.Value) bool {
	content, structured := v.Find("content"), v.Find("structuredContent")
	if content != nil && (content.Kind != trace.Array || len(content.Elems) > 0 && !IsBlocks(*content)) {
		return false
	}
	if content == nil && (structured == nil || structured.Kind == trace.Null) {
		return false
	}
	for i := range v.Members {
		if !slices.Contains(resultMembers[:], v.Members[i].Name) {
			return false
		}
	}
	return true
}

// IsBlocks reports whether a value is a list of content blocks of the Model Context
// Protocol. Such a list is passed on, but no value of it is bound: see [Scope].
func IsBlocks(v trace.Value) bool {
	return v.Kind == trace.Array && len(v.Elems) > 0 && !slices.ContainsFunc(v.Elems, func(e trace.Value) bool { return !isBlock(e) })
}

// isBlock reports whether a value has the type and the member of a content block.
func isBlock(v trace.Value) bool {
	kind, _ := v.Lookup("type")
	is := func(name string, want trace.Kind) bool {
		m, ok := v.Lookup(name)
		return ok && m.Kind == want
	}
	switch {
	case kind.Kind != trace.String:
		return false
	case kind.Text == "text":
		return is("text", trace.String)
	case kind.Text == "image", kind.Text == "audio":
		return is("data", trace.String) || is("source", trace.Object)
	case kind.Text == "resource":
		return is("resource", trace.Object)
	case kind.Text == "resource_link":
		return is("uri", trace.String)
	}
	return false
}

// blocksText returns the texts of content blocks, one below the other, and whether all
// blocks are texts.
func blocksText(v trace.Value) (text string, only bool) {
	var texts []string
	for _, e := range v.Elems {
		if kind, _ := e.Lookup("type"); kind.Text == "text" {
			one, _ := e.Lookup("text")
			texts = append(texts, one.Text)
		}
	}
	return strings.Join(texts, "\n"), len(texts) == len(v.Elems)
}

// bindable returns what bindings read of a result: of content blocks their text, and
// nothing if they have none.
func bindable(v *trace.Value) *trace.Value {
	if v == nil || !IsBlocks(*v) {
		return v
	}
	text, _ := blocksText(*v)
	if text == "" {
		return nil
	}
	return &trace.Value{Kind: trace.String, Text: text}
}
