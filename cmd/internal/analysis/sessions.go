package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/sessions"
	"github.com/awo-dev/awo/internal/sessions/cache"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// NewSessions returns `awo sessions`.
func NewSessions(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "sessions",
		Short: "Find the sessions of coding agents on this machine: what they cost, what to change",
		Long: `Find the sessions that coding agents keep on this machine, and say on one screen what
they cost, by agent, project, model and day, what is wrong, and what to do about it.

` + "`awo` without a command does the same, also with these flags." + `

Sessions are looked for where each agent writes them by default, or where its variables say,
such as CLAUDE_CONFIG_DIR and CODEX_HOME; docs/formats.md lists the places. Nothing is sent
anywhere. Files of other users are left out, and links out of a place are not followed.

A project is the folder that the agent worked in. Days are in UTC.`,
		Example: `  awo
  awo sessions --days 30
  awo sessions --agent codex --project website
  awo sessions --days 7 --format json`,
		Args:    cli.NoArguments,
		GroupID: cli.GroupLook,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices)
	f := c.Flags()
	cli.Count(f, "days", 0, 0, "read only sessions of the last `N` days before --until, or before now; 0 means all")
	names := []string{"all"}
	for i := range sessions.Agents {
		names = append(names, sessions.Agents[i].Name)
	}
	f.Var(cli.NewChoice(names...), "agent", "read only the sessions of this agent")
	f.String("project", "", "read only the sessions of the project of this `NAME`")
	return cli.Work(a, c, ofMachine)
}

type sessionsOptions struct {
	Days    int    `mapstructure:"days"`
	Agent   string `mapstructure:"agent"`
	Project string `mapstructure:"project"`
}

// again returns what to type to read the same sessions once more.
func (o sessionsOptions) again(words ...string) string {
	line := []string{"awo", "sessions"}
	if o.Days > 0 {
		line = append(line, "--days", strconv.Itoa(o.Days))
	}
	if o.Agent != "all" {
		line = append(line, "--agent", o.Agent)
	}
	if o.Project != "" {
		line = append(line, "--project", o.Project)
	}
	return cli.ShellLine(append(line, words...)...)
}

// sessionsFigures are those of `awo sessions`.
type sessionsFigures struct {
	Files int `json:"files"` // that hold sessions
	spell
}

// spell is what some sessions were.
type spell struct {
	Sessions  int         `json:"sessions"`
	SubAgents int         `json:"sub_agents"` // that sessions started: in usd and tokens, and not in sessions
	First     string      `json:"first"`      // day on which the first began, in UTC; "" if not recorded
	Last      string      `json:"last"`
	USD       stat.Figure `json:"usd"` // as recorded, else at list prices
	Tokens    int64       `json:"tokens"`
}

type agentSessions struct {
	Agent string `json:"agent"`
	spell
}

type projectSessions struct {
	Project string `json:"project"`
	spell
}

type daySessions struct {
	Day string `json:"day"`
	spell
}

func ofMachine(j *cli.Job, o sessionsOptions, _ []string) error {
	if err := j.LastDays(o.Days, time.Now()); err != nil {
		return err
	}
	home, _ := os.UserHomeDir() // "" without one
	only := o.Agent
	if only == "all" {
		only = ""
	}
	found := sessions.Find(sessions.Machine{System: runtime.GOOS, Home: home, Env: os.Getenv}, only)
	files := sessionFiles(found, j)
	if len(files) == 0 {
		return j.Result(noSessions(found, o))
	}
	chosen, err := j.Filter()
	if err != nil {
		return err
	}
	meter := j.Meter()
	list, in, err := readSessions(j, meter, files, chosen)
	if err != nil {
		return err
	}
	b := &sessionBook{agents: map[string]*sessions.Agent{}, project: cli.GroupOf("project"), only: o.Project, counts: map[sessionKey]*spell{}}
	for i := range files {
		b.agents[files[i].Path] = files[i].Agent
	}
	if err := b.hasProject(list); err != nil {
		return err
	}
	in.Findings = j.NewFindings(meter)
	options := worth.CostOptions{Group: b.group, Known: func(t *trace.Trajectory) (*cost.Account, cost.Placeholders) {
		return b.sessions[t].Account(meter), b.sessions[t].Placeholders
	}}
	account, err := worth.Account(j, in, b.trajectories(list, chosen, in.Findings), meter, options, func(t *trace.Trajectory, _ *cost.Account) { b.see(t) })
	if err != nil {
		return err
	}
	if len(b.counts) == 0 {
		return j.Result(noSessions(found, o))
	}
	return j.Result(b.document(o, len(files), in, found, account.Costs(in), home))
}

// sessionFiles returns the session files that may hold sessions of the time that is asked for.
func sessionFiles(found *sessions.Found, j *cli.Job) (files []sessions.File) {
	since, _ := filter.ParseTime(j.Since) // what is no time is refused later
	for i := range found.Files {
		if f := &found.Files[i]; since.IsZero() || f.Agent.Parts || !f.Changed.Before(since) {
			files = append(files, *f)
		}
	}
	return files
}

// hasProject returns an error if no session is of the project that was asked for.
func (b *sessionBook) hasProject(list []*cache.Session) error {
	names := map[string]bool{}
	for _, s := range list {
		names[b.project(s.Trajectory)] = true
	}
	if b.only == "" || names[b.only] || len(names) == 0 {
		return nil
	}
	known := slices.Sorted(maps.Keys(names))
	if near := diag.Nearest(b.only, known); near != "" {
		return cli.Usagef("--project: no session is of %q; did you mean %q?", b.only, near)
	}
	return cli.Usagef("--project: no session is of %q; there are %s", b.only, foremost(known, 8))
}

// sessionKey is what sessions are counted by.
type sessionKey struct{ agent, project, day string }

// sessionBook counts sessions, and adds up what a ledger has for them.
type sessionBook struct {
	agents   map[string]*sessions.Agent
	sessions map[*trace.Trajectory]*cache.Session
	project  func(*trace.Trajectory) string
	only     string // the project that is asked for, "" for all
	counts   map[sessionKey]*spell
}

func (b *sessionBook) key(t *trace.Trajectory) sessionKey {
	key := sessionKey{agent: t.Agent, project: b.project(t)}
	if a := b.agents[t.Source.File]; a != nil {
		key.agent = a.Name
	}
	if at := t.Started(); !at.IsZero() {
		key.day = at.UTC().Format(time.DateOnly)
	}
	return key
}

// group names what a ledger adds up by.
func (b *sessionBook) group(t *trace.Trajectory) string {
	key := b.key(t)
	return key.agent + "\x00" + key.day + "\x00" + key.project
}

// see counts a session.
func (b *sessionBook) see(t *trace.Trajectory) {
	key := b.key(t)
	s := b.counts[key]
	if s == nil {
		s = &spell{First: key.day, Last: key.day}
		b.counts[key] = s
	}
	if t.Parent.Trajectory != "" {
		s.SubAgents++
		return
	}
	s.Sessions++
}

// by adds up sessions by a part of their key, those that cost most first.
func (b *sessionBook) by(costs worth.Costs, part func(sessionKey) string) (names []string, out map[string]spell) {
	out = map[string]spell{}
	for key, s := range b.counts {
		sum := out[part(key)]
		sum.Sessions += s.Sessions
		sum.SubAgents += s.SubAgents
		if sum.First == "" || s.First != "" && s.First < sum.First {
			sum.First = s.First
		}
		sum.Last = max(sum.Last, s.Last)
		out[part(key)] = sum
	}
	lines := map[string]cost.Line{}
	for i := range costs.Groups {
		key := keyOf(costs.Groups[i].Name)
		sum := lines[part(key)]
		sum.Totals.Add(costs.Groups[i].Totals)
		lines[part(key)] = sum
	}
	for name, sum := range out {
		line := lines[name].Priced()
		sum.USD, sum.Tokens = line.PaidUSD, line.Tokens()
		out[name] = sum
	}
	names = slices.SortedFunc(maps.Keys(out), func(x, y string) int {
		a, _ := out[x].USD.Value()
		b, _ := out[y].USD.Value()
		return cmp.Or(cmp.Compare(b, a), cmp.Compare(out[y].Tokens, out[x].Tokens), strings.Compare(x, y))
	})
	return names, out
}

func keyOf(group string) sessionKey {
	agent, rest, _ := strings.Cut(group, "\x00")
	day, project, _ := strings.Cut(rest, "\x00")
	return sessionKey{agent: agent, project: project, day: day}
}

// document shows what was found.
func (b *sessionBook) document(o sessionsOptions, files int, in *cli.Intake, found *sessions.Found, costs worth.Costs, home string) *report.Document {
	_, all := b.by(costs, func(sessionKey) string { return "" })
	figures := sessionsFigures{Files: files, spell: all[""]}
	figures.USD, figures.Tokens = costs.PaidUSD, costs.Tokens
	byAgent, agents := b.by(costs, func(k sessionKey) string { return k.agent })
	byProject, projects := b.by(costs, func(k sessionKey) string { return k.project })
	byDay, days := b.by(costs, func(k sessionKey) string { return k.day })
	slices.SortFunc(byDay, func(x, y string) int { return strings.Compare(y, x) })
	d := &report.Document{Title: "Sessions", Figures: figures, Lines: report.ScreenLines + 2 + len(byAgent)}
	d.Answer = sessionsAnswer(figures.spell, len(byAgent), in.Findings.List())
	table := spellTable("agents", "agent", cli.Map(byAgent, func(n *string) agentSessions { return agentSessions{*n, agents[*n]} }))
	table.Brief = len(byAgent)
	d.Add(table)
	d.Add(unread(found)...)
	var models []string
	for i := range costs.Models {
		models = append(models, amountOf(costs.Models[i].Name, costs.Models[i].PaidUSD, costs.Models[i].Tokens()))
	}
	worthOf := func(sums map[string]spell) func(*string) string {
		return func(n *string) string { return amountOf(*n, sums[*n].USD, sums[*n].Tokens) }
	}
	d.Add(report.Short("Projects: "+foremost(cli.Map(byProject, worthOf(projects)), 4)), report.Short("Models: "+foremost(models, 4)), report.Short("Days: "+foremost(cli.Map(byDay, worthOf(days)), 5)))
	in.Findings.Section(d, cli.FindingsShown)
	d.Details()
	d.Section("By project", spellTable("projects", "project", cli.Map(byProject, func(n *string) projectSessions { return projectSessions{*n, projects[*n]} })))
	d.Section("By model", worth.LineTable("models", "model", costs.Models))
	d.Section("By day", spellTable("days", "day", cli.Map(byDay, func(n *string) daySessions { return daySessions{*n, days[*n]} })))
	d.Section("All findings", cli.FindingsTable(in.Findings.List()).IfAny())
	d.Section("What cannot be known", report.List(costs.Unknown))
	if list := in.Findings.List(); len(list) > 0 {
		x := list[0].Examples[0]
		d.Next = append(d.Next, "awo show "+homely(x.File, home)+" "+cli.ShellLine(x.Trajectory)+" # the session with most of the first finding")
	}
	d.Next = append(d.Next, o.again("--details")+" # all findings, and tables by project, model and day")
	return d
}

// homely writes the name of a file for a shell, from the home folder on where shells allow it.
func homely(file, home string) string {
	below, err := filepath.Rel(home, file)
	if err != nil || !filepath.IsLocal(below) || runtime.GOOS == "windows" {
		return cli.ShellLine(file)
	}
	return "~/" + cli.ShellLine(below)
}

// amountOf names something with what it cost, or without a price how many tokens it took.
func amountOf(name string, usd stat.Figure, tokens int64) string {
	name = cmp.Or(name, "(not recorded)")
	if v, ok := usd.Value(); ok {
		return fmt.Sprintf("%s %s USD", name, cli.Dollars(v))
	}
	return fmt.Sprintf("%s %s tokens", name, cli.Grouped(tokens))
}

// foremost lists the first of some names.
func foremost(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %s more", report.Grouped(more))
	}
	return text + "."
}

// sessionsAnswer says in a sentence what there is and what to do first.
func sessionsAnswer(all spell, agents int, wrong []cli.Finding) string {
	text := fmt.Sprintf("%s of %s", cli.CountOf(all.Sessions, "session"), cli.CountOf(agents, "agent"))
	if all.First != "" {
		text += " since " + all.First
	}
	if usd, ok := all.USD.Value(); ok {
		text += fmt.Sprintf(" cost %s USD", cli.Dollars(usd))
	} else {
		text += fmt.Sprintf(" took %s tokens", cli.Grouped(all.Tokens))
	}
	if len(wrong) == 0 {
		return text + ", and no problem with the agents was found."
	}
	return text + ". Fix this first: " + cli.FindingName(&wrong[0]) + "."
}

// spellTable shows sessions by what key says.
func spellTable[R any](id, key string, rows []R) *report.Table {
	table := report.TableOf(id, "", rows, []report.Column{
		{Key: key, Max: 44, Empty: "(not recorded)"},
		{Key: "sessions"},
		{Key: "sub_agents", Title: "sub-agents", Rank: 4},
		{Key: "first", Words: true, Hide: key == "day", Rank: 3},
		{Key: "last", Words: true, Hide: key == "day"},
		{Key: "tokens"},
		{Key: "usd", Title: "cost", Unit: "USD", Digits: 2},
	})
	return table
}

// unread says what was found and is not read.
func unread(found *sessions.Found) (out []report.Block) {
	for _, a := range found.Databases {
		out = append(out, report.Paragraph(fmt.Sprintf("%s keeps newer sessions in a database, which awo does not read: %s.", a.Title, a.Export)))
	}
	for _, link := range found.Links {
		out = append(out, report.Paragraph(fmt.Sprintf("%s is a link to another place, which was not followed; `awo FOLDER` reads that.", link)))
	}
	if found.Foreign > 0 {
		out = append(out, report.Paragraph(fmt.Sprintf("%s of other users were left out.", cli.CountOf(found.Foreign, "file or folder"))))
	}
	if found.Beyond > 0 {
		out = append(out, report.Paragraph("There are more files than awo lists: some sessions are in no figure."))
	}
	return out
}

// noSessions says that there is no session, and how to name traces.
func noSessions(found *sessions.Found, o sessionsOptions) *report.Document {
	d := &report.Document{Title: "Sessions", Answer: "No sessions of coding agents were found on this machine."}
	if len(found.Files) > 0 {
		d.Answer = "The sessions on this machine are all of another time, or left out by --where."
	}
	d.Figures = sessionsFigures{spell: spell{USD: stat.Unknown(noSession)}}
	d.Add(unread(found)...)
	var titles []string
	for i := range sessions.Agents {
		if a := &sessions.Agents[i]; o.Agent == "all" || o.Agent == a.Name {
			titles = append(titles, a.Title)
		}
	}
	d.Section("Looked for", report.Paragraph(strings.Join(titles, ", ")+": in the usual places of each below the home folder, and where its variables point (docs/formats.md)."))
	d.Section("What to do", report.Paragraph("Name traces: awo FILES... reads files and folders in any format that `awo formats` lists."))
	d.Add(spellTable("agents", "agent", []agentSessions{}).Hidden())
	d.Next = []string{"awo FILES... # what traces are, what they cost and what is wrong", "awo help # all commands"}
	return d
}

const noSession = "there is no session"
