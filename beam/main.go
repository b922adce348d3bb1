// Command awo-beam counts traces on the workers of a runner of Apache Beam, into the
// summary that `awo summarize` writes on one machine.
//
//	awo-beam -output all.awosum 'traces/*.jsonl.gz'
//	awo-beam -runner flink -endpoint localhost:8099 -output gs://bucket/all.awosum 'gs://bucket/traces/*'
//
// docs/scale.md says what a unit of reading is, which runners were tried, and how.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/awo-dev/awo/beam/summarize"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/metatool/arazzo"
)

func main() {
	o := summarize.Options{Count: count.Default()}
	mapFile, rulesFile, tools, logged, metrics := "", "", "", "", false
	flag.StringVar(&o.Out, "output", "", "`FILE` to write, whose name ends in .awosum")
	flag.StringVar(&o.Unit, "unit", summarize.UnitFile, "what one worker reads from beginning to end: file, folder or all")
	flag.IntVar(&o.Branches, "branches", 1, "count in so many stages side by side; for Prism, which makes one bundle a stage")
	flag.IntVar(&o.FanIn, "fan-in", 0, "merge parts on so many workers before the last")
	flag.BoolVar(&o.AllowOverlap, "allow-overlap", false, "count inputs that are there twice as often")
	flag.BoolVar(&metrics, "metrics", false, "print what the pipeline counted of itself, as JSON")
	flag.StringVar(&logged, "log", "none", "what the runner says to the standard error: none, error, warn, info or debug")
	flag.StringVar(&mapFile, "map", "", "`FILE` with the map of a layout of its own, read here and sent to the workers")
	c := &o.Count
	flag.BoolVar(&c.CollapseRepeats, "collapse-repeats", false, "as of awo summarize, like the next ones")
	flag.BoolVar(&c.DropFailed, "drop-failed", false, "")
	flag.Func("exclude-tool", "", func(glob string) error { c.ExcludeTool = append(c.ExcludeTool, glob); return nil })
	flag.IntVar(&c.MinLength, "min-length", 0, "")
	flag.StringVar(&c.Shell, "shell", c.Shell, "")
	flag.DurationVar(&c.TurnGap, "turn-gap", c.TurnGap, "")
	flag.StringVar(&c.Where, "where", "", "")
	flag.StringVar(&c.Since, "since", "", "")
	flag.StringVar(&c.Until, "until", "", "")
	flag.StringVar(&rulesFile, "rules", "", "`FILE`, read here like the next one and sent to the workers")
	flag.StringVar(&tools, "tools", "", "`DIR` of artefacts, with meta-tools and prefetch rules, or FILE metatools.arazzo.yaml")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: awo-beam [flags] -output FILE.awosum FILES...\n\nFILES are names or patterns of traces and summaries, on any file system of Beam.")
		flag.PrintDefaults()
	}
	flag.Parse()
	beam.Init() // on a worker this does not return
	o.Inputs = flag.Args()
	if logged == "none" {
		slog.SetDefault(slog.New(slog.DiscardHandler))
	} else {
		log.SetupLogging(logged, "text")
	}
	err := broadcast(&o, mapFile, rulesFile, tools)
	if err == nil {
		err = run(o, metrics)
	}
	if err != nil {
		text := err.Error()
		if logged == "none" {
			text = summarize.Reason(err)
		}
		fmt.Fprintln(os.Stderr, "awo-beam:", text)
		os.Exit(1)
	}
}

// broadcast reads what all workers need: a map, rules with what they include, meta-tools and
// rules for reading ahead.
func broadcast(o *summarize.Options, mapFile, rulesFile, tools string) error {
	if mapFile != "" {
		text, err := os.ReadFile(mapFile)
		if err != nil {
			return err
		}
		o.Map, o.Count.Map = string(text), filepath.Base(mapFile)
	}
	if rulesFile != "" {
		read, err := count.ReadRules(filepath.ToSlash(rulesFile), func(name string) ([]byte, error) { return os.ReadFile(filepath.FromSlash(name)) })
		if err != nil {
			return err
		}
		o.Count.Rules = read
	}
	if tools == "" {
		return nil
	}
	var err error
	if info, failed := os.Stat(tools); failed != nil || !info.IsDir() {
		o.Count.Tools, err = artefact(tools)
		return err
	}
	if o.Count.Prefetch, err = artefact(filepath.Join(tools, count.PrefetchChoice)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o.Count.Tools, err = artefact(filepath.Join(tools, arazzo.File))
	if errors.Is(err, fs.ErrNotExist) && o.Count.Prefetch != nil {
		return nil
	}
	return err
}

func artefact(name string) (*count.Artefact, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &count.Artefact{File: filepath.ToSlash(name), Text: string(text)}, nil
}

func run(o summarize.Options, metrics bool) error {
	if err := o.Check(); err != nil {
		return fmt.Errorf("%w (awo-beam -help lists the flags)", err)
	}
	p := beam.NewPipeline()
	summarize.Pipeline(p.Root(), o)
	result, err := beamx.RunWithMetrics(context.Background(), p)
	if err != nil {
		return err
	}
	if !metrics || result == nil {
		return nil
	}
	counted := map[string]any{}
	all := result.Metrics().AllMetrics()
	for _, x := range all.Counters() {
		if x.Key.Namespace == "awo" {
			n, _ := counted[x.Key.Name].(int64)
			counted[x.Key.Name] = n + x.Result()
		}
	}
	for _, x := range all.Distributions() {
		if x.Key.Namespace == "awo" {
			d := x.Result()
			n, _ := counted[x.Key.Name+"_sum"].(int64)
			k, _ := counted[strings.TrimSuffix(x.Key.Name, "_bytes")+"s"].(int64)
			counted[x.Key.Name+"_sum"], counted[strings.TrimSuffix(x.Key.Name, "_bytes")+"s"] = n+d.Sum, k+d.Count
		}
	}
	return json.NewEncoder(os.Stdout).Encode(counted)
}
