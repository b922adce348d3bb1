package gateway

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/sealed"
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/trace"
)

// What is done about definitions that are not the ones that were approved.
const (
	PinsOpen   = "open"   // nothing
	PinsWarn   = "warn"   // they are logged
	PinsPinned = "pinned" // their tools are withheld
)

// Policy says which tools are offered. The zero value offers all.
type Policy struct {
	Pins     string   `json:"policy"`             // "" is PinsWarn
	Allow    []string `json:"allow,omitempty"`    // globs of names as they are shown; none allows all
	Deny     []string `json:"deny,omitempty"`     // before Allow
	Ask      []string `json:"ask,omitempty"`      // the user is asked before each call
	Disabled []string `json:"disabled,omitempty"` // meta-tools and prefetch rules
}

// CodePolicy is the code of problems with a policy.
const CodePolicy = "serve-policy"

// ParsePolicy reads a policy from YAML.
func ParsePolicy(file string, src []byte) (*Policy, diag.List) {
	out := &Policy{}
	doc, problems := yamlsrc.Parse(file, src, yamlsrc.Options{})
	p := serverParser{problems: problems, lookup: func(string) (string, bool) { return "", false }}
	if doc.Root == nil || doc.Root.IsNull() {
		return out, problems
	}
	if doc.Root.Kind != yamlsrc.Mapping {
		p.report(doc.Root.Pos, CodePolicy, "a policy is a mapping with policy, allow, deny, ask and disabled")
		return nil, p.problems
	}
	lists := map[string]*[]string{"allow": &out.Allow, "deny": &out.Deny, "ask": &out.Ask, "disabled": &out.Disabled}
	for _, e := range doc.Root.Entries {
		list := lists[e.Key.Text]
		switch {
		case list != nil:
			p.each(doc.Root, e.Key.Text, yamlsrc.Sequence, func(item *yamlsrc.Entry) {
				if _, err := path.Match(item.Value.Text, ""); err != nil || item.Value.Kind != yamlsrc.Scalar {
					p.report(item.Value.Pos, CodePolicy, "this is not a name or a pattern of names, such as get_*")
				}
				*list = append(*list, item.Value.Text)
			})
		case e.Key.Text == "policy":
			if out.Pins = e.Value.Text; !slices.Contains([]string{PinsOpen, PinsWarn, PinsPinned}, out.Pins) {
				p.report(e.Value.Pos, CodePolicy, "\"policy\" is open, warn or pinned")
			}
		default:
			p.report(e.Key.Pos, CodePolicy, "a policy has policy, allow, deny, ask and disabled, not this")
		}
	}
	p.problems.Sort()
	if p.problems.Err() != nil {
		return nil, p.problems
	}
	return out, p.problems
}

func matches(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		is, err := path.Match(glob, name)
		return is && err == nil
	})
}

// Policy returns the policy that is in force.
func (g *Gateway) Policy() *Policy { return g.policy.Load() }

// SetPolicy puts a policy in force, in all sessions at once.
func (g *Gateway) SetPolicy(p *Policy) {
	g.policy.Store(cmp.Or(p, &Policy{}))
	g.mu.Lock()
	defer g.mu.Unlock()
	for s := range g.open {
		s.lists.Add(1)
		go s.changed(&toolsChanged) // its agent may be slow to hear it
	}
}

// Pins are the definitions that were approved, or first seen, in a file.
type Pins struct {
	mu      sync.Mutex
	file    string
	Servers map[string]map[string]string `json:"servers"` // hashes of tools
}

// ReadPins reads a file of pins; one that is not there has none.
func ReadPins(file string) (*Pins, error) {
	p := &Pins{file: file, Servers: map[string]map[string]string{}}
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(src, p) != nil || p.Servers == nil {
		return nil, diag.New(diag.Pos{File: file}, CodePolicy, "this is not a file that `awo serve --approve` wrote")
	}
	return p, nil
}

// Approve pins the definitions of tools in place of all others, and writes the file.
func (p *Pins) Approve(tools []*Tool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Servers = map[string]map[string]string{}
	for _, t := range tools {
		p.pin(t)
	}
	return p.write()
}

func (p *Pins) pin(t *Tool) {
	if p.Servers[t.Server] == nil {
		p.Servers[t.Server] = map[string]string{}
	}
	p.Servers[t.Server][t.Name] = t.hash()
}

func (p *Pins) write() error {
	data, err := json.MarshalIndent(map[string]any{"schema": "awo.pins/v1", "servers": p.Servers}, "", "  ")
	if err != nil {
		return err
	}
	return sealed.Replace(p.file, append(data, '\n'))
}

// changed returns the tools whose definitions are not the pinned ones. Tools of a server
// that has none are pinned, and kept if keep says so.
func (p *Pins) changed(tools []*Tool, keep bool) (changed map[*Tool]bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed, known := map[*Tool]bool{}, map[string]bool{}
	for server := range p.Servers {
		known[server] = true
	}
	wrote := false
	for _, t := range tools {
		switch {
		case !known[t.Server] && keep:
			p.pin(t)
			wrote = true
		case !known[t.Server]:
		case p.Servers[t.Server][t.Name] != t.hash():
			changed[t] = true
		}
	}
	if wrote {
		err = p.write()
	}
	return changed, err
}

// hash returns the hash of what the server says of the tool, however it is written and
// shown.
func (t *Tool) hash() string {
	d := replaced(t.Definition, "name", quoted(t.Name))
	if v, err := trace.ParseValue(d); err == nil {
		d = v.AppendCanonical(nil)
	}
	sum := sha256.Sum256(d)
	return hex.EncodeToString(sum[:])
}

// NotAllowed is why a tool that a policy denies is refused; other reasons are about its pin.
const NotAllowed = "the policy does not allow it"

// permitted returns the tools that the policy lets through; of the others it notes why not.
func (s *session) permitted(all []*Tool) (out []*Tool) {
	p := s.g.Policy()
	var changed map[*Tool]bool
	if pins := s.g.options.Pins; pins != nil && p.Pins != PinsOpen {
		var there []*Tool
		for _, t := range all {
			t.up.mu.Lock()
			if t.up.reason == "" && !t.up.recalled { // else it is what was there last time
				there = append(there, t)
			}
			t.up.mu.Unlock()
		}
		var err error
		_, checks := s.agent.(nobody)
		if changed, err = pins.changed(there, !checks); err != nil {
			s.g.log.Info("what servers say of their tools is not kept, so nobody can tell whether it changes", "reason", err)
		}
	}
	for _, t := range all {
		if changed[t] {
			if key := t.Shown + t.hash(); !s.warned[key] {
				s.warned[key] = true
				s.g.log.Warn("the definition of a tool is not the approved one", "server", t.Server, "tool", t.Name, "withheld", p.Pins == PinsPinned)
			}
		}
		switch {
		case changed[t] && p.Pins == PinsPinned:
			t.Refused = "its definition is not the approved one (`awo serve --approve` approves it)"
		case matches(p.Deny, t.Shown), p.Allow != nil && !matches(p.Allow, t.Shown):
			t.Refused = NotAllowed
		default:
			t.Ask = matches(p.Ask, t.Shown)
			out = append(out, t)
		}
	}
	return out
}
