// Agent plays agents of the toy office through `awo serve`, and is the office's MCP server.
//
//	go run ./testdata/agent -awo bin/awo -n 200 -record bin/loop/before
//	go run ./testdata/agent -awo bin/awo -first 200 -n 200 -record bin/loop/after -tools bin/loop/tools -control 0.5
//
// With the word experiment a model takes part; see experiment.go. Otherwise none does: an agent does what a run of testdata/gen did, call by call and turn
// by turn, with the same pauses between turns as a fast model. Where it is offered a
// meta-tool that makes its next calls, it calls that with probability -adopt; with
// probability -overuse it calls one where it makes no sense, and with -repeat it makes a call
// again that the meta-tool has made. What is attached to an answer it does not ask for, with
// probability -trust. Servers do not answer with probability -fail.
//
// Every session is a process of awo with a process of the server behind it, as an agent on
// this machine would have. What comes of it are recordings. The agents follow from -seed;
// the arms do not, because sessions have random names.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/testdata/gen/office"
)

// knobs are what agents do.
type knobs struct {
	adopt, overuse, repeat, trust float64
	think                         time.Duration
}

// runVariable and failVariable tell the server which office it is and how often it fails.
const (
	runVariable  = "OFFICE_RUN"
	failVariable = "OFFICE_FAIL"
	runsVariable = "OFFICE_RUNS"

	stateVariable = "OFFICE_STATE" // the file that says in the end whether the task is done
)

func main() {
	if run := os.Getenv(runVariable); run != "" {
		if err := beServer(run); err != nil {
			fmt.Fprintln(os.Stderr, "office:", err)
			os.Exit(1)
		}
		return
	}
	do := play
	if len(os.Args) > 1 && os.Args[1] == "experiment" {
		do = func() error { return experiment(os.Args[2:], os.Stdout) }
	}
	if err := do(); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "agent:", err)
		}
		os.Exit(1)
	}
}

// offices are those of all runs of the loop, whichever part of them is played.
func offices(runs int) (*office.Office, error) {
	return office.New(office.Options{Trajectories: runs, Tokens: office.Approximate})
}

func beServer(run string) error {
	i, err := strconv.Atoi(run)
	if err != nil {
		return err
	}
	runs, err := strconv.Atoi(os.Getenv(runsVariable))
	if err != nil {
		return err
	}
	fail, err := strconv.ParseFloat(os.Getenv(failVariable), 64)
	if err != nil {
		return err
	}
	o, err := offices(runs)
	if err != nil {
		return err
	}
	served := newServer(o, i, fail)
	if err := served.serve(os.Stdin, os.Stdout); err != nil || os.Getenv(stateVariable) == "" {
		return err
	}
	return os.WriteFile(os.Getenv(stateVariable), fmt.Append(nil, o.Solved(i, served.office)), 0o600)
}

func play() error {
	var k knobs
	f := flag.NewFlagSet("agent", flag.ContinueOnError)
	awo := f.String("awo", "bin/awo", "the awo `program`")
	first, n, runs := f.Int("first", 0, "the first run that is played"), f.Int("n", 200, "how many runs"), f.Int("runs", 400, "of how many in all")
	record := f.String("record", "", "`folder` for the recordings")
	tools := f.String("tools", "", "`folder` of artefacts that are served")
	control, seed := f.Float64("control", 0, "`share` of sessions without them"), f.Uint64("seed", 1, "what agents choose follows from it")
	fail := f.Float64("fail", 0, "how often a server does not answer")
	at := f.Int("at", 8, "sessions at once")
	f.Float64Var(&k.adopt, "adopt", 0.7, "how often a meta-tool is called where it makes the next calls")
	f.Float64Var(&k.overuse, "overuse", 0, "how often a turn begins with one that is of no use")
	f.Float64Var(&k.repeat, "repeat", 0, "how often a call is made again after a meta-tool made it")
	f.Float64Var(&k.trust, "trust", 0.9, "how often what is attached is not asked for")
	f.DurationVar(&k.think, "think", 120*time.Millisecond, "what a turn of the model takes")
	if err := f.Parse(os.Args[1:]); err != nil {
		return err
	}
	if *record == "" {
		return errors.New("-record: a folder is needed")
	}
	o, err := offices(*runs)
	if err != nil {
		return err
	}
	var offered []*metatool.Tool
	if *tools != "" {
		src, err := os.ReadFile(*tools + "/" + arazzo.File)
		if err == nil {
			offered, err = arazzo.Parse(arazzo.File, src)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // reads ahead may be all that was compiled
			return err
		}
	}
	config, err := writeConfig(*record, *runs, *fail)
	if err != nil {
		return err
	}
	args := []string{"serve", "--quiet", "--servers", config, "--record", *record}
	if *tools != "" {
		args = append(args, "--tools", *tools, "--writes", "client", "--control", fmt.Sprint(*control), "--seed", fmt.Sprint(*seed))
	}
	var (
		work   sync.WaitGroup
		slots  = make(chan struct{}, *at)
		mu     sync.Mutex
		failed error
		total  tally
	)
	for i := *first; i < *first+*n; i++ {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			counts, err := session(*awo, args, o, i, offered, k, *seed)
			mu.Lock()
			defer mu.Unlock()
			total.add(counts)
			if err != nil && failed == nil {
				failed = fmt.Errorf("run %d: %w", i, err)
			}
		})
	}
	work.Wait()
	fmt.Printf("%d sessions: %d turns, %d calls, %d uses of meta-tools (%d handed back), %d calls not made because their answers were attached\n",
		*n, total.turns, total.calls, total.uses, total.handedBack, total.given)
	return failed
}
