package backtest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/predict/effects"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/trace"
)

// readAhead makes the reads that usually follow an answer or a message at once, and hands
// their results to the agent with it.
var readAhead = prefetching("prefetch", "reads that usually follow an answer or a message are made with it, and their results attached", readings{})

// prefetchTechniques are readAhead, its parts by where the values come from, and what is left
// of it if every rule has to pay.
var prefetchTechniques = []Technique{
	readAhead,
	prefetching("prefetch-result", "prefetch of values in earlier answers alone", readings{from: "result"}),
	prefetching("prefetch-user", "prefetch of values in the user's messages alone", readings{from: "user"}),
	prefetching("prefetch-none", "prefetch of reads that need no value alone", readings{from: "none"}),
	prefetching("prefetch-same", "prefetch of values that were the same in all tasks alone", readings{from: "same"}),
	prefetching("prefetch-gateway", "prefetch where only calls are seen: values of messages count once they stood in an earlier call", readings{gateway: true}),
	prefetching("prefetch-paying", "prefetch by the rules that save tokens in training, by two standard errors", readings{pays: true}),
}

// readings say which rules are followed.
type readings struct {
	use     float64 // from which P(use) on; 0 means learn.DefaultThreshold
	from    string  // the name of the kind of source; "" for all
	pays    bool    // only rules that save tokens in training
	gateway bool    // messages of the user are not seen
}

func prefetching(name, doc string, which readings) Technique {
	return Technique{Name: name, Doc: doc, Train: func(p *Part) Trained { return p.trainReader(which) }}
}

// reader is rules that were learnt, and what their reads cost.
type reader struct {
	meter    *cost.Meter
	set      prefetch.Set
	sessions *prefetch.Sessions // of set
	evidence []stored.Evidence
	// following is how many reads of the second level an answer of a rule's target leads
	// to: the mean over the answers of the training part.
	following []float64
	gateway   bool // messages of the user are not seen
	notes     []string
}

// follows surveys what follows from answers in the training part, once.
func (p *Part) follows() *learn.Survey {
	if p.survey == nil {
		p.survey = learn.NewSurvey(p.Runs, learn.Options{
			Reads: p.readsOnly, Tokens: func(c *trace.Call) int64 { return p.meter.Raw(c.Result) },
			Workers: p.Options.Workers, Links: p.linked(), Credentials: p.secrets, Rules: p.Options.Rules,
		})
	}
	return p.survey
}

// LearnReads learns from runs which reads to make ahead of an agent, as the technique prefetch
// does from a training part. links are those of the runs, nil if nobody has looked for them.
func LearnReads(runs []*corpus.Run, links *dataflow.Set, o Options, threshold float64) *learn.Result {
	o.Meter = cmp.Or(o.Meter, cost.NewMeter(cost.Options{}))
	p := &Part{Runs: runs, Options: o, meter: o.Meter, links: links}
	return p.follows().Choose(learn.ChooseOptions{Threshold: threshold, Seed: o.Seed})
}

// trainReader learns to read ahead, once for each choice of rules.
func (p *Part) trainReader(which readings) *reader {
	which.use = cmp.Or(which.use, learn.DefaultThreshold)
	if r := p.readers[which]; r != nil {
		return r
	}
	learnt := p.follows().Choose(learn.ChooseOptions{Threshold: which.use, NoIntervals: true})
	if which.from != "" {
		learnt.Keep(func(i int) bool { return learnt.Set.Rules[i].Source.Kind.String() == which.from })
	}
	if which.pays {
		learnt = p.keepPaying(learnt)
	}
	r := p.newReader(learnt.Set, learnt.Evidence)
	r.gateway = which.gateway
	if p.readers == nil {
		p.readers = map[readings]*reader{}
	}
	p.readers[which] = r
	return r
}

// newReader follows rules with their evidence.
func (p *Part) newReader(set prefetch.Set, evidence []stored.Evidence) *reader {
	r := readerOf(&set)
	r.meter, r.evidence = p.meter, evidence
	for i := range r.set.Rules {
		level := 1 // of the reads that the rule leads to
		if r.set.Rules[i].Source.Tool == "" {
			level = 0
		}
		for k := range r.set.Rules {
			if next := &r.set.Rules[k]; next.Depth > level && next.Source.Tool == r.set.Rules[i].Target.Tool {
				r.following[i] += evidence[k].PerAnswer
			}
		}
	}
	r.notes = []string{
		"only tools that rules, annotations or else names say to read are prefetched, and what was read counts for nothing once another tool is called",
		"what wasted reads return is not recorded: their tokens are the mean of their tool, and how many reads of the second level they lead to is the mean of the training part",
	}
	return r
}

// keepPaying keeps the rules that save tokens in the training part; one that does not is tried
// as it is chosen for a higher P(use), where it reads less in vain.
func (p *Part) keepPaying(learnt *learn.Result) *learn.Result {
	type link struct{ source, target string }
	linkOf := func(r *prefetch.Rule) link {
		return link{r.Source.Kind.String() + r.Source.Tool + r.Source.Path.String() + fmt.Sprint(r.Source.Slots), r.Target.Tool + " " + r.Target.Argument}
	}
	out, kept := &learn.Result{Set: prefetch.Set{Reads: learnt.Set.Reads}}, map[link]bool{}
	for _, use := range usesTried {
		if use > usesTried[0] {
			learnt = p.follows().Choose(learn.ChooseOptions{Threshold: use, NoIntervals: true})
		}
		pays := p.paying(p.newReader(learnt.Set, learnt.Evidence))
		for i := range learnt.Set.Rules {
			if of := linkOf(&learnt.Set.Rules[i]); pays[i] && !kept[of] {
				kept[of] = true
				if use > usesTried[0] {
					learnt.Set.Rules[i].ID += fmt.Sprintf("-at-%g", use)
				}
				out.Set.Rules, out.Evidence = append(out.Set.Rules, learnt.Set.Rules[i]), append(out.Evidence, learnt.Evidence[i])
			}
		}
	}
	return out
}

// paying says of each rule whether it saves tokens in the training part, all rules being
// followed: the mean over tasks, less two standard errors, is above zero. A turn that goes is
// shared by the rules whose reads answer its calls, and each rule pays for its reads. Tokens
// that are not recorded are counted from texts.
func (p *Part) paying(r *reader) []bool {
	pays, choosing := make([]bool, len(r.set.Rules)), p.choosing()
	tasks := map[string][]float64{}
	for _, run := range p.Runs {
		sums := tasks[run.TaskKey()]
		if sums == nil {
			sums = make([]float64, len(pays))
			tasks[run.TaskKey()] = sums
		}
		c := &Case{Run: run, Account: choosing.account(run.Trajectory)}
		f := r.find(c, nil, nil)
		saved := map[int]float64{} // by turn that goes, for each of its calls
		for _, turn := range f.Removed {
			saved[turn] = float64(c.Account.Saving([]int{turn}, 0).Tokens()) / float64(run.Turns[turn].NumCalls)
		}
		for i := range f.Reading.made {
			one := &f.Reading.made[i]
			sums[one.rule] += saved[one.until] - float64(r.read(c, f, one).Tokens())
		}
	}
	for i := range pays {
		var each []float64
		for _, task := range slices.Sorted(maps.Keys(tasks)) {
			each = append(each, tasks[task][i])
		}
		mean, deviation := gonum.MeanStdDev(each, nil)
		pays[i] = mean > 2*deviation/math.Sqrt(float64(len(each)))
	}
	return pays
}

// readerOf follows rules of which nothing else is known.
func readerOf(set *prefetch.Set) *reader {
	r := &reader{set: *set, following: make([]float64, len(set.Rules))}
	r.sessions = prefetch.NewSessions(&r.set)
	return r
}

// turnsRead returns the turns that reading ahead from a P(use) on saves in the training
// part, by trajectory; nil for 0.
func (p *Part) turnsRead(use float64) [][]span {
	if use == 0 || p.read[use] != nil {
		return p.read[use]
	}
	if p.read == nil {
		p.read = map[float64][][]span{}
	}
	p.read[use] = turnsRead(p.Runs, p.trainReader(readings{use: use}), p.choosing())
	return p.read[use]
}

// turnsRead replays reading ahead, and returns the turns that it saves, by trajectory.
func turnsRead(runs []*corpus.Run, r *reader, o ChooseOptions) [][]span {
	o = o.filled()
	type found struct {
		t *trace.Trajectory
		*Finding
	}
	read := [][]span{}
	for f := range par.Map(max(o.Workers, 1), slices.Values(runs), func(run *corpus.Run) found {
		return found{run.Trajectory, r.find(&Case{Run: run}, nil, nil)}
	}) {
		var list []span
		var account *cost.Account
		if len(f.Removed) > 0 && recordsUsage(f.t) {
			account = o.account(f.t)
		}
		for _, turn := range f.Removed {
			t := &f.t.Turns[turn]
			one := span{item: readItem, begin: int32(t.FirstCall), end: int32(t.FirstCall + t.NumCalls), turns: 1, calls: 1}
			if account != nil {
				saved := account.Saving([]int{turn}, 0)
				one.tokens, one.usd = float32(saved.Tokens()), float32(saved.USD)
			}
			list = append(list, one)
		}
		read = append(read, list)
	}
	return read
}

// effects returns what the training part says about what tools do, collected once.
func (p *Part) effects() *effects.Known {
	if p.judged == nil {
		p.judged = effects.New(p.Options.Rules, true)
		for _, r := range p.Runs {
			p.judged.Add(r.Trajectory)
		}
	}
	return p.judged
}

// readsOnly reports whether a tool is known to only read.
func (p *Part) readsOnly(tool trace.Name) bool {
	reads, _ := p.effects().Reads(tool, p.Options.Compile.DeclaredReads)
	return reads
}
