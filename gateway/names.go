package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxName is how long a name that is made here may be: clients refuse longer ones.
const maxName = 64

// place says where something is that a name stands for.
type place struct {
	up   *upstream
	name string // there
}

// numberID returns a number as the id of a request.
func numberID(n int64) jsonrpc.ID {
	id, _ := jsonrpc.MakeID(float64(n))
	return id
}

func quotedNumber(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// merged returns the definitions of all servers in their order, and where what key says of
// them leads: a name, or the address of a resource, which has no prefix. Names follow from the configuration alone, never from which servers are up: else
// what a client allows would change with it. Of a name that two servers have all the same,
// because the configuration wants no prefixes, the first server has it; so it is with addresses.
func merged(ups []*upstream, lists [][]json.RawMessage, key string) (out []json.RawMessage, places map[string]place) {
	places = map[string]place{}
	for i, list := range lists {
		for _, definition := range list {
			name := text(member(definition, key))
			shown := name
			if prefix := ups[i].server.Prefix; prefix != "" && key == "name" {
				shown = prefixed(prefix, name)
				definition = replaced(definition, "name", quoted(shown))
			}
			if p, taken := places[shown]; taken && p.up != ups[i] {
				continue
			}
			if _, taken := places[shown]; !taken {
				places[shown] = place{ups[i], name}
			}
			out = append(out, definition)
		}
	}
	return out, places
}

// Prefixes says whether names of tools and prompts have their server's in front.
type Prefixes string

// The choices.
const (
	PrefixesAuto   Prefixes = "auto"   // where there are several servers
	PrefixesAlways Prefixes = "always" // also of one server
	PrefixesNever  Prefixes = "never"
)

// withPrefixes returns servers with the prefix that each has, unless its configuration
// says which.
func withPrefixes(servers []Server, p Prefixes) []Server {
	out := slices.Clone(servers)
	for i := range out {
		if !out[i].HasPrefix && (p == PrefixesAlways || p != PrefixesNever && len(out) > 1) {
			out[i].Prefix = out[i].Name
		}
	}
	return out
}

// prefixed returns PREFIX_NAME, in letters that names of tools may have.
func prefixed(prefix, name string) string {
	whole := prefix + "_" + name
	if len(whole) <= maxName {
		return whole
	}
	return shortened(whole, whole)
}

// shortened ends a name with a hash of another, so that it keeps to maxName.
func shortened(name, of string) string {
	sum := sha256.Sum256([]byte(of))
	end := "_" + hex.EncodeToString(sum[:4])
	return strings.ToValidUTF8(name[:min(len(name), maxName-len(end))], "") + end
}

// underTemplate reports whether an address can be one of a template's: it begins and
// ends like it.
func underTemplate(uri, template string) bool {
	before, rest, ok := strings.Cut(template, "{")
	if !ok {
		return uri == template
	}
	after := rest[strings.LastIndex(rest, "}")+1:]
	return len(uri) >= len(before)+len(after) && strings.HasPrefix(uri, before) && strings.HasSuffix(uri, after)
}
