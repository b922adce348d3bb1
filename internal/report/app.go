package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
)

// AppName names a part of a page that a script draws; see page/page.js.
type AppName string

// The apps.
const (
	AppProcessMap AppName = "process-map"
	AppTimelines  AppName = "timelines"
)

// App is a part of a page that a script draws from data, where scripts run. Other
// formats leave it out. What it shows must also stand in a table or a text beside it,
// for those who print the page or read it without scripts.
type App struct {
	name AppName
	data []byte // JSON without <, > and &
}

// NewApp returns an App over v. The error is that of v as JSON.
func NewApp(name AppName, v any) (App, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return App{}, fmt.Errorf("report: data of %s: %w", name, err)
	}
	return App{name, data}, nil
}

func (a App) writeText(*lines, Options)     {}
func (a App) writeMarkdown(*lines, Options) {}

func (a App) writeHTML(w *lines) {
	w.line(`<div class="app" data-app="` + htmlText(string(a.name)) + `">`)
	w.line(`<script type="application/json">` + string(a.data) + `</script>`)
	w.line(`<noscript><p>This part is drawn by a script, which does not run here. The tables of the section say the same.</p></noscript>`)
	w.line("</div>")
}

//go:embed page/page.js
var pageScript string

//go:embed page/vendor/dagre.min.js
var dagreScript string

// scripts returns what runs in the page: the libraries that its apps need, and then
// its own.
func (d *Document) scripts() []string {
	scripts := []string{pageScript}
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			if a, ok := b.(App); ok && a.name == AppProcessMap {
				return slices.Insert(scripts, 0, dagreScript)
			}
		}
	}
	return scripts
}

// policy returns the Content-Security-Policy of a page that may run these scripts and have
// this style and nothing else, whatever a name in it looks like, and load nothing.
func policy(style string, scripts []string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	text := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(style) + "; script-src"
	for _, s := range scripts {
		text += " " + hash(s)
	}
	return text
}
