package build

import (
	"bytes"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// StatedStatus returns how a call ended as its result states in words that a program
// wrote around the output, whatever format it was recorded in: an exit code in the lines
// before the output, whether a script completed, or an exit code among the metadata.
func StatedStatus(result trace.Raw) trace.Status {
	if result.Form == trace.FormParts {
		return StatedStatus(trace.Raw{Data: firstText(result.Data), Form: trace.FormText}) // the output is in the others
	}
	text := result.Data
	if result.Form == trace.FormString {
		if text = text[1 : len(text)-1]; !statesStatus(text) {
			return trace.StatusUnknown
		}
		text = result.Content()
	}
	if len(text) > 0 && text[0] == '{' {
		return statusOfMetadata(text)
	}
	return statusOfHeader(text)
}

// headerLines begin the lines that a program puts before the output of a command.
var headerLines = [][]byte{
	[]byte("Process exited with code "), []byte("Exit code: "), []byte("Script "), []byte("Chunk ID: "), []byte("Wall time"), []byte("Command: "),
}

// statesStatus reports whether a text may begin with such lines, or be an object.
func statesStatus(text []byte) bool {
	if len(text) > 0 && text[0] == '{' {
		return bytes.Contains(text, []byte("exit_code"))
	}
	return slices.ContainsFunc(headerLines, func(line []byte) bool { return bytes.HasPrefix(text, line) })
}

// statusOfHeader reads the lines that stand before the output of a command.
func statusOfHeader(text []byte) trace.Status {
	if !statesStatus(text) {
		return trace.StatusUnknown
	}
	n := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if n++; n > 8 || string(line) == "Output:" {
			break
		}
		switch code, ok := bytes.CutPrefix(line, headerLines[0]); {
		case ok:
			return StatusOf(string(code) == "0")
		case n == 1 && bytes.HasPrefix(line, headerLines[1]):
			return StatusOf(string(line[len(headerLines[1]):]) == "0")
		case n == 1 && string(line) == "Script completed":
			return trace.StatusOK
		case n == 1 && string(line) == "Script failed":
			return trace.StatusFailed
		}
	}
	return trace.StatusUnknown
}

// statusOfMetadata reads an object {"output", "metadata": {"exit_code"}}.
func statusOfMetadata(text []byte) trace.Status {
	status := trace.StatusUnknown
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "metadata" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "exit_code" {
				if code, ok := c.Int(); ok {
					status = StatusOf(code == 0)
				}
			}
		}
	}
	if c.End() != nil {
		return trace.StatusUnknown
	}
	return status
}
