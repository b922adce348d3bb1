package gateway

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// Codes of problems with a configuration. They are stable.
const (
	CodeShape    = "servers-shape"    // something is not what the file wants there
	CodeName     = "servers-name"     // a server's name is unusable
	CodeMissing  = "servers-missing"  // a server without command and url, or no server
	CodeVariable = "servers-variable" // a variable that is not set, or cannot be filled in
	CodeURL      = "servers-url"      // no address of a server
	CodeMember   = "servers-member"   // a member that a server does not have
)

// Server is one server that the relay connects to.
type Server struct {
	Name string
	Pos  diag.Pos

	Command string // a process that speaks on its standard streams; or
	Args    []string
	Env     []string // NAME=VALUE, beside what is inherited
	Dir     string
	Bare    bool // inherits nothing of the environment but PATH, HOME and the like

	URL     string // an address that speaks streamable HTTP
	Headers []Header

	// Secrets are the values of variables in its configuration, which recordings never show.
	Secrets []string

	Timeout time.Duration // of calls that the gateway makes itself; 0 is the gateway's
	Aliases []Alias
	Reads   []string // globs of tools that only read, whatever their annotations say
	Shared  bool     // all sessions share one connection; else each has its own

	// Prefix stands before the names of its tools and prompts, with a _ between; "" is none.
	// HasPrefix says that the configuration names it.
	Prefix    string
	HasPrefix bool
}

// Alias is a name that traces have for a tool of the server.
type Alias struct{ InTraces, Tool string }

// ReadsOnly reports whether the configuration says that a tool only reads.
func (s *Server) ReadsOnly(tool string) bool {
	return slices.ContainsFunc(s.Reads, func(glob string) bool {
		is, err := path.Match(glob, tool)
		return is && err == nil
	})
}

// Header is a header that every request to a server gets.
type Header struct{ Name, Value string }

// members are what a server may have, and membersOfClients what clients write into the
// same files for themselves.
var (
	members          = []string{"command", "args", "env", "cwd", "type", "url", "headers", "disabled", "awo"}
	membersOfClients = []string{
		"alwaysAllow", "autoApprove", "description", "dev", "disabledTools", "enabled", "envFile", "excludeTools", "gallery",
		"icon", "includeTools", "metadata", "name", "oauth", "timeout", "tools", "transport", "trust", "version",
	}
)

// minSecret is how long the value of a variable is that is taken for a secret: shorter ones
// stand in too many places.
const minSecret = 6

// serverName is what a server may be called: its name begins names of tools.
var serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$`)

// ParseServers reads the usual file of servers: an object with "mcpServers" (or
// "servers"), in it for each name "command", "args", "env" and "cwd", or "url" and
// "headers". Servers that are "disabled" are left out; members that only clients know
// pass, and others are problems. ${NAME} and ${NAME:-default} in texts become what lookup has. The order is that
// of the file. All problems are returned, and no servers with an error among them.
func ParseServers(file string, src []byte, lookup func(string) (string, bool)) ([]Server, diag.List) {
	doc, problems := yamlsrc.Parse(file, src, yamlsrc.Options{})
	p := serverParser{lookup: lookup, problems: problems}
	var out []Server
	switch {
	case doc.Root != nil:
		out = p.servers(doc.Root)
	case len(problems) == 0:
		p.report(diag.Pos{File: file, Line: 1, Col: 1}, CodeMissing, "the file is empty: it begins with {\"mcpServers\": {...}}")
	}
	p.problems.Sort()
	if p.problems.Err() != nil {
		return nil, p.problems
	}
	return out, p.problems
}

type serverParser struct {
	lookup   func(string) (string, bool)
	problems diag.List
	secrets  []string // values of variables, since it was emptied
}

func (p *serverParser) report(pos diag.Pos, code, format string, args ...any) *diag.Error {
	e := diag.New(pos, code, format, args...)
	p.problems = append(p.problems, e)
	return e
}

func (p *serverParser) servers(root *yamlsrc.Node) (out []Server) {
	var list *yamlsrc.Node
	if root.Kind == yamlsrc.Mapping {
		if list = root.Lookup("mcpServers"); list == nil {
			list = root.Lookup("servers")
		}
	}
	if list == nil || list.Kind != yamlsrc.Mapping {
		pos := root.Pos
		if list != nil {
			pos = list.Pos
		}
		p.report(pos, CodeShape, "servers stand in an object \"mcpServers\", by name")
		return nil
	}
	seen := map[string]bool{}
	for _, e := range list.Entries {
		if !serverName.MatchString(e.Key.Text) {
			p.report(e.Key.Pos, CodeName, "a server's name is of up to 40 letters, digits, dots, - and _, a letter or digit first")
			continue
		}
		if key := strings.ToLower(e.Key.Text); seen[key] {
			p.report(e.Key.Pos, CodeName, "two servers have this name, but for capitals")
			continue
		} else {
			seen[key] = true
		}
		if e.Value.Kind != yamlsrc.Mapping {
			p.report(e.Value.Pos, CodeShape, "a server is an object, this is %s", e.Value.Kind)
			continue
		}
		if off := e.Value.Lookup("disabled"); off != nil {
			if v, ok := off.Bool(); !ok {
				p.report(off.Pos, CodeShape, "\"disabled\" is true or false")
			} else if v {
				continue
			}
		}
		if s, ok := p.server(e.Key.Text, e.Value); ok {
			out = append(out, s)
		}
	}
	if len(out) == 0 && p.problems.Err() == nil {
		p.report(list.Pos, CodeMissing, "there is no server, or all are disabled")
	}
	return out
}

func (p *serverParser) server(name string, n *yamlsrc.Node) (Server, bool) {
	p.secrets = nil
	s := Server{Name: name, Pos: n.Pos, Command: p.text(n, "command"), Dir: p.text(n, "cwd"), URL: p.text(n, "url")}
	kind := p.text(n, "type")
	switch command, address := n.Lookup("command"), n.Lookup("url"); {
	case command == nil && address == nil:
		p.report(n.Pos, CodeMissing, "a server has a \"command\" or a \"url\"")
		return s, false
	case command != nil && address != nil:
		p.report(address.Pos, CodeShape, "a server has a \"command\" or a \"url\", not both")
		return s, false
	case kind == "sse":
		p.report(n.Lookup("type").Pos, CodeShape, "the transport \"sse\" of 2024 is not supported: servers speak \"http\" or on their standard streams")
		return s, false
	case address != nil:
		if u, err := url.Parse(s.URL); s.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			p.report(address.Pos, CodeURL, "this is no http:// or https:// address")
		}
	}
	p.each(n, "args", yamlsrc.Sequence, func(e *yamlsrc.Entry) { s.Args = append(s.Args, p.expand(e.Value)) })
	p.each(n, "env", yamlsrc.Mapping, func(e *yamlsrc.Entry) { s.Env = append(s.Env, e.Key.Text+"="+p.expand(e.Value)) })
	p.each(n, "headers", yamlsrc.Mapping, func(e *yamlsrc.Entry) {
		s.Headers = append(s.Headers, Header{e.Key.Text, p.expand(e.Value)})
	})
	s.Secrets = p.secrets
	if own := n.Lookup("awo"); own != nil {
		p.own(own, &s)
	}
	for _, e := range n.Entries {
		if !slices.Contains(members, e.Key.Text) && !slices.Contains(membersOfClients, e.Key.Text) {
			p.unknown(e.Key, CodeMember, "a server has no such member", members)
		}
	}
	return s, true
}

// own reads what is said to the relay about a server.
func (p *serverParser) own(n *yamlsrc.Node, s *Server) {
	if n.Kind != yamlsrc.Mapping {
		p.report(n.Pos, CodeShape, "\"awo\" is an object, this is %s", n.Kind)
		return
	}
	for _, e := range n.Entries {
		switch e.Key.Text {
		case "inherit":
			v, ok := e.Value.Bool()
			if !ok {
				p.report(e.Value.Pos, CodeShape, "\"inherit\" is true or false")
			}
			s.Bare = ok && !v
		case "timeout":
			d, err := time.ParseDuration(p.expand(e.Value))
			if err != nil || d <= 0 {
				p.report(e.Value.Pos, CodeShape, "\"timeout\" is a time such as \"30s\"")
			}
			s.Timeout = max(d, 0)
		case "sessions":
			of := p.expand(e.Value)
			if s.Shared = of == "shared"; !s.Shared && of != "own" {
				p.report(e.Value.Pos, CodeShape, "\"sessions\" is \"own\" or \"shared\"")
			}
		case "prefix":
			if s.Prefix, s.HasPrefix = p.expand(e.Value), true; s.Prefix != "" && !serverName.MatchString(s.Prefix) {
				p.report(e.Value.Pos, CodeName, "a prefix has up to 40 letters, digits, dots, - and _, a letter or digit first, or is empty")
			}
		case "reads":
			p.each(n, "reads", yamlsrc.Sequence, func(e *yamlsrc.Entry) {
				glob := p.expand(e.Value)
				if _, err := path.Match(glob, ""); err != nil {
					p.report(e.Value.Pos, CodeShape, "this is no pattern of names, such as get_*")
				}
				s.Reads = append(s.Reads, glob)
			})
		case "aliases":
			p.each(n, "aliases", yamlsrc.Mapping, func(a *yamlsrc.Entry) {
				s.Aliases = append(s.Aliases, Alias{a.Key.Text, p.expand(a.Value)})
			})
		default:
			p.unknown(e.Key, CodeShape, "\"awo\" has no such member", []string{"aliases", "inherit", "prefix", "reads", "sessions", "timeout"})
		}
	}
}

// unknown reports a member that is none of those known.
func (p *serverParser) unknown(key *yamlsrc.Node, code, text string, known []string) {
	problem := p.report(key.Pos, code, "%s", text)
	if near := diag.Nearest(key.Text, known); near != "" {
		problem.Note(diag.Pos{}, "did you mean %q?", near)
	}
}

// each calls use with the entries of a member of a kind, if there is one.
func (p *serverParser) each(n *yamlsrc.Node, name string, kind yamlsrc.Kind, use func(*yamlsrc.Entry)) {
	list := n.Lookup(name)
	switch {
	case list == nil || list.IsNull():
	case list.Kind != kind:
		p.report(list.Pos, CodeShape, "%q is %s, this is %s", name, kind, list.Kind)
	default:
		for _, e := range list.Entries {
			use(e)
		}
	}
}

// text returns a member that is a text, expanded.
func (p *serverParser) text(n *yamlsrc.Node, name string) string {
	if v := n.Lookup(name); v != nil {
		return p.expand(v)
	}
	return ""
}

// variable matches what stands for a value from elsewhere.
var variable = regexp.MustCompile(`\$\{([^}]*)\}`)

var variableName = regexp.MustCompile(`^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?:(:-)(.*))?$`)

// expand returns a text with the values of its variables.
func (p *serverParser) expand(n *yamlsrc.Node) string {
	if n.Kind != yamlsrc.Scalar {
		p.report(n.Pos, CodeShape, "this is a text, not %s", n.Kind)
		return ""
	}
	var out strings.Builder
	last := 0
	for _, at := range variable.FindAllStringSubmatchIndex(n.Text, -1) {
		out.WriteString(n.Text[last:at[0]])
		last = at[1]
		name := variableName.FindStringSubmatch(n.Text[at[2]:at[3]])
		if name == nil {
			p.report(n.PosAt(at[0]), CodeVariable, "this variable cannot be filled in: only ${NAME} and ${NAME:-default} can")
			continue
		}
		value, ok := p.lookup(name[1])
		switch {
		case ok && (value != "" || name[2] == ""):
			out.WriteString(value)
			if len(value) >= minSecret && !slices.Contains(ordinary, name[1]) {
				p.secrets = append(p.secrets, value)
			}
		case name[2] != "":
			out.WriteString(name[3])
		default:
			p.report(n.PosAt(at[0]), CodeVariable, "the variable %s is not set", name[1])
		}
	}
	out.WriteString(n.Text[last:])
	return out.String()
}

// ordinary are variables that are no secrets, and that every process needs.
var ordinary = []string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA"}

// environment returns what a server's process gets of an environment: all but what is
// meant for awo, or next to nothing if the server is to be bare.
func (s *Server) environment(inherited []string) []string {
	var out []string
	for _, v := range inherited {
		name, _, _ := strings.Cut(v, "=")
		if upper := strings.ToUpper(name); strings.HasPrefix(upper, "AWO_") || s.Bare && !slices.Contains(ordinary, upper) {
			continue
		}
		out = append(out, v)
	}
	return append(out, s.Env...)
}
