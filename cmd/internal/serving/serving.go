// Package serving is `awo serve`: a relay between an agent and its servers.
//
// In come a file of servers, flags, and agents on standard input or over HTTP; the work
// is done by package serve, and here its settings are read and its findings worded.
package serving

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/serve"
)

type options struct {
	Servers     string        `mapstructure:"servers"`
	Check       bool          `mapstructure:"check"`
	PrintConfig string        `mapstructure:"print-config"`
	Record      string        `mapstructure:"record"`
	Redact      string        `mapstructure:"redact"`
	Listen      string        `mapstructure:"listen"`
	Tokens      string        `mapstructure:"tokens"`
	Origins     []string      `mapstructure:"origins"`
	ConnectWait time.Duration `mapstructure:"connect-wait"`
	Idle        time.Duration `mapstructure:"idle"`
	MaxSessions int           `mapstructure:"max-sessions"`
}

// New returns `awo serve`.
func New(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve --servers FILE",
		Short: "Stand between an agent and its MCP servers, and record what passes",
		Long: `Be an MCP server in front of your own: every tool, prompt and resource of theirs is
there under its name, and what is called and answered passes as it was written. With
--record each session becomes a file. awo reads its calls; turns are not in it yet, so
extract finds no chains there.

FILE is the usual one: {"mcpServers": {NAME: {"command", "args", "env", "cwd"} or {"url",
"headers"}}}. ${NAME} and ${NAME:-default} are filled in from the environment. Tools of
the same name become SERVER_NAME.

Without --listen the agent is on standard input and output. Servers are started for each
session and ended with it.`,
		Example: `  awo serve --servers mcp.json --check
  awo serve --servers mcp.json --record traces/
  awo serve --servers mcp.json --listen 127.0.0.1:8787
  awo serve --servers mcp.json --record traces/ --print-config claude`,
		Args:    cli.NoArguments,
		GroupID: cli.GroupLook,
	}
	f := c.Flags()
	f.String("servers", "", "read the servers from this `FILE`")
	f.Bool("check", false, "connect to all servers, say what they are, and end; exit code 1 if one is not ready")
	f.Var(cli.NewChoice("none", "claude", "cursor", "vscode"), "print-config", "print what this `CLIENT`'s configuration needs to start awo, and end")
	f.String("record", "", "write each session into this `FOLDER`, as DATE/SESSION.jsonl")
	f.Var(cli.NewChoice("secrets", "none"), "redact", "what recordings leave out: `WHAT` looks like a credential becomes a keyed hash, or nothing")
	f.String("listen", "", "serve HTTP on this `ADDRESS`, at /mcp")
	f.String("tokens", "", "let in who bears a token of this `FILE`, a line NAME TOKEN each; needed unless the address is this machine's")
	f.StringSlice("origins", nil, "let in pages of these `ORIGINS`, such as https://app.example")
	f.Duration("connect-wait", 5*time.Second, "how long an agent waits for servers that are starting, a `TIME` such as 5s")
	f.Duration("idle", 30*time.Minute, "end sessions over HTTP without a request for this `TIME`")
	f.Int("max-sessions", 32, "how `MANY` sessions there are at once over HTTP")
	return cli.Work(a, c, func(j *cli.Job, o options, _ []string) error { return run(a, j, o) })
}

func run(a *cli.App, j *cli.Job, o options) error {
	switch {
	case o.Servers == "":
		return cli.Usagef("--servers: a file of servers is needed, such as --servers mcp.json")
	case o.ConnectWait <= 0 || o.Idle <= 0:
		return cli.Usagef("--connect-wait and --idle: a time above 0 is needed")
	case o.MaxSessions < 1:
		return cli.Usagef("--max-sessions: %d is less than 1", o.MaxSessions)
	case o.Listen == "" && (o.Tokens != "" || len(o.Origins) > 0):
		return cli.Usagef("--tokens and --origins: they are for HTTP; add --listen ADDRESS")
	}
	if o.PrintConfig != "none" {
		return printConfig(j, o)
	}
	src, err := os.ReadFile(o.Servers)
	if err != nil {
		return cli.FileProblem(o.Servers, err)
	}
	servers, problems := serve.ParseServers(o.Servers, src, os.LookupEnv)
	if problems != nil {
		return problems // lines are not shown: they may hold keys
	}
	so := serve.Options{ConnectWait: o.ConnectWait, Version: cli.CurrentBuild().Version, Log: j.Log, ServerLog: a.Stderr}
	if o.Check {
		return check(j, serve.New(servers, so))
	}
	if o.Record != "" {
		if so.Recording, err = serve.NewRecording(o.Record, o.Redact == "secrets"); err != nil {
			return cli.FileProblem(o.Record, err)
		}
	}
	ctx, stop := signal.NotifyContext(j.Context, syscall.SIGTERM)
	defer stop()
	j.Context = ctx
	g := serve.New(servers, so)
	if o.Listen != "" {
		return listen(j, g, o)
	}
	agent, err := serve.Streams(io.NopCloser(a.Stdin), open{a.Stdout})
	if err != nil {
		return err
	}
	return g.Serve(ctx, agent)
}

// open is a stream that somebody else closes.
type open struct{ io.Writer }

// Close does nothing.
func (open) Close() error { return nil }

func listen(j *cli.Job, g *serve.Gateway, o options) error {
	tokens, err := readTokens(o.Tokens)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return cli.Usagef("--listen: %s", err)
	}
	if ip, ok := l.Addr().(*net.TCPAddr); (!ok || !ip.IP.IsLoopback()) && len(tokens) == 0 {
		return errors.Join(cli.Usagef("--listen: %s can be reached from other machines, so --tokens is needed", o.Listen), l.Close())
	}
	h := g.Handler(j.Context, serve.HTTPOptions{Host: o.Listen, Origins: o.Origins, Tokens: tokens, Idle: o.Idle, MaxSessions: o.MaxSessions})
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	j.Printf("http://%s/mcp\n", l.Addr())
	if err := j.Out.Flush(); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err = <-ended:
	case <-j.Context.Done():
		h.Wait() // sessions end with the context, and their requests with them
		err = server.Close()
		<-ended
	}
	return err
}

// minToken is how long a token is at least: shorter ones can be tried.
const minToken = 16

func readTokens(file string) (out []string, err error) {
	if file == "" {
		return nil, nil
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, cli.FileProblem(file, err)
	}
	n := 0
	for line := range strings.Lines(string(src)) {
		n++
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
		case len(fields) != 2 || len(fields[1]) < minToken:
			return nil, diag.New(diag.Pos{File: file, Line: n, Col: 1}, "tokens-line", "a line is NAME TOKEN, and a token is of %d characters or more", minToken)
		default:
			out = append(out, fields[1])
		}
	}
	if len(out) == 0 {
		return nil, diag.New(diag.Pos{File: file}, "tokens-none", "there is no token in this file")
	}
	return out, nil
}

// CheckJSON is the JSON of `awo serve --check`.
type CheckJSON struct {
	Schema  string        `json:"schema"`
	Servers []serve.State `json:"servers"`
}

func check(j *cli.Job, g *serve.Gateway) error {
	states := g.Check(j.Context)
	if err := j.Context.Err(); err != nil {
		return err
	}
	table := report.NewTable("servers", "", report.Column{Key: "server"}, report.Column{Key: "is"}, report.Column{Key: "protocol"},
		report.Column{Key: "tools", Align: report.Right}, report.Column{Key: "prompts", Align: report.Right}, report.Column{Key: "resources", Align: report.Right})
	var says report.List
	for i := range states {
		s := &states[i]
		if !s.Ready {
			none := report.Missing("the server is not ready")
			table.Add(report.Name(s.Server), none, none, none, none, none)
			j.Problems.Add(diag.New(diag.Pos{}, "server-not-ready", "server %s: %s", s.Server, s.Reason))
			continue
		}
		table.Add(report.Name(s.Server), report.Name(strings.TrimSpace(s.Name+" "+s.Version)), report.Name(s.Protocol), report.Int(s.Tools), report.Int(s.Prompts), report.Int(s.Resources))
		if len(s.Renamed) > 0 {
			says = append(says, fmt.Sprintf("%s: %s of another server's name, shown as %s_NAME: %s.", s.Server, cli.CountOf(len(s.Renamed), "tool"), s.Server, strings.Join(s.Renamed, ", ")))
		}
		if len(s.Odd) > 0 {
			says = append(says, fmt.Sprintf("%s: %s without a schema of an object, which some clients refuse: %s.", s.Server, cli.CountOf(len(s.Odd), "tool"), strings.Join(s.Odd, ", ")))
		}
		if s.Dropped > 0 {
			says = append(says, fmt.Sprintf("%s: %s on its standard output that %s no message.", s.Server, cli.CountOf(s.Dropped, "line"), map[bool]string{true: "was", false: "were"}[s.Dropped == 1]))
		}
	}
	d := &report.Document{Title: "Servers"}
	d.Add(table)
	if len(says) > 0 {
		d.Add(says)
	}
	return j.Print(d, CheckJSON{"awo.serve-check/v1", states})
}

// printConfig prints what a client's configuration needs.
func printConfig(j *cli.Job, o options) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	file, err := filepath.Abs(o.Servers)
	if err != nil {
		return err
	}
	args := []string{"serve", "--servers", file}
	if o.Record != "" {
		folder, err := filepath.Abs(o.Record)
		if err != nil {
			return err
		}
		args = append(args, "--record", folder)
		if o.Redact != "secrets" {
			args = append(args, "--redact", o.Redact)
		}
	}
	if o.ConnectWait != 5*time.Second {
		args = append(args, "--connect-wait", o.ConnectWait.String())
	}
	own := map[string]any{"command": program, "args": args}
	root := "mcpServers"
	if o.PrintConfig == "vscode" {
		root, own["type"] = "servers", "stdio"
	}
	out, err := report.MarshalJSON(map[string]any{root: map[string]any{"awo": own}})
	if err != nil {
		return err
	}
	j.Printf("%s\n", strings.TrimRight(string(out), "\n"))
	return nil
}
