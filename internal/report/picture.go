package report

import "bytes"

// Picture is a figure in HTML output; the other formats leave it out, because
// they cannot hold one. SVG is trusted: it comes from package plot, which
// escapes names.
type Picture struct {
	Alt string // what it shows, for readers who do not see it
	SVG []byte
	// Links says that parts of it can be chosen: it is a group of links then, and not
	// one image.
	Links bool
}

func (p Picture) writeText(*lines, Options)     {}
func (p Picture) writeMarkdown(*lines, Options) {}

// inline returns the element alone: what stands before it belongs to a file.
func (p Picture) inline() string {
	i := bytes.Index(p.SVG, []byte("<svg"))
	if i < 0 {
		return ""
	}
	return string(bytes.TrimSpace(p.SVG[i:]))
}
