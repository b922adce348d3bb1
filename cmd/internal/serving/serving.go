// Package serving is `awo serve`: a relay between an agent and its servers.
//
// In come a file of servers, flags, and agents on standard input or over HTTP; the work
// is done by package serve, and here its settings are read and its findings worded.
package serving

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/compiled"
	"github.com/awo-dev/awo/internal/report"
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
	Hosts       []string      `mapstructure:"hosts"`
	TLSCert     string        `mapstructure:"tls-cert"`
	TLSKey      string        `mapstructure:"tls-key"`
	Prefix      string        `mapstructure:"prefix"`
	MaxMessage  cli.Size      `mapstructure:"max-message"`
	ConnectWait time.Duration `mapstructure:"connect-wait"`
	Idle        time.Duration `mapstructure:"idle"`
	MaxSessions int           `mapstructure:"max-sessions"`

	Tools        string        `mapstructure:"tools"`
	Writes       string        `mapstructure:"writes"`
	Results      string        `mapstructure:"results"`
	Structured   bool          `mapstructure:"structured"`
	Hide         []string      `mapstructure:"hide"`
	Mark         bool          `mapstructure:"mark"`
	Timeout      time.Duration `mapstructure:"timeout"`
	Deadline     time.Duration `mapstructure:"deadline"`
	MaxCalls     int           `mapstructure:"max-calls"`
	PrefetchWait time.Duration `mapstructure:"prefetch-wait"`
	Lazy         string        `mapstructure:"lazy"`
	Pin          []string      `mapstructure:"pin"`
	Definitions  string        `mapstructure:"definitions"`
	Subset       string        `mapstructure:"subset"`
	Predict      string        `mapstructure:"predict"`
	KeyFile      string        `mapstructure:"key-file"`
	Control      float64       `mapstructure:"control"`
	Unit         string        `mapstructure:"unit"`
	Seed         uint64        `mapstructure:"seed"`
}

// New returns `awo serve`.
func New(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve --servers FILE",
		Short: "Stand between an agent and its MCP servers: run meta-tools, prefetch reads, record",
		Long: `Be an MCP server in front of your own: every tool, prompt and resource of theirs is
there under its name, and what is called and answered passes as it was written. With
--record each session becomes a file, which extract and compare read.

FILE is the usual one: {"mcpServers": {NAME: {"command", "args", "env", "cwd"} or {"url",
"headers"}}}. ${NAME} and ${NAME:-default} are filled in from the environment. With several
servers a tool is called SERVER_NAME, so that names never depend on which servers are up.

With --tools the folder that awo extract --out wrote is put to use. Its meta-tools are listed after
the servers' tools and run against the servers; where its rules say so, reads that
usually follow are made ahead and attached to an answer. A meta-tool whose tools
are not there, or have changed so that it breaks, is not offered, and the log says why.
--writes says what is done about those that do not only read.

--control leaves a share of sessions without all this, to compare with.

Without --listen the agent is on standard input and output. Servers are started for each
session and ended with it.`,
		Example: `  awo serve --servers mcp.json --check
  awo serve --servers mcp.json --record traces/
  awo serve --servers mcp.json --tools tools/ --check
  awo serve --servers mcp.json --tools tools/ --record traces/ --control 0.5
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
	f.Var(cli.NewChoice("secrets", "words", "none"), "redact", "what becomes keyed hashes in recordings: `WHAT` is secrets (what looks like a credential), words (every word, as of awo convert --redact) or none")
	f.String("key-file", "", "the key of the hashes is in this `FILE`, in place of FOLDER/.key")
	f.String("listen", "", "serve HTTP on this `ADDRESS`, at /mcp")
	f.String("tokens", "", "let in who sends a token of this `FILE`, a line NAME TOKEN each; needed unless the address is this machine's")
	f.StringSlice("origins", nil, "let in pages of these `ORIGINS`, such as https://app.example")
	f.StringSlice("hosts", nil, "answer requests to these `HOSTS`, besides this machine's own names; needed unless the address is this machine's")
	f.String("tls-cert", "", "serve HTTPS with the certificate in this `FILE`")
	f.String("tls-key", "", "the key of the certificate is in this `FILE`")
	f.Var(cli.NewChoice(string(gateway.PrefixesAuto), string(gateway.PrefixesAlways), string(gateway.PrefixesNever)), "prefix", "`WHEN` names of tools begin with their server's: auto is with several servers")
	size := cli.Size(gateway.DefaultMaxMessage)
	f.Var(&size, "max-message", "refuse messages of agents and servers that are larger than this")
	f.Duration("connect-wait", 5*time.Second, "how long an agent waits for servers that are starting, a `TIME` such as 5s")
	f.Duration("idle", 30*time.Minute, "end sessions over HTTP without a request for this `TIME`")
	f.Int("max-sessions", 32, "how `MANY` sessions there are at once over HTTP")
	addTools(f)
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
	case o.Listen == "" && (o.Tokens != "" || len(o.Origins)+len(o.Hosts) > 0 || o.TLSCert != ""):
		return cli.Usagef("--tokens, --origins, --hosts and --tls-cert are for HTTP; add --listen ADDRESS")
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return cli.Usagef("--tls-cert and --tls-key: one needs the other")
	}
	if err := o.checkTools(); err != nil {
		return err
	}
	if o.PrintConfig != "none" {
		return printConfig(j, o)
	}
	src, err := cli.ReadSmall(o.Servers)
	if err != nil {
		return cli.FileProblem(o.Servers, err)
	}
	servers, problems := gateway.ParseServers(o.Servers, src, os.LookupEnv)
	if problems != nil {
		return problems // lines are not shown: they may hold keys
	}
	so := gateway.Options{ConnectWait: o.ConnectWait, Version: cli.CurrentBuild().Version, Prefixes: gateway.Prefixes(o.Prefix), MaxMessage: int(o.MaxMessage), Log: j.Log, ServerLog: a.Stderr}
	layer, err := o.layer(j, servers)
	if err != nil {
		return err
	}
	if cache, err := os.UserCacheDir(); err == nil { // without one nothing is kept
		so.Cache = filepath.Join(cache, "awo", "servers")
	}
	if o.Check {
		so.Cache = "" // what is there now is asked
		return check(j, gateway.New(servers, so), layer)
	}
	if layer != nil {
		so.Layer = layer
		so.Experiment = gateway.Experiment{Share: o.Control, Unit: gateway.Unit(o.Unit), Seed: o.Seed}
	}
	if id := os.Getenv("CLAUDE_CODE_SESSION_ID"); id != "" {
		so.IDs = map[string]string{"CLAUDE_CODE_SESSION_ID": id}
	}
	if o.Record != "" {
		if so.Recording, err = gateway.NewRecording(o.Record, gateway.Redact(o.Redact), o.KeyFile); err != nil {
			return cli.FileProblem(o.Record, err)
		}
	}
	cli.KeepSmall()
	ctx, stop := signal.NotifyContext(j.Context, syscall.SIGTERM)
	defer stop()
	j.Context = ctx
	g := gateway.New(servers, so)
	if o.Listen != "" {
		return listen(j, g, o)
	}
	return g.Serve(ctx, gateway.Streams(io.NopCloser(a.Stdin), open{a.Stdout}, int(o.MaxMessage)))
}

// open is a stream that somebody else closes.
type open struct{ io.Writer }

// Close does nothing.
func (open) Close() error { return nil }

func listen(j *cli.Job, g *gateway.Gateway, o options) error {
	tokens, err := readTokens(o.Tokens)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return cli.Usagef("--listen: %s", err)
	}
	if ip, ok := l.Addr().(*net.TCPAddr); (!ok || !ip.IP.IsLoopback()) && (len(tokens) == 0 || len(o.Hosts) == 0) {
		return errors.Join(cli.Usagef("--listen: %s can be reached from other machines, so --tokens and --hosts are needed", o.Listen), l.Close())
	}
	h := g.Handler(j.Context, gateway.HTTPOptions{Hosts: append(o.Hosts, o.Listen), Origins: o.Origins, Tokens: tokens, Idle: o.Idle, MaxSessions: o.MaxSessions})
	// A message over HTTP passes through half a dozen goroutines. On one processor they follow
	// each other; on several each wakes another one up, which takes longer than what it then
	// does. Standard streams gain nothing: reading one keeps a processor.
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	ended := make(chan error, 1)
	scheme := "http"
	if o.TLSCert != "" {
		if _, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey); err != nil {
			return errors.Join(cli.Usagef("--tls-cert and --tls-key: %s", err), l.Close())
		}
		scheme = "https"
		go func() { ended <- server.ServeTLS(l, o.TLSCert, o.TLSKey) }()
	} else {
		go func() { ended <- server.Serve(l) }()
	}
	j.Printf("%s://%s/mcp\n", scheme, l.Addr())
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

func readTokens(file string) (out []gateway.Token, err error) {
	if file == "" {
		return nil, nil
	}
	src, err := cli.ReadSmall(file)
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
			out = append(out, gateway.Token{Name: fields[0], Value: fields[1]})
		}
	}
	if len(out) == 0 {
		return nil, diag.New(diag.Pos{File: file}, "tokens-none", "there is no token in this file")
	}
	return out, nil
}

func check(j *cli.Job, g *gateway.Gateway, layer *compiled.Layer) error {
	states, tools := g.Check(j.Context)
	if err := j.Context.Err(); err != nil {
		return err
	}
	ready := func(cell func(*gateway.State) report.Cell) func(reflect.Value) report.Cell {
		return report.By(func(s *gateway.State) report.Cell {
			if !s.Ready {
				return report.Missing("the server is not ready")
			}
			return cell(s)
		})
	}
	table := report.TableOf("servers", "", states, []report.Column{
		{Key: "server"},
		{Key: "is", Cell: ready(func(s *gateway.State) report.Cell { return report.Name(strings.TrimSpace(s.Name + " " + s.Version)) })},
		{Key: "protocol", Cell: ready(func(s *gateway.State) report.Cell { return report.Name(s.Protocol) })},
		{Key: "tools", Align: report.Right, Cell: ready(func(s *gateway.State) report.Cell { return report.Int(s.Tools) })},
		{Key: "prompts", Align: report.Right, Cell: ready(func(s *gateway.State) report.Cell { return report.Int(s.Prompts) })},
		{Key: "resources", Align: report.Right, Cell: ready(func(s *gateway.State) report.Cell { return report.Int(s.Resources) })},
	})
	var says report.List
	for i := range states {
		s := &states[i]
		if !s.Ready {
			j.Problems.Add(diag.New(diag.Pos{}, "server-not-ready", "server %s: %s", s.Server, s.Reason))
			continue
		}
		if len(s.Odd) > 0 {
			says = append(says, fmt.Sprintf("%s: %s without a schema of an object, which some clients refuse: %s.", s.Server, cli.CountOf(len(s.Odd), "tool"), strings.Join(s.Odd, ", ")))
		}
		if s.Dropped > 0 {
			says = append(says, fmt.Sprintf("%s: %s on its standard output that %s no message.", s.Server, cli.CountOf(s.Dropped, "line"), map[bool]string{true: "was", false: "were"}[s.Dropped == 1]))
		}
	}
	d := &report.Document{Title: "Servers"}
	d.Add(table, says)
	if layer != nil {
		for _, why := range layer.Unknown(tools) {
			j.Problems.Add(diag.New(diag.Pos{}, "tool-unknown", "--hide, --pin or --subset: %s", why))
		}
		metaTools, rules := layer.Verdicts(tools, true)
		judged(j, d, metaTools, rules)
	}
	return j.Result(d)
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
	if o.Tools != "" {
		folder, err := filepath.Abs(o.Tools)
		if err != nil {
			return err
		}
		args = append(args, "--tools", folder)
		if o.Writes != "none" {
			args = append(args, "--writes", o.Writes)
		}
		if o.Control > 0 {
			args = append(args, "--control", strconv.FormatFloat(o.Control, 'g', -1, 64), "--unit", o.Unit, "--seed", strconv.FormatUint(o.Seed, 10))
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
