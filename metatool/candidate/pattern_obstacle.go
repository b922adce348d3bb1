package candidate

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/merge"
)

// Obstacle says why calls in a row are no pattern. Codes are stable:
//
//	call-unbound      call Step failed, or rules made it of several
//	call-repeated     call Step is made again with the same arguments
//	argument-unknown  Argument of call Step is not known when the first call is made
//	list-walked       the calls are part of a longer walk over a list
type Obstacle struct {
	Code     string // "" for none
	Argument string // of that call
	Step     int
}

// Obstacles returns a function that reads steps of the walks, given by the place
// of each, as a pattern would. It returns their symbols, equal for steps that are
// the same pattern, or what is in the way. The function belongs to one goroutine.
func (p *Patterns) Obstacles() func(steps []merge.Place) (symbols string, o Obstacle) {
	f := newForms(p)
	return func(steps []merge.Place) (string, Obstacle) {
		s, found := slices.BinarySearch(p.place, place(steps[0]))
		if !found {
			return "", Obstacle{Code: "list-walked"}
		}
		var b []byte
		each := uint16(0)
		for k, at := range steps {
			if s+k >= len(p.place) || p.place[s+k] != place(at) {
				return "", Obstacle{Code: "list-walked", Step: k}
			}
			sig := p.symbol[s+k]
			if sig == noSymbol {
				return "", Obstacle{Code: "call-unbound", Step: k}
			}
			id := f.of(sig, k, each)
			if id == noSymbol {
				return "", p.obstacle(f, &p.signatures[sig], k, each)
			}
			if each <<= 1; f.list[id].each {
				each |= 1
			}
			b = binary.LittleEndian.AppendUint32(b, uint32(id))
		}
		return string(b), Obstacle{}
	}
}

// obstacle says why a pattern cannot have a step as its k-th.
func (p *Patterns) obstacle(f *forms, s *signature, k int, each uint16) Obstacle {
	if s.again > 0 && int(s.again) <= k {
		return Obstacle{Code: "call-repeated", Step: k}
	}
	for i := range s.args {
		one := signature{tool: s.tool, many: s.many && i == s.each, args: s.args[i : i+1]}
		if f.make(&one, uint8(k), each) == noSymbol {
			return Obstacle{Code: "argument-unknown", Argument: p.argument(s.tool, s.args[i].param), Step: k}
		}
	}
	return Obstacle{Code: "argument-unknown", Step: k} // several walk lists
}

// argument returns the name of a tool's argument by its hash.
func (p *Patterns) argument(tool int32, param uint64) string {
	for l, t := range p.toolOf {
		if t != tool {
			continue
		}
		for _, arg := range p.merged.Labels.Args(merge.Label(l)) {
			path := jsonpath.Path{{Kind: jsonpath.Member, Name: arg.Name}}.String()
			if hashParam(tool, strings.TrimPrefix(path, "$")) == param {
				return arg.Name
			}
		}
	}
	return ""
}
