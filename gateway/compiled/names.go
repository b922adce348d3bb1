package compiled

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/gateway"
)

// ownServer is what clients call a gateway whose configuration awo printed: traces of
// these clients name tools behind it so.
const ownServer = "awo"

// names finds tools by what traces call them.
type names struct {
	aliases map[string][]*gateway.Tool
	exact   map[string][]*gateway.Tool
	long    map[string][]*gateway.Tool // with the server in front, as clients write it
}

// unusual are the characters that clients replace in names of servers.
var unusual = regexp.MustCompile(`[^A-Za-z0-9_-]`)

func newNames(tools []*gateway.Tool, servers []gateway.Server) *names {
	n := &names{aliases: map[string][]*gateway.Tool{}, exact: map[string][]*gateway.Tool{}, long: map[string][]*gateway.Tool{}}
	at := map[[2]string]*gateway.Tool{}
	for _, t := range tools {
		at[[2]string{t.Server, t.Name}] = t
		add(n.exact, t.Name, t)
		add(n.exact, t.Shown, t)
		for _, server := range []string{t.Server, unusual.ReplaceAllString(t.Server, "_")} {
			for _, form := range []string{"mcp__%s__%s", "%s__%s", "%s.%s"} {
				add(n.long, fmt.Sprintf(form, server, t.Name), t)
			}
		}
		add(n.long, "mcp__"+ownServer+"__"+t.Shown, t)
	}
	for i := range servers {
		for _, a := range servers[i].Aliases {
			if t := at[[2]string{servers[i].Name, a.Tool}]; t != nil {
				add(n.aliases, a.InTraces, t)
			}
		}
	}
	return n
}

func add(to map[string][]*gateway.Tool, name string, t *gateway.Tool) {
	if !slices.Contains(to[name], t) {
		to[name] = append(to[name], t)
	}
}

// find returns the tool that traces call by a name, or why there is none: an alias, the
// name itself, or the name with the server's in front.
func (n *names) find(name string) (t *gateway.Tool, why string) {
	for _, by := range []map[string][]*gateway.Tool{n.aliases, n.exact, n.long} {
		switch found := by[name]; {
		case len(found) == 1:
			return found[0], ""
		case len(found) > 1:
			var servers []string
			for _, t := range found {
				servers = append(servers, t.Server)
			}
			return nil, fmt.Sprintf("several servers have a tool %s (%s): an alias in the file of servers says which is meant", name, strings.Join(servers, ", "))
		}
	}
	return nil, fmt.Sprintf("no server has a tool %s", name)
}
