package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

func less(a, b place) int {
	return strings.Compare(a.line(), b.line())
}

func (p place) line() string {
	return strings.Join([]string{p.corpus, p.command, p.path, p.row}, "\t")
}

// write writes frozen numbers, sorted.
func write(file string, numbers map[place]float64) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	for _, p := range slices.SortedFunc(maps.Keys(numbers), less) {
		if _, err := fmt.Fprintf(z, "%s\t%s\n", p.line(), number(numbers[p])); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	fmt.Printf("%d numbers, %d bytes\n", len(numbers), b.Len())
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// read reads frozen numbers.
func read(file string) (map[place]float64, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	numbers := map[place]float64{}
	s := bufio.NewScanner(z)
	for s.Scan() {
		cells := strings.Split(s.Text(), "\t")
		if len(cells) != 5 {
			return nil, fmt.Errorf("%s: a line has %d cells", file, len(cells))
		}
		v, err := strconv.ParseFloat(cells[4], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		numbers[place{cells[0], cells[1], cells[2], cells[3]}] = v
	}
	return numbers, s.Err()
}

// patterns reads a table of two columns, divided by " => ", in which a space that stands
// for a tab is written as " : ". Empty lines and those that begin with # are left out.
func patterns(file string, columns int) ([][]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out [][]string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, " => ")
		if len(cells) != columns {
			return nil, fmt.Errorf("%s: %q has %d columns, not %d", file, line, len(cells), columns)
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), " : ", "\t")
		}
		out = append(out, cells)
	}
	return out, nil
}

// matches reports whether text fits a pattern in which * is any text.
func matches(pattern, text string) bool {
	_, ok := capture(pattern, text)
	return ok
}

// capture returns what each * of a pattern stands for, the shortest that fits but for the
// last, which takes the rest.
func capture(pattern, text string) (parts []string, ok bool) {
	pieces := strings.Split(pattern, "*")
	if len(pieces) == 1 {
		return nil, pattern == text
	}
	if text, ok = strings.CutPrefix(text, pieces[0]); !ok {
		return nil, false
	}
	for _, piece := range pieces[1 : len(pieces)-1] {
		before, after, ok := strings.Cut(text, piece)
		if !ok {
			return nil, false
		}
		parts, text = append(parts, before), after
	}
	last, ok := strings.CutSuffix(text, pieces[len(pieces)-1])
	return append(parts, last), ok
}
