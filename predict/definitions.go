package predict

import (
	"slices"
	"sync"

	"github.com/awo-dev/awo/trace"
)

// The bounds of definitions that are remembered: lists, and bytes of each.
const (
	knownLists = 128
	knownText  = 256 << 10
)

// definitions remembers what lists of definitions say, the latest first: most
// trajectories offer one of a few. It may be used concurrently.
type definitions struct {
	mu    sync.Mutex
	lists trace.ToolLists[[]ToolInfo]
}

// read returns what the definitions of one trajectory say, which is shared and not
// to be written to.
func (d *definitions) read(defs []trace.ToolDef) []ToolInfo {
	if len(defs) == 0 {
		return nil
	}
	if infos, ok := d.recall(defs); ok {
		return infos
	}
	infos, size := make([]ToolInfo, len(defs)), 0
	for i := range defs {
		infos[i] = infoOf(&defs[i])
		size += len(defs[i].Description.Data) + len(defs[i].Input.Data)
	}
	if size <= knownText {
		d.keep(defs, infos)
	}
	return infos
}

func (d *definitions) recall(defs []trace.ToolDef) ([]ToolInfo, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lists.Of(defs)
}

func (d *definitions) keep(defs []trace.ToolDef, infos []ToolInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lists.Keep(defs, infos, knownLists)
}

// infoOf reads a definition.
func infoOf(d *trace.ToolDef) ToolInfo {
	info := ToolInfo{Name: d.Name, Description: d.Description.Text()}
	if d.Input.IsZero() {
		return info
	}
	schema, err := trace.ParseValue([]byte(d.Input.Text()))
	if err != nil || schema.Kind != trace.Object {
		return info
	}
	info.Schema = true
	if list, ok := schema.Lookup("required"); ok {
		for _, e := range list.Elems {
			if e.Kind == trace.String {
				info.Required = append(info.Required, e.Text)
			}
		}
	}
	if properties, ok := schema.Lookup("properties"); ok {
		for _, m := range properties.Members {
			info.Params = append(info.Params, m.Name)
		}
	}
	slices.Sort(info.Required)
	slices.Sort(info.Params)
	return info
}
