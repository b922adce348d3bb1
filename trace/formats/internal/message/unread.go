package message

import (
	"bytes"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// definitionNames are members of messages that name tools without calling them.
var definitionNames = map[string]bool{"tools": true, "functions": true, "available_tools": true, "tool_definitions": true, "tool_choice": true}

// callsUnder returns how many elements of the list that c stands on look like calls,
// where its name says that they are: they are not read.
func callsUnder(c *jsonscan.Cursor) (n int) {
	if c.Kind() != jsonscan.Array || !namesCalls(c.Key()) {
		return 0
	}
	for c.Array(); c.Element(); {
		named, given := false, false
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "name", "tool", "tool_name", "toolName", "function", "function_name", "action":
				named = named || c.Kind() == jsonscan.String || c.Kind() == jsonscan.Object
			case "arguments", "args", "input", "parameters", "params", "action_input", "tool_input", "kwargs":
				given = true
			}
		}
		if named && given {
			n++
		}
	}
	return n
}

// namesCalls reports whether the name of a member says that calls stand in it.
func namesCalls(key []byte) bool {
	lower := bytes.ToLower(key)
	for _, word := range []string{"call", "action", "tool", "function", "invocation"} {
		if bytes.Contains(lower, []byte(word)) {
			return !definitionNames[string(lower)]
		}
	}
	return false
}

// callMarks stand in what a model says that writes its calls down.
var callMarks = [][]byte{
	[]byte("<tool_call>"), []byte("<function="), []byte("Action Input:"), []byte("</execute_command>"), []byte("</read_file>"), []byte("</attempt_completion>"),
	[]byte("</use_mcp_tool>"), []byte("</write_to_file>"), []byte("</list_files>"), []byte("</search_files>"),
}

// WritesCalls reports whether a text looks as if the model had written calls in it.
func WritesCalls(said []byte) bool {
	return slices.ContainsFunc(callMarks, func(mark []byte) bool { return bytes.Contains(said, mark) })
}
