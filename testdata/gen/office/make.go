package office

import (
	"fmt"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// Run makes run i.
func (o *Office) Run(i int) *Run {
	index, trial := o.schedule(i)
	w := o.offices.fresh(o.persona(index))
	t := o.task(index, w)
	rng := world.NewRand(o.Options.Seed, "run", i)
	h := drawHabits(rng)
	if o.Drifted(i) {
		h = h.shifted()
	}
	edition := o.Edition(i)
	begin := o.startOf(i, rng)
	s := &session{
		run: &Run{
			Index: i, ID: fmt.Sprintf("run-%s%06d", o.mark(), i), Task: t.id, Trial: trial, Family: t.family.name, Persona: t.persona,
			Second: o.Drifted(i), Agent: h.agent, System: systemPrompt(h), Start: begin,
		},
		rng: rng, office: w, edition: edition, task: t, habits: h, clock: begin,
		meter:     meter{counter: o.counter, anthropic: h.agent.Provider == "anthropic"},
		tokens:    make(map[string]ref),
		turnsLeft: 60,
	}
	if rng.Chance(h.quit) {
		s.turnsLeft = rng.Between(1, 8)
	}
	s.offer()
	s.meter.begin(o.prefix(s.run), rng.Chance(.5))
	s.hear(t.text)
	s.work()
	s.run.End = s.clock
	return s.run
}

// mark distinguishes the ids of corpora with different seeds.
func (o *Office) mark() string {
	if o.Options.Seed == CommittedSeed {
		return ""
	}
	return fmt.Sprintf("s%d-", o.Options.Seed)
}

// work lets the agent do the task and decides whether it was solved.
func (s *session) work() {
	if s.rng.Chance(.012) {
		s.say("I am sorry, I cannot help with this at the moment.")
		return
	}
	s.begin()
	s.task.family.work(s)
	if s.task.family.solved != nil {
		s.run.Solved = s.task.family.solved(s)
	} else {
		s.run.Solved = !s.stopped
	}
}

// offer decides which tools the model gets: those of the task's applications,
// or for some agents all there are.
func (s *session) offer() {
	wanted := map[string]bool{"supervisor": true, "contacts": s.task.family.people}
	for _, app := range s.task.family.apps {
		wanted[app] = true
	}
	everything := s.habits.agent.Name == "courier" && s.rng.Chance(.5)
	s.offered = make(map[string]bool)
	for _, tool := range s.edition.Tools {
		switch {
		case tool.Op == "think" && s.habits.plan+s.habits.ponder == 0,
			tool.Op == "supervisor_complete_task" && !s.habits.complete:
			continue
		case wanted[tool.App], everything, tool.Op == "think":
			s.offered[tool.Op] = true
			s.run.Tools = append(s.run.Tools, tool)
		}
	}
}

// prefix returns how many tokens the system prompt and the definitions have.
func (o *Office) prefix(r *Run) int {
	n := o.counter.count(r.System) + perMessage
	for _, t := range r.Tools {
		n += o.definition[t]
	}
	return n
}

func systemPrompt(h habits) string {
	prompt := "You are " + h.agent.Name + ", an assistant in an office. Use the tools to do what the user asks. " +
		"Every application needs a login; passwords are stored with the supervisor. "
	if h.complete {
		prompt += "Hand the task back when it is done. "
	}
	if h.plan > 0 {
		prompt += "Think before you change anything. "
	}
	return prompt + "Ask if something is missing. Answer briefly."
}

// Solved says whether the task of run i is done in an office. Of tasks that only ask for an
// answer it says that it is: whether the answer is right it does not know.
func (o *Office) Solved(i int, w *world.World) bool {
	index, _ := o.schedule(i)
	t := o.task(index, o.World(i))
	if t.family.solved == nil {
		return true
	}
	return t.family.solved(&session{office: w, task: t})
}
