package cli

import (
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/plot"
)

// WriteFigures writes figures into a folder, each as SVG and PNG.
func WriteFigures(figures []*plot.Figure, dir string) error {
	var files []emit.File
	for _, figure := range figures {
		svg, err := figure.SVG()
		if err != nil {
			return err
		}
		png, err := figure.PNG()
		if err != nil {
			return err
		}
		files = append(files, emit.File{Name: figure.Name + ".svg", Data: svg}, emit.File{Name: figure.Name + ".png", Data: png})
	}
	return emit.Write(dir, files)
}
