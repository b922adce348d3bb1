package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// differences says in what two outcomes of one case differ, each with the first lines
// of a unified diff.
func differences(old, found *outcome, lines int) []string {
	var texts []string
	for i, before := range old.Steps {
		after := found.Steps[i]
		if before.Code != after.Code {
			texts = append(texts, fmt.Sprintf("%s: exit code %s, was %s", before.Command, code(after.Code), code(before.Code)))
		}
		for _, stream := range []struct {
			name          string
			before, after []byte
		}{{"stdout", before.Stdout, after.Stdout}, {"stderr", before.Stderr, after.Stderr}} {
			if !bytes.Equal(stream.before, stream.after) {
				texts = append(texts, fmt.Sprintf("%s: %s differs\n%s", before.Command, stream.name, excerpt(stream.before, stream.after, lines)))
			}
		}
	}
	names := map[string]bool{}
	for name := range old.Files {
		names[name] = true
	}
	for name := range found.Files {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, was := old.Files[name]
		after, is := found.Files[name]
		switch {
		case !is:
			texts = append(texts, fmt.Sprintf("file %s is no longer written", name))
		case !was:
			texts = append(texts, fmt.Sprintf("file %s is new (%d bytes)", name, len(after)))
		case !bytes.Equal(before, after):
			texts = append(texts, fmt.Sprintf("file %s differs\n%s", name, excerpt(before, after, lines)))
		}
	}
	return texts
}

func code(code int) string {
	switch code {
	case -1:
		return "none (it took too long)"
	case -2:
		return "none (its standard input was not written)"
	}
	return fmt.Sprint(code)
}

// excerpt gives the first lines of a unified diff, each cut where it gets long, or two
// sizes where the content is no text.
func excerpt(before, after []byte, lines int) string {
	if !utf8.Valid(before) || !utf8.Valid(after) {
		return fmt.Sprintf("  %d bytes, were %d", len(after), len(before))
	}
	const width = 400
	var b bytes.Buffer
	shown := 0
	// The first three lines name the files.
	for i, line := range bytes.Split(diff.Diff("old", before, "new", after), []byte("\n")) {
		if i < 3 || len(line) == 0 {
			continue
		}
		if shown == lines {
			b.WriteString("  ...\n")
			break
		}
		shown++
		if len(line) > width {
			line = around(line, before, after, width)
		}
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}

// around cuts a long line to what stands about the first byte in which the contents
// differ, as far as that lies in it.
func around(line, before, after []byte, width int) []byte {
	at := 0
	for at < min(len(before), len(after)) && before[at] == after[at] {
		at++
	}
	at -= bytes.LastIndexByte(before[:at], '\n') + 1
	from := max(1, min(at-width/4, len(line)-width))
	return slices.Concat(line[:1], []byte("…"), line[from:min(len(line), from+width)], []byte("…"))
}
