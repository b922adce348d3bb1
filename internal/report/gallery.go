package report

// Gallery is pictures beside each other in HTML, each with its name above and sentences
// below it; the other formats leave it out, because they cannot hold it. What it shows must
// also stand in a table or a text.
type Gallery []Card

// Card is one picture of a Gallery.
type Card struct {
	Title   string // from the traces, such as the name of a tool
	Picture Picture
	Lines   []string
}

func (Gallery) writeText(*lines, Options)     {}
func (Gallery) writeMarkdown(*lines, Options) {}

func (g Gallery) writeHTML(w *lines) {
	w.line(`<div class="gallery">`)
	for _, c := range g {
		w.line("<figure>")
		w.line("<figcaption><h3><code>" + htmlText(c.Title) + "</code></h3>")
		if len(c.Lines) > 0 {
			List(c.Lines).writeHTML(w)
		}
		w.line("</figcaption>")
		w.line(`<div role="img" aria-label="` + htmlText(c.Picture.Alt) + `">`)
		w.line(c.Picture.inline())
		w.line("</div>")
		w.line("</figure>")
	}
	w.line("</div>")
}
