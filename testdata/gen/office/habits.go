package office

import "github.com/awo-dev/awo/testdata/gen/world"

// habits are how an agent goes about its work. Numbers are probabilities.
type habits struct {
	agent  Agent
	weight int

	profile  float64 // looks up who it works for before anything else
	plan     float64 // writes a thought down at the start (with the think tool)
	ponder   float64 // writes a thought down before it changes something
	eager    float64 // logs in to all applications at once at the start
	fresh    float64 // looks the passwords up again for every login
	parallel float64 // makes several calls in one turn where it can
	details  float64 // opens the details of what it found in a list
	confirm  float64 // asks before it spends money or closes something
	verify   float64 // reads back what it has changed
	complete bool    // hands the task back with a call
	whole    float64 // reads lists to the end
	narrate  float64 // says what it is about to do
	reason   float64 // has recorded reasoning

	detour float64 // makes a call that the task does not need
	slip   float64 // gets an id or a token wrong at first
	repeat float64 // makes the same call again without need
	quit   float64 // breaks off
	retry  float64 // tries again when a service does not answer

	perToken int // milliseconds per output token
}

// cohorts are the agents of the corpus.
func cohorts() []habits {
	return []habits{
		{
			agent: Agent{"clerk", "2.3.0", "gpt-5.1", "openai"}, weight: 36,
			profile: .08, plan: 0, ponder: 0, eager: .15, fresh: .35, parallel: .1, details: .65, confirm: .4, verify: .75,
			complete: true, whole: .7, narrate: .1, reason: .15,
			detour: .012, slip: .012, repeat: .008, quit: .03, retry: .95, perToken: 11,
		},
		{
			agent: Agent{"courier", "1.4.2", "claude-sonnet-4-5-20250929", "anthropic"}, weight: 30,
			profile: .15, plan: 0, ponder: 0, eager: .7, fresh: .1, parallel: .55, details: .4, confirm: .12, verify: .45,
			whole: .75, narrate: .5, reason: 0,
			detour: .015, slip: .012, repeat: .008, quit: .04, retry: .95, perToken: 14,
		},
		{
			agent: Agent{"scribe", "0.9.1", "claude-sonnet-4-5-20250929", "anthropic"}, weight: 19,
			profile: .3, plan: .55, ponder: .35, eager: .3, fresh: .45, parallel: .15, details: .7, confirm: .3, verify: .8,
			complete: true, whole: .6, narrate: .2, reason: .25,
			detour: .015, slip: .012, repeat: .01, quit: .04, retry: .95, perToken: 14,
		},
		{
			agent: Agent{"intern", "0.3.0", "gpt-oss-120b", "openai"}, weight: 15,
			profile: .5, plan: 0, ponder: 0, eager: .25, fresh: .8, parallel: .05, details: .5, confirm: .1, verify: .4,
			complete: true, whole: .5, narrate: .3, reason: .3,
			detour: .045, slip: .04, repeat: .035, quit: .11, retry: .8, perToken: 6,
		},
	}
}

// shifted returns the habits of the second half of a corpus with drift: agents
// that looked things up first no longer do, and the other way round, they log
// in to everything at once, and check less.
func (h habits) shifted() habits {
	h.profile = .75 - h.profile/2
	h.eager = .9
	h.details = .15
	h.verify /= 3
	h.confirm = .5
	return h
}

// drawHabits chooses an agent.
func drawHabits(r *world.Rand) habits {
	all := cohorts()
	total := 0
	for _, h := range all {
		total += h.weight
	}
	n := r.IntN(total)
	for _, h := range all {
		if n -= h.weight; n < 0 {
			return h
		}
	}
	panic("office: weights do not add up")
}
