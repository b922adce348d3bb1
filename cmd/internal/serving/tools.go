package serving

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/compiled"
	"github.com/awo-dev/awo/internal/report"
)

// addTools adds the flags of what is put to use in front of servers.
func addTools(f *pflag.FlagSet) {
	f.String("tools", "", "offer the meta-tools and follow the rules in this `FOLDER`, which awo extract --out wrote")
	f.Var(cli.NewChoice("none", "ask", "client"), "writes", "meta-tools that do not only read: `WHAT` is none (not offered), ask (the user is asked before each write) or client (offered, marked)")
	f.Var(cli.NewChoice("all", "returned"), "results", "steps whose results are in a meta-tool's answer: `WHICH` is all, or returned (those that the artefacts say)")
	f.Bool("structured", false, "answer meta-tools with structuredContent too")
	f.StringSlice("hide", nil, "do not list these `TOOLS`; meta-tools still call them")
	f.Bool("mark", false, "mark meta-tools as always loaded, for clients that load tools late")
	f.Var(cli.NewChoice("off", "call", "list"), "lazy", "which tools are listed: `HOW` is off (all), call (pinned ones; others by tool_register and tool_call) or list (what is registered is listed from then on)")
	f.StringSlice("pin", nil, "list these `TOOLS` with --lazy")
	f.String("definitions", "", "tool_register answers the definitions in this `FOLDER`, which awo register --out wrote, where they agree with the servers'")
	f.String("subset", "", "list the tools in this `FILE` alone (subset.*.allow.json of awo tools subset --out)")
	f.String("predict", "", "also make reads that the snapshot in this `FILE` predicts (awo snapshot build)")
	f.Duration("timeout", time.Minute, "give up on a step of a meta-tool after this `TIME`")
	f.Duration("deadline", 5*time.Minute, "give up on a meta-tool after this `TIME`")
	f.Int("max-calls", 100, "how `MANY` calls a meta-tool may make")
	f.Duration("prefetch-wait", 150*time.Millisecond, "how long an answer waits for what is attached to it, a `TIME`; what comes later is kept for a call that asks for it")
	f.Float64("control", 0, "this `SHARE` of units gets the servers' tools alone, to compare with; 0 to 1")
	f.Var(cli.NewChoice("session", "token", "day"), "unit", "what is in one arm as a whole: a `UNIT` is a session, a token (--tokens) or a day")
	f.Uint64("seed", 1, "the arm of a unit follows from it and this `NUMBER`")
}

// checkTools says what is wrong with these flags.
func (o *options) checkTools() error {
	switch {
	case o.Timeout <= 0 || o.Deadline <= 0 || o.PrefetchWait <= 0:
		return cli.Usagef("--timeout, --deadline and --prefetch-wait: a time above 0 is needed")
	case o.MaxCalls < 1:
		return cli.Usagef("--max-calls: %d is less than 1", o.MaxCalls)
	case o.Control < 0 || o.Control > 1:
		return cli.Usagef("--control: %g is no share: 0 to 1", o.Control)
	case o.Control > 0 && !o.layered():
		return cli.Usagef("--control: without --tools the arms are alike")
	case o.Lazy == "off" && (len(o.Pin) > 0 || o.Definitions != ""):
		return cli.Usagef("--pin and --definitions: they are for --lazy call and --lazy list")
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
func (o *options) layer(j *cli.Job, servers []gateway.Server) (*compiled.Layer, error) {
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
	memory := ""
	if cache, err := os.UserCacheDir(); err == nil && !o.Check { // without one nothing is kept
		memory = filepath.Join(cache, "awo", "rules")
	}
	return compiled.New(a, compiled.Options{
		Memory: memory, Log: j.Log,
		Servers: servers, Writes: compiled.Writes(o.Writes), Returned: o.Results == "returned", Schemas: o.Structured, Mark: o.Mark, Hide: o.Hide,
		Lazy: compiled.Lazy(o.Lazy), Pin: o.Pin, Subset: subset, Definitions: definitions, Predict: predict,
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
