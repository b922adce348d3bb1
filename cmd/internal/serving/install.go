package serving

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/sealed"
)

// entry is a server in a client's configuration.
type entry = map[string]any

// installed is how a client's configuration names servers.
type installed struct {
	root  string
	token string // how its texts name the variable of the token
	stdio func(command string, args []string) entry
	http  func(url string, token entry) entry
}

func plain(command string, args []string) entry { return entry{"command": command, "args": args} }

func typed(command string, args []string) entry {
	return entry{"type": "stdio", "command": command, "args": args}
}

func typedHTTP(url string, headers entry) entry {
	return with(entry{"type": "http", "url": url}, "headers", headers)
}

// with adds a member to an entry unless it is empty.
func with(e entry, name string, members entry) entry {
	if len(members) > 0 {
		e[name] = members
	}
	return e
}

// tokenVariable is the variable of the environment that clients find their token in.
const tokenVariable = "AWO_TOKEN"

// clients are the clients whose configuration is known, by the name that --print-config has.
var clients = map[string]installed{
	"claude": {"mcpServers", "${AWO_TOKEN}", typed, typedHTTP},
	"claude-desktop": {"mcpServers", "${AWO_TOKEN}", plain, func(url string, headers entry) entry { // it starts processes alone
		if len(headers) > 0 {
			words := strings.Fields(fmt.Sprintf("npx -y mcp-remote %s --header Authorization:${AWO_AUTHORIZATION}", url))
			return entry{"command": words[0], "args": words[1:], "env": entry{"AWO_AUTHORIZATION": "Bearer TOKEN"}}
		}
		return plain("npx", []string{"-y", "mcp-remote", url})
	}},
	"cursor": {"mcpServers", "${env:AWO_TOKEN}", plain, func(url string, headers entry) entry { return with(entry{"url": url}, "headers", headers) }},
	"vscode": {"servers", "${env:AWO_TOKEN}", typed, typedHTTP},
	"codex": {"mcp_servers", "", plain, func(url string, headers entry) entry {
		e := entry{"url": url}
		if len(headers) > 0 {
			e["bearer_token_env_var"] = tokenVariable
		}
		return e
	}},
	"gemini": {"mcpServers", "$AWO_TOKEN", plain, func(url string, headers entry) entry { return with(entry{"httpUrl": url}, "headers", headers) }},
	"opencode": {"mcp", "{env:AWO_TOKEN}", func(command string, args []string) entry {
		return entry{"type": "local", "command": append([]string{command}, args...), "enabled": true}
	}, func(url string, headers entry) entry {
		return with(entry{"type": "remote", "url": url, "enabled": true}, "headers", headers)
	}},
}

// files are the flags whose values are paths: a client starts awo in another folder.
var files = []string{"servers", "record", "tools", "key-file", "tokens", "tls-cert", "tls-key", "policy", "access-log", "definitions", "subset", "ranker", "predict", "config"}

// printConfig prints what a client's configuration needs: with --listen an address, else
// how to start awo with the flags that were given.
func printConfig(j *cli.Job, o options, f *pflag.FlagSet) error {
	c := clients[o.PrintConfig]
	var own entry
	if o.Listen != "" {
		scheme, host := "http", o.Listen
		if o.TLSCert != "" {
			scheme = "https"
		}
		if len(o.Hosts) > 0 {
			host = o.Hosts[0]
		}
		headers := entry{}
		if o.Tokens != "" {
			headers["Authorization"] = "Bearer " + c.token
		}
		own = c.http(scheme+"://"+host+"/mcp", headers)
	} else {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		args := []string{"serve"}
		f.Visit(func(flag *pflag.Flag) {
			value := flag.Value.String()
			if list, is := flag.Value.(pflag.SliceValue); is {
				value = strings.Join(list.GetSlice(), ",")
			}
			switch {
			case flag.Name == "print-config":
				return
			case slices.Contains(files, flag.Name):
				full, err2 := filepath.Abs(value)
				err = errors.Join(err, err2)
				value = full
			}
			if flag.Value.Type() == "bool" {
				args = append(args, "--"+flag.Name+"="+value)
				return
			}
			args = append(args, "--"+flag.Name, value)
		})
		if err != nil {
			return err
		}
		own = c.stdio(program, args)
	}
	all := map[string]any{c.root: map[string]any{"awo": own}}
	out, err := report.MarshalJSON(all)
	if o.PrintConfig == "codex" {
		out, err = toml.Marshal(all)
	}
	if err != nil {
		return err
	}
	j.Printf("%s\n", strings.TrimRight(string(out), "\n"))
	return nil
}

// Codes of problems with a client's configuration.
const codeImport = "import-unread"

// importServers writes the servers of a client's configuration into the file of servers,
// which is made if it is not there. A name that is there already stays as it is.
func importServers(j *cli.Job, o options) error {
	src, err := cli.ReadSmall(o.Import)
	if err != nil {
		return cli.FileProblem(o.Import, err)
	}
	var theirs map[string]any
	if filepath.Ext(o.Import) == ".toml" {
		err = toml.Unmarshal(src, &theirs)
	} else {
		err = json.Unmarshal(comment.ReplaceAll(src, nil), &theirs)
	}
	if err != nil {
		return diag.New(diag.Pos{File: o.Import}, codeImport, "this is not the configuration of a client")
	}
	found := map[string]any{}
	collect(theirs, found)
	own := map[string]any{}
	switch data, err := cli.ReadSmall(o.Servers); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return cli.FileProblem(o.Servers, err)
	case json.Unmarshal(data, &own) != nil:
		return diag.New(diag.Pos{File: o.Servers}, codeImport, "this is not a file of servers")
	}
	servers, _ := own["mcpServers"].(map[string]any)
	if servers == nil {
		servers = map[string]any{}
	}
	added := 0
	for _, name := range slices.Sorted(maps.Keys(found)) {
		server, ok := translated(found[name])
		if _, there := servers[name]; there || !ok || name == "awo" {
			j.Log.Warn("a server is not imported: it is there already, or is neither a process nor an address", "server", name)
			continue
		}
		servers[name] = server
		added++
	}
	if added == 0 {
		return diag.New(diag.Pos{File: o.Import}, codeImport, "there is no server to import")
	}
	own["mcpServers"] = servers
	data, err := json.MarshalIndent(own, "", "  ")
	if err != nil {
		return err
	}
	if err := sealed.Replace(o.Servers, append(data, '\n')); err != nil {
		return err
	}
	j.Printf("%s imported into %s. Values that are keys belong into the environment, as ${NAME}.\n", cli.CountOf(added, "server"), o.Servers)
	return nil
}

// comment matches a line of JSON that is a comment.
var comment = regexp.MustCompile(`(?m)^\s*//.*$`)

// collect finds the servers in a client's configuration, also those of its projects.
func collect(in map[string]any, found map[string]any) {
	for _, root := range []string{"mcpServers", "servers", "mcp", "mcp_servers"} {
		list, _ := in[root].(map[string]any)
		if nested, _ := list["servers"].(map[string]any); nested != nil { // in VS Code's settings
			list = nested
		}
		for name, server := range list {
			if _, there := found[name]; !there {
				found[name] = server
			}
		}
	}
	projects, _ := in["projects"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(projects)) {
		if project, _ := projects[name].(map[string]any); project != nil {
			collect(project, found)
		}
	}
}

// openVariable matches how opencode names a variable.
var openVariable = regexp.MustCompile(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

// translated returns a server of a client's as the file of servers has it.
func translated(of any) (entry, bool) {
	theirs, _ := of.(map[string]any)
	if text, err := json.Marshal(theirs); err == nil && !bytes.Contains(text, []byte("${env:")) {
		theirs = nil
		_ = json.Unmarshal(openVariable.ReplaceAll(text, []byte("$${$1}")), &theirs) // as it was, but for names
	}
	out := entry{}
	for to, names := range map[string][]string{"command": {"command"}, "args": {"args"}, "env": {"env", "environment"}, "cwd": {"cwd"}, "url": {"url", "httpUrl", "serverUrl"}, "headers": {"headers", "http_headers"}, "disabled": {"disabled"}} {
		for _, from := range names {
			if v, ok := theirs[from]; ok {
				out[to] = v
			}
		}
	}
	if words, ok := out["command"].([]any); ok && len(words) > 0 {
		out["command"], out["args"] = words[0], words[1:]
	}
	if on, ok := theirs["enabled"].(bool); ok && !on {
		out["disabled"] = true
	}
	if name, ok := theirs["bearer_token_env_var"].(string); ok {
		out["headers"] = entry{"Authorization": "Bearer ${" + name + "}"}
	}
	_, process := out["command"].(string)
	_, address := out["url"].(string)
	return out, process != address
}
