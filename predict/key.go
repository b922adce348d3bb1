package predict

import (
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// Of a list of records the one that is meant is often the one with the name of what
// the tool belongs to: the password of `mail` for `mail_login`. A path with an open
// filter says so, `$[?@.account_name == ?].password`: the key is a part of the name
// of the tool that is called, so no value has to be kept.

// maxNameWords bounds the parts of a name.
const maxNameWords = 12

// nameParts returns what stands between word boundaries of a name: of mail_login
// mail, mail_login and login.
func nameParts(name string) []string {
	var from, to []int
	for i := 0; i < len(name); {
		if !alphanumeric(name[i]) {
			i++
			continue
		}
		start := i
		for i < len(name) && alphanumeric(name[i]) {
			i++
		}
		from, to = append(from, start), append(to, i)
	}
	var parts []string
	for i := 0; i < len(from) && i < maxNameWords; i++ {
		for j := i; j < len(to) && j < maxNameWords; j++ {
			parts = append(parts, name[from[i]:to[j]])
		}
	}
	return parts
}

// isOpen reports whether a path has a filter that the name closes.
func isOpen(p jsonpath.Path) bool {
	for i := range p {
		if p[i].Open {
			return true
		}
	}
	return false
}

// byName returns what an open path selects for a tool; false unless it is one value.
func byName(p jsonpath.Path, held trace.Value, tool trace.Name) (trace.Value, bool) {
	parts := nameParts(nameText(tool))
	if len(parts) == 0 {
		return trace.Value{}, false
	}
	var found []trace.Value
	bound := p.Bind(trace.NewString(parts[0]))
	for _, part := range parts {
		for i := range bound {
			if p[i].Open {
				bound[i].Value = trace.NewString(part)
			}
		}
		found = append(found, bound.Eval(held)...)
	}
	if len(found) != 1 || found[0].Kind == trace.Null {
		return trace.Value{}, false
	}
	return found[0], true
}

// openable is a path through one list of records, beside which there may be open paths.
type openable struct {
	list, leaf string
	each       jsonpath.Path // of the records; nil if the path is another
}

func openableOf(path string) openable {
	list, leaf, ok := strings.Cut(path, "[*]")
	if !ok || strings.Contains(leaf, "[*]") || leaf == "" {
		return openable{}
	}
	each, err := jsonpath.Parse(list + "[*]")
	if err != nil {
		return openable{}
	}
	return openable{list, leaf, each}
}

// paths returns the open paths: for every member of a record that names a part of a tool's
// name.
//
// room is memory for the records, which is given back.
func (o *openable) paths(held trace.Value, parts []string, room *[]trace.Value) []string {
	var out []string
	*room = o.each.AppendEval((*room)[:0], held)
	for _, record := range *room {
		for i := range record.Members {
			m := &record.Members[i]
			if m.Value.Kind != trace.String {
				continue
			}
			for _, part := range parts {
				if m.Value.Text == part && identifier(m.Name) {
					out = append(out, o.list+"[?@."+m.Name+" == ?]"+o.leaf)
				}
			}
		}
		if len(out) > 0 {
			break // records are alike
		}
	}
	return out
}

// identifier reports whether a name stands in paths as it is; others may be data.
func identifier(name string) bool {
	for i := range len(name) {
		if c := name[i]; !alphanumeric(c) && c != '_' || i == 0 && c <= '9' {
			return false
		}
	}
	return name != ""
}
