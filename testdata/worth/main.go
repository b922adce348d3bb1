// Command worth makes the tables of docs/benchmarks.md that say what is saved on tasks that
// were not compiled from: it runs `awo backtest` on the office world and on every file
// given, and prints Markdown.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os/exec"
	"path/filepath"
	"strings"
)

type interval struct{ Lo, Hi *float64 }

type technique struct {
	Technique    string
	CallingTurns int                 `json:"calling_turns"`
	Saved        int                 `json:"calling_turns_saved"`
	Tokens       *float64            `json:"tokens_saved"`
	USD          *float64            `json:"cost_saved_usd"`
	Precision    *float64            `json:"precision"`
	Moments      int                 `json:"moments"`
	Intervals    map[string]interval `json:"intervals"`
	Ahead        int                 `json:"reads_ahead"`
	InVain       int                 `json:"reads_wasted"`
	Stale        int                 `json:"stale"`
	Blind        *struct {
		Saved  int      `json:"calling_turns_saved"`
		Reads  int      `json:"extra_reads"`
		Writes int      `json:"extra_writes"`
		Tokens *float64 `json:"tokens_saved"`
		USD    *float64 `json:"money_saved"`
	}
}

type estimate struct{ Value, Lo, Hi float64 }

func (e *estimate) text(digits int, unit string) string {
	return fmt.Sprintf("%.*f (%.*f to %.*f)%s", digits, e.Value, digits, e.Lo, digits, e.Hi, unit)
}

// way is a row of the table ways.
type way struct {
	Way         string
	USD, Tokens *estimate
	Turns       *estimate `json:"calling_turns"`
}

type result struct {
	Figures struct {
		Split struct {
			Test int `json:"test_tasks"`
		}
		Recommendation struct{ Label string }
	}
	Tables struct {
		Techniques struct{ Rows []technique }
		Ways       struct{ Rows []way }
	}
}

func (r *result) of(name string) *technique {
	for i := range r.Tables.Techniques.Rows {
		if r.Tables.Techniques.Rows[i].Technique == name {
			return &r.Tables.Techniques.Rows[i]
		}
	}
	log.Fatalf("the back-test says nothing of %s", name)
	return nil
}

func main() {
	log.SetFlags(0)
	awo := flag.String("awo", "bin/awo", "the program")
	flag.Parse()
	const office = "testdata/office/trajectories.jsonl.gz"
	var tables [3]strings.Builder
	for _, file := range append([]string{office}, flag.Args()...) {
		name, args := strings.TrimSuffix(filepath.Base(file), ".json"), []string{file}
		if file == office {
			name, args = "office, with rules", append(args, "--rules", "testdata/office/rules.yaml")
		}
		now := backtest(*awo, args, "--techniques", "batch,patterns,prefetch,all,bound,bound-chains")
		before := backtest(*awo, args, "--techniques", "patterns", "--batches", "--write-precision", "0", "--objective", "none")
		most := backtest(*awo, args, "--techniques", "patterns", "--batches", "--write-precision", "0", "--min-turns", "1", "--objective", "none")
		now.rows(name, before, most, &tables)
	}
	fmt.Println("| traces (tasks), calling turns | batches and writes too | from one turn on | perfect | blind | precision at moments (95 %) | extra reads | extra writes | saved blind, perfect | batch | bound: reached | bound of chains: reached |\n|---|---:|---:|---:|---:|---|---:|---:|---|---:|---|---|")
	fmt.Println(tables[0].String())
	fmt.Println("| traces | prefetch | share | reads | in vain, a turn saved | stale | saved | all | share | points above patterns |\n|---|---:|---:|---:|---|---:|---|---:|---:|---:|")
	fmt.Println(tables[1].String())
	fmt.Println("| traces | recommended | saved (95 %) | calling turns (95 %) |\n|---|---|---|---|")
	fmt.Print(tables[2].String())
}

func backtest(awo string, args []string, more ...string) *result {
	c := exec.Command(awo, append(append([]string{"backtest", "--format", "json", "--quiet"}, args...), more...)...)
	out, err := c.Output()
	if err != nil {
		log.Fatalf("%v: %v", c.Args, err)
	}
	r := &result{}
	if err := json.Unmarshal(out, r); err != nil {
		log.Fatal(err)
	}
	return r
}

func (r *result) rows(name string, before, most *result, to *[3]strings.Builder) {
	p, ahead, all := r.of("patterns"), r.of("prefetch"), r.of("all")
	precision := ""
	if p.Precision != nil {
		precision = fmt.Sprintf("%.0f %% of %d", 100**p.Precision, p.Moments)
		if i := p.Intervals["precision"]; i.Lo != nil {
			precision += fmt.Sprintf(" (%.0f to %.0f)", 100**i.Lo, 100**i.Hi)
		}
	}
	bound, chains := r.of("bound"), r.of("bound-chains")
	every, each := before.of("patterns").Saved, most.of("patterns").Saved
	fmt.Fprintf(&to[0], "| %s (%d), %d | %d | %d | %d | %d | %s | %d | %d | %s, %s | %d | %d: %s, %s | %d: %s |\n",
		name, r.Figures.Split.Test, p.CallingTurns, every, each, p.Saved, p.Blind.Saved, precision, p.Blind.Reads, p.Blind.Writes,
		amount(p.Blind.USD, p.Blind.Tokens), amount(p.USD, p.Tokens), r.of("batch").Saved, bound.Saved, share(every, bound.Saved), share(each, bound.Saved), chains.Saved, share(p.Saved, chains.Saved))
	vain := ""
	if ahead.Saved > 0 {
		vain = fmt.Sprintf("%d, %.1f", ahead.InVain, float64(ahead.InVain)/float64(ahead.Saved))
	}
	fmt.Fprintf(&to[1], "| %s | %d | %s | %d | %s | %d | %s | %d | %s | %.1f |\n", name, ahead.Saved, share(ahead.Saved, ahead.CallingTurns), ahead.Ahead,
		cmp.Or(vain, fmt.Sprint(ahead.InVain)), ahead.Stale, amount(ahead.USD, ahead.Tokens), all.Saved, share(all.Saved, all.CallingTurns), 100*float64(all.Saved-p.Saved)/float64(max(p.CallingTurns, 1)))
	saves, turns := "not known", "not known"
	for _, v := range r.Tables.Ways.Rows {
		switch {
		case v.Way != "recommended":
		case v.USD != nil:
			saves, turns = v.USD.text(3, " USD"), v.Turns.text(0, "")
		case v.Tokens != nil:
			saves, turns = v.Tokens.text(0, " tokens"), v.Turns.text(0, "")
		}
	}
	fmt.Fprintf(&to[2], "| %s | %s | %s | %s |\n", name, r.Figures.Recommendation.Label, saves, turns)
}

// amount is money where it is known, and else tokens.
func amount(usd, tokens *float64) string {
	switch {
	case usd != nil:
		return fmt.Sprintf("%.3f USD", *usd)
	case tokens != nil:
		return fmt.Sprintf("%.0f tokens", *tokens)
	}
	return "not known"
}

func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
