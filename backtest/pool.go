package backtest

import (
	"reflect"
	"slices"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/replay"
)

// pool is the meta-tools of all ways of compiling and choosing, each once: several ways
// mostly give the same, and where they occur is looked for once for all.
type pool struct {
	tools  []*metatool.Tool
	byName map[string][]int
}

// add returns the number of a meta-tool in the pool.
func (p *pool) add(t *metatool.Tool) int {
	for _, i := range p.byName[t.Name] {
		if p.tools[i] == t || sameTool(p.tools[i], t) {
			return i
		}
	}
	if p.byName == nil {
		p.byName = map[string][]int{}
	}
	p.byName[t.Name] = append(p.byName[t.Name], len(p.tools))
	p.tools = append(p.tools, t)
	return len(p.tools) - 1
}

func sameTool(a, b *metatool.Tool) bool {
	return a.Description == b.Description && reflect.DeepEqual(a.Steps, b.Steps) && reflect.DeepEqual(a.Inputs, b.Inputs) && slices.Equal(a.Output.Steps, b.Output.Steps)
}

// finder returns what finds all of them.
func (p *pool) finder() *replay.Finder { return replay.NewFinder(p.tools) }
