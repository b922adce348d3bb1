package rulefile

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/llm"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge/discover"
	"github.com/awo-dev/awo/trace"
	"github.com/spf13/cobra"
)

// modelKey is the variable of the environment with the key of a model.
const modelKey = "AWO_MODEL_KEY"

// shownRuns is how many runs a round shows to the model.
const shownRuns = 8

// discoverOptions are the flags of `awo rules discover`.
type discoverOptions struct {
	Model             string  `mapstructure:"model"`
	ModelName         string  `mapstructure:"model-name"`
	Command           string  `mapstructure:"command"`
	Record            string  `mapstructure:"record"`
	Replay            string  `mapstructure:"replay"`
	Rounds            int     `mapstructure:"rounds"`
	MaxTokens         int64   `mapstructure:"max-tokens"`
	MaxMoney          float64 `mapstructure:"max-money"`
	MaxContradictions float64 `mapstructure:"max-contradictions"`
	Explain           bool    `mapstructure:"explain"`
}

func newDiscover(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "discover TRACES...",
		Short: "Let a language model propose rules, and the traces decide",
		Long: `Let a language model propose rules in rounds, and keep those that the traces support
(the loop of AWO, appendix C, with tests). In each round the model is told the tools and
their schemas, some runs, the rules so far, figures, and what was refused and why. The
rules of an answer are tried as one set: those that match no call or that traces contradict
go, then, the last first, those that are worth nothing among the rest: that make no states
one, or predict the next call worse or save fewer turns on tasks that the model saw nothing
of. The loop ends when a budget is spent or two rounds in a row gain nothing.

The model is a server with OpenAI's chat completions (--model URL; the key, if it wants
one, is in ` + modelKey + `), or a command that reads a prompt and writes an answer
(--command). --record keeps every exchange in a folder, and --replay answers from one, so
that a run can be done again, in tests for example, without a model.

Values of arguments are ordinals such as ‹v1› in what the model is sent; --show-values
sends them as they are. Results are never sent. Names and descriptions of tools, and of
their arguments, are sent as the traces have them.

` + cli.FilesHelp,
		Example: `  awo rules discover traces/ --model http://localhost:11434/v1 --model-name qwen3 > rules.yaml
  awo rules discover traces/ --command 'claude -p' --rounds 3 --record exchanges
  awo rules discover traces/ --replay exchanges --format json`,
		Args: cli.SomeFiles,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices)
	f := c.Flags()
	f.String("model", "", "`URL` of an OpenAI-compatible interface, such as http://localhost:8000/v1")
	f.String("model-name", "", "`NAME` of the model there, by which its price is looked up, too")
	f.String("command", "", "`COMMAND` that reads the prompt and writes the answer")
	f.String("record", "", "keep every exchange in the new folder `DIR`")
	f.String("replay", "", "answer from the recording in `DIR`, and ask no model")
	cli.Count(f, "rounds", 5, 1, "at most so many rounds")
	cli.Count(f, "max-tokens", 0, 0, "stop when questions and answers have so many tokens together (0: no limit)")
	cli.Amount(f, "max-money", 0, "stop when the exchanges have cost so many dollars (0: no limit)")
	cli.Share(f, "max-contradictions", 0.01, false, "the largest share of a rule's checks that may fail, from 0 to 1")
	f.Bool("explain", false, "say what was refused, and why")
	return cli.Work(a, c, discoverRules)
}

// discoverFigures are those of `awo rules discover`.
type discoverFigures struct {
	Input   cli.InputJSON    `json:"input"`
	YAML    string           `json:"yaml"`               // the rule file
	Shown   int              `json:"trajectories_shown"` // that the model may see examples of
	HeldOut int              `json:"trajectories_held_out"`
	Graph   discover.Graph   `json:"graph"` // without the rules
	Before  discover.Figures `json:"before"`
	After   discover.Figures `json:"after"`
	Tokens  discover.Tokens  `json:"tokens"`
	Money   stat.Figure      `json:"money"` // dollars
	Stopped string           `json:"stopped"`
}

// round is a question to the model.
type round struct {
	Round int `json:"round"`
	discover.Tokens
	discover.Graph     // with the rules accepted so far
	Accepted       int `json:"accepted"`
	Refused        int `json:"refused"`
}

// accepted is a rule of a round.
type accepted struct {
	Round int `json:"round"`
	discover.Accepted
}

// refused is a proposal of a round.
type refused struct {
	Round int `json:"round"`
	discover.Refusal
}

// model returns who is asked.
func (o *discoverOptions) model(seed uint64) (llm.Model, error) {
	given := 0
	for _, text := range []string{o.Model, o.Command, o.Replay} {
		if text != "" {
			given++
		}
	}
	if given != 1 {
		return nil, cli.Usagef("name one of --model, --command and --replay")
	}
	var m llm.Model
	switch {
	case o.Replay != "":
		if o.Record != "" {
			return nil, cli.Usagef("--record: a replay is a recording already")
		}
		return &llm.Replayer{Dir: o.Replay}, nil
	case o.Command != "":
		shell := []string{"sh", "-c"}
		if runtime.GOOS == "windows" {
			shell = []string{"cmd", "/c"}
		}
		m = &llm.Command{Shell: shell, Line: o.Command}
	default:
		s := &llm.Server{URL: o.Model, Name: o.ModelName, Key: os.Getenv(modelKey), Seed: seed, Retries: 3}
		if _, err := s.Endpoint(); err != nil {
			return nil, cli.Usagef("--model: %v", err)
		}
		m = s
	}
	if o.Record != "" {
		r, err := llm.NewRecorder(m, o.Record)
		if err != nil {
			return nil, cli.Usagef("--record: %v", err)
		}
		m = r
	}
	return m, nil
}

// price returns the list price of the model of today, which is the one without an end; nil if
// it is not known, which a budget of money wants.
func (o *discoverOptions) price(j *cli.Job) (*cost.Price, error) {
	price := j.Listed.Lookup(o.ModelName, time.Time{})
	if price == nil && o.MaxMoney > 0 {
		return nil, cli.Usagef("--max-money: no price is known for %q: give --model-name and --prices", o.ModelName)
	}
	return price, nil
}

func discoverRules(j *cli.Job, o discoverOptions, files []string) error {
	model, err := o.model(j.Seed)
	if err != nil {
		return err
	}
	options := discover.Options{
		Rounds: o.Rounds, MaxTokens: o.MaxTokens, MaxCost: o.MaxMoney, Sample: shownRuns, ShowValues: j.ShowValues, Seed: j.Seed,
		Tolerance: o.MaxContradictions, Folds: heldOutFolds, Threshold: chainSupport, Rules: j.Set,
		Progress: func(round int, a llm.Answer) {
			j.Log.Debug("a round is done", "round", round, "input tokens", a.InputTokens, "output tokens", a.OutputTokens)
		},
	}
	price, err := o.price(j)
	if err != nil {
		return err
	}
	if price != nil {
		options.Cost = func(in, out int64) float64 { return price.USD(in, 0, 0, out) }
	}
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	d := discover.New(options)
	if err := in.Each(d.Add); err != nil {
		return err
	}
	found, asked := d.Run(j.Context, model)
	if asked != nil && len(found.Rounds) == 0 {
		return asked
	}
	source, err := discoveredFile(found, o, j.RuleFile, j.ReadFile)
	if err != nil {
		return err
	}
	if j.Format == report.FormatText {
		j.Progress.Done()
		j.Printf("%s", source)
		return asked
	}
	doc := discoveryDocument(in, found, source)
	if price != nil && price.Doubt() != "" {
		doc.Note("figures.money", "the price is "+price.Doubt())
	}
	if err := j.Result(doc); err != nil {
		return err
	}
	return asked
}

// discoveredFile is the accepted rules as a rule file, laid out as all are.
func discoveredFile(found *discover.Result, o discoverOptions, base string, load func(string) ([]byte, error)) ([]byte, error) {
	var b draft
	proposed, refused := len(found.Rules), 0
	for _, r := range found.Rounds {
		refused += len(r.Refused)
	}
	b.comment("", "Rules that a model proposed and the traces support, %d of %d: a draft to be read.", len(found.Rules), proposed+refused)
	b.comment("", "The graph of states: %s of the runs that it saw examples of. Held-out runs: %s.",
		became(found.Before.States, found.After.States, "state"), heldText(found.Before, found.After))
	b.comment("", "%s, %s tokens of questions and %s of answers; ended because %s.", cli.CountOf(len(found.Rounds), "round"), report.Grouped(int(found.Tokens.Input)), report.Grouped(int(found.Tokens.Output)), found.Stopped)
	b.begin(base, len(found.Rules))
	for n := range found.Rounds {
		for _, a := range found.Rounds[n].Accepted {
			b.comment("  ", "Round %d, with it added to the others: %s; held out, %s; %s, %d contradicted.", n+1, became(a.Before.States, a.After.States, "state"), heldText(a.Before, a.After), cli.CountOf(a.Checks, "check"), a.Contradictions)
			b.WriteString(a.Rule.Write())
		}
	}
	b.refused(o.Explain, refused, "Refused", "proposal", func() {
		for n := range found.Rounds {
			for _, r := range found.Rounds[n].Refused {
				if r.Rule != "" {
					b.comment("", "- round %d: %s because %s", n+1, r.Rule, r.Reason)
				} else {
					b.comment("", "- round %d: %s", n+1, r.Reason)
				}
			}
		}
	})
	return b.source("discovered rules", load)
}

func became(before, after int, noun string) string {
	return fmt.Sprintf("%s become %s", cli.CountOf(before, noun), report.Grouped(after))
}

func heldText(before, after discover.Figures) string {
	text := became(before.HeldStates, after.HeldStates, "state")
	if before.Bits.Known() {
		text += fmt.Sprintf(", the next call costs %.3f bits instead of %.3f", after.Bits.Float(), before.Bits.Float())
	}
	return text + fmt.Sprintf(", meta-tools save %s instead of %s (upper bounds)", cli.CountOf(after.TurnsSaved, "turn"), report.Grouped(before.TurnsSaved))
}

func discoveryDocument(in *cli.Intake, found *discover.Result, source []byte) *report.Document {
	d := &report.Document{Title: "Discovered rules", Figures: discoverFigures{
		Input: in.JSON(), YAML: string(source), Shown: found.Shown, HeldOut: found.HeldOut,
		Graph: found.Graph, Before: found.Before, After: found.After, Tokens: found.Tokens, Money: found.Cost, Stopped: found.Stopped,
	}}
	d.Add(in.Summary())
	var rounds []round
	var taken []accepted
	var left []refused
	for i, r := range found.Rounds {
		rounds = append(rounds, round{i + 1, r.Tokens, r.Graph, len(r.Accepted), len(r.Refused)})
		for _, a := range r.Accepted {
			taken = append(taken, accepted{i + 1, a})
		}
		for _, x := range r.Refused {
			left = append(left, refused{i + 1, x})
		}
	}
	table := report.TableOf("rules", "", taken, []report.Column{
		{Key: "round"},
		{Key: "rule", From: "id"},
		{Key: "as", From: "rule", Title: "as a rule", Wrap: true, Words: true},
		{Key: "checks"},
		{Key: "states", From: "before.states", Title: "states without it"},
		{Key: "bits", From: "before.held_out_bits", Title: "held-out bits a call without it", Digits: 3},
		{Key: "turns", From: "before.held_out_turns_saved", Title: "held-out turns saved without it"},
	})
	table.Note("Figures are those of the other rules so far without this one; with them all it is %s. Turns saved are an upper bound. Ended because %s.", heldText(found.Before, found.After), found.Stopped)
	d.Add(table, report.TableOf("refused", "Refused", left, []report.Column{{Key: "round"}, {Key: "rule", Wrap: true, Words: true}, {Key: "reason", Wrap: true, Words: true}}), report.TableOf("rounds", "", rounds, nil).Hidden())
	d.Section("The rule file", report.Code{Language: "yaml", Text: string(source)})
	return d
}
