// Package report turns results into what people and scripts read: tables and
// documents of typed cells as text, Markdown, HTML, CSV or JSON, and the JSON
// of commands with a note for every figure that is null.
//
// In come a Document, a Table or any Go struct; out go bytes that depend on
// nothing else: not on the locale, the terminal, or the order of a map. Names
// and values from traces are hostile, so what could move a cursor, reverse a
// line, open a formula or become a link is escaped in every format (see
// Escape). The package keeps what it is given in memory, knows no results, and
// decides nothing about what is worth showing.
package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
)

// Format is a way to write a Document.
type Format string

// The formats.
const (
	FormatText      Format = "text"
	FormatMarkdown  Format = "markdown"
	FormatHTML      Format = "html"
	FormatLaTeX     Format = "latex"
	FormatCSV       Format = "csv"
	FormatJSON      Format = "json"
	FormatJSONLines Format = "jsonl"
)

// Formats returns every format, the default first.
func Formats() []Format {
	return []Format{FormatText, FormatMarkdown, FormatHTML, FormatLaTeX, FormatCSV, FormatJSON, FormatJSONLines}
}

// Document is a report: what a command prints.
//
// With an Answer its text is short unless Options ask for details: the answer, the
// sections that are no details with at most Brief rows of each table, the names of what
// is left out, and the next step. Every other format has all of it.
type Document struct {
	Command  string // that made it, such as "rules check"
	Title    string
	Answer   string // what it all comes to, in a sentence that needs no other
	Figures  any    // a struct of what stands in no table; nil for nothing
	Sections []Section
	Next     []string // what to type next, each with a reason behind " # "

	// Lines is how many lines short text may have at 100 columns, and more where there are
	// fewer columns; 0 is any number. What is too long loses rows of tables, items of
	// lists, then whole tables and lists, from what stands last.
	Lines int

	details bool     // what is added from here on is details
	data    []*Table // for programs only
	notes   []Note
}

// Section is a part of a Document. An empty Heading adds to what is above.
type Section struct {
	Heading string
	Blocks  []Block
	Detail  bool // left out of short text

	Appendix bool // closed in a page, and not printed from it
}

// Block is a piece of a Section: a Paragraph, a List, a Foremost, Code, Tiles, a Pair, a Fold,
// Bars, a Gallery, an App or a *Table; Short is in short text alone.
type Block interface {
	writeText(w *lines, o Options)
	writeMarkdown(w *lines, o Options)
	writeHTML(w *lines)
}

// Paragraph is running text; it is wrapped in text output. All of it is taken
// literally: `*` or `<` in it format nothing.
type Paragraph string

// Short is a Paragraph of short text; everywhere else the details say more.
type Short string

// List is short sentences, one a bullet.
type List []string

// Code is text whose lines and columns matter, such as a graph or a rule file.
type Code struct {
	Language string // for Markdown, such as "yaml"
	Text     string
}

// Note adds a note to the JSON: about is the path of what it concerns, such as
// "tables.ways.rows[2].usd", or empty for the whole.
func (d *Document) Note(about, text string) {
	if text != "" {
		d.notes = append(d.notes, Note{about, text})
	}
}

// said returns the blocks that say something, and keeps tables that texts do not have.
func (d *Document) said(blocks []Block) []Block {
	return slices.DeleteFunc(blocks, func(b Block) bool {
		if t, ok := b.(*Table); ok && t != nil && (t.hidden || t.ifAny && len(t.Rows) == 0) {
			d.data = append(d.data, t)
			return true
		}
		return saysNothing(b)
	})
}

// Add appends blocks to the last section, which is made if there is none. What says
// nothing is left out: nil, and an empty Paragraph or List.
func (d *Document) Add(blocks ...Block) {
	blocks = d.said(blocks)
	if len(blocks) == 0 {
		return
	}
	if n := len(d.Sections); n == 0 || d.Sections[n-1].Detail != d.details {
		d.Sections = append(d.Sections, Section{Detail: d.details})
	}
	last := &d.Sections[len(d.Sections)-1]
	last.Blocks = append(last.Blocks, blocks...)
}

// Section starts a new section, unless all its blocks say nothing.
func (d *Document) Section(heading string, blocks ...Block) {
	if blocks = d.said(blocks); len(blocks) > 0 {
		d.Sections = append(d.Sections, Section{Heading: heading, Blocks: blocks, Detail: d.details})
	}
}

// Blocks returns the blocks of all sections; tables without a title have the heading of
// theirs.
func (d *Document) Blocks() (all []Block) {
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			if t, ok := b.(*Table); ok {
				t.Title = cmp.Or(t.Title, s.Heading)
			}
			all = append(all, b)
		}
	}
	return all
}

// Details says that what is added from here on is left out of short text.
func (d *Document) Details() { d.details = true }

func saysNothing(b Block) bool {
	switch b := b.(type) {
	case nil:
		return true
	case *Table:
		return b == nil
	case Paragraph:
		return b == ""
	case Short:
		return b == ""
	case Foremost:
		return len(b.Items) == 0
	case List:
		return len(b) == 0
	case Gallery:
		return len(b) == 0
	case Tiles:
		return len(b) == 0
	case Bars:
		return len(b.Rows) == 0
	}
	return false
}

// ShowsMoney reports whether an amount of money is in the document.
func (d *Document) ShowsMoney() bool {
	var all bytes.Buffer
	err := d.Write(&all, FormatMarkdown, Options{})
	return err == nil && bytes.Contains(all.Bytes(), []byte(money))
}

// Tables returns the tables of the document in order, those for programs only last.
func (d *Document) Tables() []*Table {
	var tables []*Table
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			if t, ok := b.(*Table); ok {
				tables = append(tables, t)
			}
		}
	}
	tables = append(tables, d.data...)
	return slices.DeleteFunc(slices.Clone(tables), func(t *Table) bool {
		return t.view && slices.ContainsFunc(tables, func(o *Table) bool { return !o.view && o.ID == t.ID })
	})
}

// DataTables returns the tables that JSON has.
func (d *Document) DataTables() []*Table {
	return slices.DeleteFunc(d.Tables(), func(t *Table) bool { return t.view })
}

// Options say how a document is written. The zero value is the default.
type Options struct {
	Width int // columns that running text is wrapped at; 0 is 100

	// Columns is how wide a table in text may be; 0 is any width. A wider one has its
	// headings and texts wrapped or cut, then loses columns, and says which.
	Columns int

	Details bool // text only: details are not left out
	Fold    bool // Markdown only: sections but the first are folded, for comments
	Bold    bool // text only: headings are set in bold by terminal sequences

	brief bool // the document is written short
}

func (o Options) width() int {
	if o.Width <= 0 {
		return 100
	}
	return o.Width
}

// Write writes d in the given format. CSV is the first table alone, JSON Lines are the rows
// of all; see Table for these. The error is that of w, or names an unknown format.
func (d *Document) Write(w io.Writer, format Format, o Options) error {
	switch format {
	case FormatText:
		return d.writeText(w, o)
	case FormatMarkdown:
		return d.writeMarkdown(w, o)
	case FormatHTML:
		return d.WriteHTML(w)
	case FormatLaTeX:
		return d.writeLaTeX(w)
	case FormatCSV:
		return d.writeCSV(w)
	case FormatJSONLines:
		return writeJSONLines(w, d.DataTables())
	case FormatJSON:
		return d.writeJSON(w)
	}
	return fmt.Errorf("report: unknown format %q", format)
}
