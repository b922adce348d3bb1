package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/testdata/gen/encode"
	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/atif"
)

// playedVariable is what the file of servers fills in.
const playedVariable = "OFFICE_PLAYED"

// tally counts what agents did.
type tally struct{ turns, calls, uses, handedBack, given int }

func (y *tally) add(o tally) {
	y.turns, y.calls, y.uses, y.handedBack, y.given = y.turns+o.turns, y.calls+o.calls, y.uses+o.uses, y.handedBack+o.handedBack, y.given+o.given
}

// agent plays one run.
type agent struct {
	tally
	c      *client
	t      *trace.Trajectory
	k      knobs
	random *rand.Rand
	tools  map[string]*metatool.Tool // that are offered
	places map[int][]replay.Place    // by first call, the longest first
	all    []*metatool.Tool
	done   []bool
	given  map[string]bool // calls whose answers are attached
}

// session plays a run against an awo of its own.
func session(program string, args []string, o *office.Office, run int, tools []*metatool.Tool, k knobs, seed uint64) (tally, error) {
	t, err := script(o, run)
	if err != nil {
		return tally{}, err
	}
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%d", playedVariable, run))
	var complaint bytes.Buffer
	command.Stderr = &complaint
	in, err := command.StdinPipe()
	if err != nil {
		return tally{}, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return tally{}, err
	}
	if err := command.Start(); err != nil {
		return tally{}, err
	}
	a := &agent{
		c: newClient(in, out), t: t, k: k, random: rand.New(rand.NewPCG(seed, uint64(run))), all: tools,
		tools: map[string]*metatool.Tool{}, places: map[int][]replay.Place{}, done: make([]bool, len(t.Calls)), given: map[string]bool{},
	}
	err = a.play()
	if e := errors.Join(in.Close(), command.Wait()); e != nil && err == nil {
		err = e
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, &complaint)
	}
	return a.tally, err
}

// script returns what the agent does by itself.
func script(o *office.Office, run int) (*trace.Trajectory, error) {
	fragments, err := atif.Format.Decode(trace.Record{Data: encode.ATIF(nil, o.Run(run)), File: "run", Line: 1, Col: 1})
	if err != nil {
		return nil, err
	}
	t := fragments[0].Trajectory
	// A service that did not answer then answers now.
	t.DropCalls(func(c *trace.Call) bool {
		return !c.HasResult || c.Status == trace.StatusFailed && bytes.Contains([]byte(c.Result.Text()), []byte("unavailable"))
	})
	return t, nil
}

func (a *agent) play() error {
	offered, err := a.c.begin("office-agent")
	if err != nil {
		return err
	}
	for _, m := range a.all {
		if slices.Contains(offered, m.Name) {
			a.tools[m.Name] = m
		}
	}
	for _, p := range replay.NewFinder(a.all).Find(a.t, nil) {
		if p.Replay.Saves && a.tools[a.all[p.Tool].Name] != nil {
			first := p.Replay.Occurrence.First()
			a.places[first] = append(a.places[first], p)
		}
	}
	for _, list := range a.places {
		slices.SortStableFunc(list, func(p, q replay.Place) int { return cmp.Compare(len(q.Removed), len(p.Removed)) })
	}
	for turn := range a.t.Turns {
		if err := a.turn(turn); err != nil {
			return err
		}
	}
	return nil
}

// turn does what is left of a turn of the script.
func (a *agent) turn(turn int) error {
	if len(a.all) > 0 && len(a.tools) > 0 && a.random.Float64() < a.k.overuse {
		if err := a.overuse(); err != nil {
			return err
		}
	}
	span := a.t.Turns[turn]
	var wanted []int
	for i := span.FirstCall; i < span.FirstCall+span.NumCalls; i++ {
		c := &a.t.Calls[i]
		if c.Origin != trace.OriginModel || a.done[i] {
			continue
		}
		key := keyOf(c)
		if a.given[key] && a.random.Float64() < a.k.trust {
			a.tally.given++
			continue
		}
		if p := a.placeAt(i); p != nil && a.random.Float64() < a.k.adopt {
			completed, err := a.use(p)
			if err != nil {
				return err
			}
			if completed {
				for _, calls := range p.Replay.Occurrence.Calls {
					for _, c := range calls {
						a.done[c] = a.random.Float64() >= a.k.repeat
					}
				}
			}
			if a.done[i] {
				continue
			}
		}
		wanted = append(wanted, i)
	}
	if len(wanted) == 0 {
		return nil
	}
	a.think()
	var requests []call
	for _, i := range wanted {
		args, _ := a.t.Calls[i].ArgsValue()
		requests = append(requests, call{a.t.Calls[i].Tool.Value(), args})
	}
	a.calls += len(requests)
	answers, err := a.c.call(requests)
	for _, answer := range answers {
		a.read(answer)
	}
	return err
}

// placeAt returns the longest place that begins with a call and whose calls are all to be
// made.
func (a *agent) placeAt(first int) *replay.Place {
	for i := range a.places[first] {
		p := &a.places[first][i]
		open := true
		for _, calls := range p.Replay.Occurrence.Calls {
			for _, c := range calls {
				open = open && !a.done[c] && !a.given[keyOf(&a.t.Calls[c])]
			}
		}
		if open {
			return p
		}
	}
	return nil
}

func keyOf(c *trace.Call) string {
	args, _ := c.ArgsValue()
	return key(c.Tool.Value(), args)
}

func key(tool string, args trace.Value) string {
	return string(args.AppendCanonical([]byte(tool + "\x00")))
}

// think is a turn of the model.
func (a *agent) think() {
	a.turns++
	time.Sleep(a.k.think)
}

// use calls the meta-tool of a place.
func (a *agent) use(p *replay.Place) (completed bool, err error) {
	m := a.all[p.Tool]
	inputs, missing := replay.Inputs(m, a.t, p.Replay.Occurrence)
	if missing != "" {
		return false, nil
	}
	return a.meta(m, inputs)
}

func (a *agent) meta(m *metatool.Tool, inputs trace.Value) (completed bool, err error) {
	a.think()
	a.uses++
	a.calls++
	answers, err := a.c.call([]call{{m.Name, inputs}})
	if err != nil {
		return false, err
	}
	if answers[0].failed {
		a.handedBack++
		return false, nil
	}
	return true, nil
}

// overuse calls a meta-tool with inputs of another place, or such as fit its types.
func (a *agent) overuse() error {
	var names []string
	for name := range a.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	m := a.tools[names[a.random.IntN(len(names))]]
	var members []trace.Member
	for _, in := range m.Inputs {
		v := trace.NewString("something")
		if kind := in.Schema.Member("type").Text; kind == "integer" || kind == "number" {
			v = trace.Value{Kind: trace.Number, Text: "1"}
		}
		members = append(members, trace.Member{Name: in.Name, Value: v})
	}
	_, err := a.meta(m, trace.NewObject(members...))
	return err
}

// read sees what is attached to an answer.
func (a *agent) read(answer answer) {
	for _, e := range answer.attached {
		a.given[key(e.Member("tool").Text, e.Member("arguments"))] = true
	}
}
