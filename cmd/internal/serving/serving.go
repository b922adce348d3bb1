// Package serving is `awo serve`: a relay between an agent and its servers.
//
// In come a file of servers, flags, and agents on standard input or over HTTP; the work
// is done by package gateway, and here its settings are read and its findings worded.
package serving

import (
	"cmp"
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
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	Import      string        `mapstructure:"import"`
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
	Processes   int           `mapstructure:"max-processes"`
	Admin       string        `mapstructure:"admin"`
	AccessLog   string        `mapstructure:"access-log"`
	Policy      string        `mapstructure:"policy"`
	Approve     bool          `mapstructure:"approve"`
	Login       string        `mapstructure:"login"`

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
	Ranker       string        `mapstructure:"ranker"`
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
	f.Var(cli.NewChoice("none", "claude", "claude-desktop", "cursor", "vscode", "codex", "gemini", "opencode"), "print-config", "print what this `CLIENT`'s configuration needs to start awo with these flags, or to reach it with --listen, and end")
	f.String("import", "", "add the servers in this `FILE`, a client's configuration, to that of --servers, and end")
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
	cli.Count(f, "max-sessions", 32, 1, "how `MANY` sessions there are at once over HTTP")
	cli.Count(f, "max-processes", 64, 1, "how `MANY` servers run at once, in all sessions together")
	f.String("admin", "", "answer /healthz, /readyz, /metrics and /status on this `ADDRESS`, without a token: only your own machines should reach it")
	f.String("access-log", "", "append a line of JSON for each call to this `FILE`, without values")
	f.String("policy", "", "read which tools are offered from this `FILE`; awo-serve.yaml next to the servers if it is there")
	f.Bool("approve", false, "approve the definitions of all tools as they are now, in awo-pins.json next to the servers, and end")
	f.String("login", "", "log in to this `SERVER` in a browser, keep its token for later (in your configuration folder), and end")
	addTools(f)
	return cli.Work(a, c, func(j *cli.Job, o options, _ []string) error { return run(a, j, o, c.Flags()) })
}

func run(a *cli.App, j *cli.Job, o options, f *pflag.FlagSet) error {
	switch {
	case o.Servers == "":
		return cli.Usagef("--servers: a file of servers is needed, such as --servers mcp.json")
	case o.ConnectWait <= 0 || o.Idle <= 0:
		return cli.Usagef("--connect-wait and --idle: a time above 0 is needed")
	case o.Listen == "" && (o.Tokens != "" || len(o.Origins)+len(o.Hosts) > 0 || o.TLSCert != ""):
		return cli.Usagef("--tokens, --origins, --hosts and --tls-cert are for HTTP; add --listen ADDRESS")
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return cli.Usagef("--tls-cert and --tls-key: one needs the other")
	}
	if err := o.checkTools(); err != nil {
		return err
	}
	if o.PrintConfig != "none" {
		return printConfig(j, o, f)
	}
	if o.Import != "" {
		return importServers(j, o)
	}
	metrics := gateway.NewMetrics()
	read, err := o.readSetup(j, metrics)
	if err != nil {
		return err
	}
	so := gateway.Options{ConnectWait: o.ConnectWait, Version: cli.CurrentBuild().Version, Prefixes: gateway.Prefixes(o.Prefix), MaxMessage: int(o.MaxMessage), Processes: o.Processes, Policy: read.policy, Metrics: metrics, Log: j.Log, ServerLog: a.Stderr}
	if cache, err := os.UserCacheDir(); err == nil { // without one nothing is kept
		so.Cache = filepath.Join(cache, "awo", "servers")
	}
	if so.Pins, err = o.pins(); err != nil {
		return err
	}
	if so.Logins, err = logins(); err != nil {
		return err
	}
	if o.Login != "" {
		return login(j, o, read.servers, so.Logins)
	}
	if o.Approve {
		return approve(j, gateway.New(read.servers, so), so.Pins)
	}
	if o.Check {
		so.Cache = "" // what is there now is asked
		return check(j, gateway.New(read.servers, so), read.layer)
	}
	if read.layer != nil {
		so.Layer = read.layer
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
	if so.Access, err = o.accessLog(); err != nil {
		return err
	}
	cli.KeepSmall()
	ctx, stop := signal.NotifyContext(j.Context, syscall.SIGTERM)
	defer stop()
	j.Context = ctx
	g := gateway.New(read.servers, so)
	if err := hides(j, g, read.layer); err != nil {
		return err
	}
	end, err := operate(j, g, o)
	if err != nil {
		return err
	}
	defer func() { _ = end() }() // its requests end with it
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
	var offered []*gateway.Tool
	for _, t := range tools {
		switch t.Refused {
		case "":
			offered = append(offered, t)
		case gateway.NotAllowed:
			d.Add(report.Paragraph(fmt.Sprintf("%s is not offered: %s.", t.Shown, t.Refused)))
		default:
			j.Problems.Add(diag.New(diag.Pos{}, "tool-withheld", "%s is not offered: %s", t.Shown, t.Refused))
		}
	}
	if layer != nil {
		hidden, listed := layer.Unknown(tools)
		for _, why := range append(hidden, listed...) {
			j.Problems.Add(diag.New(diag.Pos{}, "tool-unknown", "--hide, --pin or --subset: %s", why))
		}
		metaTools, rules := layer.Verdicts(offered, true)
		judged(j, d, metaTools, rules)
	}
	return j.Result(d)
}

// addTools adds the flags of what is put to use in front of servers.
func addTools(f *pflag.FlagSet) {
	f.String("tools", "", "offer the meta-tools and follow the rules in this `FOLDER`, which awo extract --out wrote")
	f.Var(cli.NewChoice("none", "ask", "client"), "writes", "meta-tools that do not only read: `WHAT` is none (not offered), ask (the user is asked before each write) or client (offered, marked)")
	f.Var(cli.NewChoice("all", "returned"), "results", "steps whose results are in a meta-tool's answer: `WHICH` is all, or returned (those that the artefacts say)")
	f.Bool("structured", false, "answer meta-tools with structuredContent too")
	f.StringSlice("hide", nil, "do not list these `TOOLS`; meta-tools still call them")
	f.Bool("mark", false, "mark meta-tools as always loaded, for clients that load tools late")
	f.Var(cli.NewChoice("off", "call", "list", "search"), "lazy", "which tools are listed: `HOW` is off (all), call (pinned ones; others by tool_register and tool_call), list (what is registered is listed from then on) or search (others by search_tools and tool_call)")
	f.String("ranker", "", "search_tools also ranks by what the ranker in this `FILE` learned (subset.json of awo tools subset --out)")
	f.StringSlice("pin", nil, "list these `TOOLS` with --lazy")
	f.String("definitions", "", "tool_register answers the definitions in this `FOLDER`, which awo register --out wrote, where they agree with the servers'")
	f.String("subset", "", "list the tools in this `FILE` alone (subset.*.allow.json of awo tools subset --out)")
	f.String("predict", "", "also make reads that the snapshot in this `FILE` predicts (awo snapshot build)")
	f.Duration("timeout", time.Minute, "give up on a step of a meta-tool after this `TIME`")
	f.Duration("deadline", 5*time.Minute, "give up on a meta-tool after this `TIME`")
	cli.Count(f, "max-calls", 100, 1, "how `MANY` calls a meta-tool may make")
	f.Duration("prefetch-wait", 150*time.Millisecond, "how long an answer waits for what is attached to it, a `TIME`; what comes later is dropped")
	cli.Share(f, "control", 0, false, "this `SHARE` of units gets the servers' tools alone, to compare with; 0 to 1")
	f.Var(cli.NewChoice("session", "token", "day"), "unit", "what is in one arm as a whole: a `UNIT` is a session, a token (--tokens) or a day")
	f.Uint64("seed", 1, "the arm of a unit follows from it and this `NUMBER`")
}

// checkTools says what is wrong with these flags.
func (o *options) checkTools() error {
	switch {
	case o.Timeout <= 0 || o.Deadline <= 0 || o.PrefetchWait <= 0:
		return cli.Usagef("--timeout, --deadline and --prefetch-wait: a time above 0 is needed")
	case o.Control > 0 && !o.layered():
		return cli.Usagef("--control: without --tools the arms are alike")
	case o.Lazy == "off" && (len(o.Pin) > 0 || o.Definitions != ""):
		return cli.Usagef("--pin and --definitions: they are for --lazy call and --lazy list")
	case o.Lazy != "search" && o.Ranker != "":
		return cli.Usagef("--ranker: it is for --lazy search")
	case o.KeyFile != "" && (o.Record == "" || o.Redact == "none"):
		return cli.Usagef("--key-file: there is nothing to hash without --record")
	case o.Unit == "token" && o.Tokens == "":
		return cli.Usagef("--unit token: there are no --tokens")
	}
	return nil
}

// layered reports whether anything stands between agents and servers.
func (o *options) layered() bool {
	return o.Tools != "" || o.Predict != "" || o.Lazy != "off" || o.Subset != "" || len(o.Hide) > 0
}

// layer reads the artefacts, nil if none are wanted.
func (o *options) layer(j *cli.Job, servers []gateway.Server, metrics *gateway.Metrics) (*compiled.Layer, error) {
	if !o.layered() {
		return nil, nil
	}
	a, err := &compiled.Artefacts{}, error(nil)
	if o.Tools != "" {
		if a, err = compiled.Read(o.Tools); err != nil {
			return nil, err
		}
	}
	var subset []string
	if o.Subset != "" {
		if subset, err = compiled.ReadSubset(o.Subset); err != nil {
			return nil, err
		}
	}
	var predict compiled.Predictor
	if o.Predict != "" {
		if predict, err = readSnapshot(o.Predict); err != nil {
			return nil, err
		}
	}
	var definitions compiled.Definitions
	if o.Definitions != "" {
		if definitions, err = compiled.ReadDefinitions(o.Definitions); err != nil {
			return nil, err
		}
	}
	var search compiled.Searcher
	if o.Lazy == "search" {
		if search, err = newSearcher(o.Ranker); err != nil {
			return nil, err
		}
	}
	memory := ""
	if cache, err := os.UserCacheDir(); err == nil && !o.Check { // without one nothing is kept
		memory = filepath.Join(cache, "awo", "rules")
	}
	return compiled.New(a, compiled.Options{
		Memory: memory, Log: j.Log, Metrics: metrics,
		Servers: servers, Writes: compiled.Writes(o.Writes), Returned: o.Results == "returned", Schemas: o.Structured, Mark: o.Mark, Hide: o.Hide,
		Lazy: compiled.Lazy(o.Lazy), Search: search, Pin: o.Pin, Subset: subset, Definitions: definitions, Predict: predict,
		Timeout: o.Timeout, Deadline: o.Deadline, MaxCalls: o.MaxCalls, Wait: o.PrefetchWait,
	}), nil
}

// artefact is a meta-tool or a prefetch rule, and what becomes of it.
type artefact struct {
	Kind string `json:"kind"` // meta-tool or prefetch rule
	compiled.Verdict
}

// judged adds to a check what becomes of the artefacts.
func judged(j *cli.Job, d *report.Document, metaTools, rules []compiled.Verdict) {
	var rows []artefact
	say := func(kind, code string, verdicts []compiled.Verdict) {
		for _, v := range verdicts {
			if !v.Offered && !v.Policy {
				j.Problems.Add(diag.New(diag.Pos{}, code, "%s %s is not offered: %s", kind, v.Name, v.Reason))
			}
			rows = append(rows, artefact{kind, v})
		}
	}
	say("meta-tool", "meta-tool-not-offered", metaTools)
	say("prefetch rule", "rule-not-followed", rules)
	d.Add(report.TableOf("artefacts", "Artefacts", rows, []report.Column{
		{Key: "name"},
		{Key: "offered"},
		{Key: "reason", Wrap: true, Max: 80, Cell: report.By(func(a *artefact) report.Cell { return report.Text(cmp.Or(a.Reason, a.Warning)) })},
	}))
	if len(rows) > 0 {
		d.Add(report.Paragraph(fmt.Sprintf("%s and %s.", cli.CountOf(len(metaTools), "meta-tool"), cli.CountOf(len(rules), "prefetch rule"))))
	}
}
