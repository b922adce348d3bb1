package cost

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// Estimate is a figure with its 95 % interval over tasks.
type Estimate struct {
	Value    float64       `json:"value"`
	Interval stat.Interval `json:"interval"`
	Tasks    int           `json:"tasks"`
	Turns    int           `json:"turns"`
}

// Factors are what counted tokens of a model under one system prompt are multiplied with.
// The zero value of Tasks in them means that no such turn has both usage and texts.
type Factors struct {
	Model  string   `json:"model"`
	Prompt int      `json:"system_prompt"` // which one, from 1; 0 is none that is recorded
	Input  Estimate `json:"input_factor"`  // recorded input tokens for each counted one, from how inputs grow
	Base   Estimate `json:"base_tokens"`   // input tokens of every turn that no recorded text explains, such as a system prompt
	Output Estimate `json:"output_factor"`
	// Error is the median of |fitted - recorded| / recorded over the turns that
	// were fitted, input and output together: in sample, so new turns do worse.
	Error  float64 `json:"median_relative_error"`
	Scaled int     `json:"scaled_turns"` // that these factors were applied to, once Models says so
}

// Fit learns what o200k counts are to recorded usage, from turns that have both.
//
// Inputs grow from turn to turn by what was said, called and returned, so the
// ratio of the sums of growth is the factor, whatever stands in front; what is left
// over of the first input is the base. Outputs are compared directly, without
// those whose reasoning is recorded as tokens but not as text. Sums are kept by model,
// system prompt and task, and nothing is borrowed: what a trajectory cost depends only on
// trajectories of the same model and system prompt. Memory is O(tasks added).
type Fit struct {
	meter   *Meter
	models  map[fitKey]*fitSums
	done    map[fitKey]Factors
	applied map[fitKey]int // turns that the factors were applied to
}

// fitKey is what turns have in common that one fit is made of.
type fitKey struct {
	model  string
	prompt uint64
}

// fitSums are the sums of one model by task.
type fitSums struct {
	tasks map[string]*taskSums
	turns []fitTurn
	ratio stat.Interval // of what was recorded to what is fitted, over tasks, once it is solved
}

type taskSums struct {
	grown, counted      float64 // growth of inputs
	growths             int
	first, firstCounted float64 // inputs of first turns
	firsts              int
	output, outCounted  float64
	outputs             int
	input, inCounted    float64 // of all turns
	turns               int
}

type fitTurn struct {
	input, counted, output, outCounted float64
	outputs                            bool
}

// maxFitTurns bounds what is kept for the error.
const maxFitTurns = 20_000

// NewFit returns an empty Fit that counts with m.
func NewFit(m *Meter) *Fit {
	return &Fit{meter: m, models: map[fitKey]*fitSums{}, applied: map[fitKey]int{}}
}

// Add learns from t: from neighbouring turns that record usage, of one model.
func (f *Fit) Add(t *trace.Trajectory) {
	f.done = nil
	defined := f.meter.definitions(t)
	counted := f.meter.countTurns(t, &defined)
	last, prompt := -1, promptOf(t)
	for i := range t.Turns {
		turn := &t.Turns[i]
		if !turn.Usage.Known || counted[i].input == 0 || turn.Usage.Input <= 0 {
			last = -1
			continue
		}
		f.of(fitKey{cmp.Or(turn.Model, t.Model), prompt}).add(t.TaskKey(), t, counted, last, i)
		last = i
	}
}

func (f *Fit) of(key fitKey) *fitSums {
	s := f.models[key]
	if s == nil {
		s = &fitSums{tasks: map[string]*taskSums{}}
		f.models[key] = s
	}
	return s
}

func (s *fitSums) add(task string, t *trace.Trajectory, counted []countedTurn, last, i int) {
	k := s.tasks[task]
	if k == nil {
		k = &taskSums{}
		s.tasks[task] = k
	}
	u := &t.Turns[i].Usage
	input, text := float64(u.Input), float64(counted[i].input)
	switch {
	case last < 0:
		k.first += input
		k.firstCounted += text
		k.firsts++
	case u.Input > t.Turns[last].Usage.Input && counted[i].input > counted[last].input:
		k.grown += input - float64(t.Turns[last].Usage.Input)
		k.counted += text - float64(counted[last].input)
		k.growths++
	}
	turn := fitTurn{input: input, counted: text}
	k.input, k.inCounted, k.turns = k.input+input, k.inCounted+text, k.turns+1
	if counted[i].output > 0 && u.Output > 0 && (u.Reasoning == 0 || !t.Turns[i].Thought.IsZero()) {
		turn.output, turn.outCounted, turn.outputs = float64(u.Output), float64(counted[i].output), true
		k.output += turn.output
		k.outCounted += turn.outCounted
		k.outputs++
	}
	if len(s.turns) < maxFitTurns {
		s.turns = append(s.turns, turn)
	}
}

// Models returns the factors of each model and system prompt that was learnt from, by name
// and then in the order of the prompts' hashes.
func (f *Fit) Models() []Factors {
	f.solve()
	keys := slices.SortedFunc(maps.Keys(f.done), func(a, b fitKey) int {
		return cmp.Or(cmp.Compare(a.model, b.model), cmp.Compare(a.prompt, b.prompt))
	})
	var out []Factors
	prompts := 0
	for i, key := range keys {
		if i > 0 && keys[i-1].model != key.model {
			prompts = 0
		}
		one := f.done[key]
		if one.Scaled = f.applied[key]; key.prompt != 0 {
			prompts++
			one.Prompt = prompts
		}
		out = append(out, one)
	}
	return out
}

// factors returns the factors that are applied to the turns of a model under a system prompt:
// false if fewer than two tasks gave any.
func (f *Fit) factors(key fitKey) (Factors, bool) {
	f.solve()
	own, ok := f.done[key]
	return own, ok && own.Input.Tasks > 1 && own.Output.Tasks > 0
}

func (f *Fit) solve() {
	if f.done != nil {
		return
	}
	f.done = map[fitKey]Factors{}
	for key, s := range f.models {
		f.done[key] = s.solve(key.model)
	}
}

func (s *fitSums) solve(name string) Factors {
	out := Factors{Model: name}
	order := slices.Sorted(maps.Keys(s.tasks))
	ratio := func(parts func(*taskSums) (num, den float64, n int)) Estimate {
		var num, den []float64
		turns := 0
		for _, task := range order {
			if a, b, n := parts(s.tasks[task]); n > 0 && b > 0 {
				num, den, turns = append(num, a), append(den, b), turns+n
			}
		}
		return ratioOfSums(num, den, turns)
	}
	out.Input = ratio(func(k *taskSums) (float64, float64, int) { return k.grown, k.counted, k.growths })
	out.Output = ratio(func(k *taskSums) (float64, float64, int) { return k.output, k.outCounted, k.outputs })
	out.Base = ratio(func(k *taskSums) (float64, float64, int) {
		return k.first - out.Input.Value*k.firstCounted, float64(k.firsts), k.firsts
	})
	out.Base.Value, out.Base.Interval = max(out.Base.Value, 0), out.Base.Interval.Within(0, math.Inf(1))
	s.ratio = ratio(func(k *taskSums) (float64, float64, int) {
		return k.input + outputWeight*k.output, out.Base.Value*float64(k.turns) + out.Input.Value*k.inCounted + outputWeight*out.Output.Value*k.outCounted, k.turns
	}).Interval
	var errors []float64
	for _, t := range s.turns {
		fitted, real := out.Base.Value+out.Input.Value*t.counted, t.input
		if t.outputs {
			fitted += out.Output.Value * t.outCounted
			real += t.output
		}
		errors = append(errors, math.Abs(fitted-real)/real)
	}
	slices.Sort(errors)
	if len(errors) > 0 {
		out.Error = errors[len(errors)/2]
	}
	return out
}

// ratioOfSums is sum(num)/sum(den) over tasks with its interval.
func ratioOfSums(num, den []float64, turns int) Estimate {
	ratio := stat.ClusterRatio{Num: num, Den: den}
	e := Estimate{Value: ratio.Value(), Interval: ratio.Interval(stat.Options{}), Tasks: len(num), Turns: turns}
	if math.IsNaN(e.Value) {
		e.Value, e.Tasks = 0, 0
	}
	return e
}

// Apply makes estimates of the turns of a that were only counted. Turns of models and
// system prompts that nothing was learnt for stay as they were counted: it returns how many.
func (f *Fit) Apply(a *Account) (unscaled int) {
	changed := false
	for i := range a.Turns {
		t := &a.Turns[i]
		if t.Source != Counted {
			continue
		}
		key := fitKey{a.Model(i), a.Prompt}
		factors, ok := f.factors(key)
		if !ok {
			unscaled++
			continue
		}
		t.Input = scaled(float64(t.Input)*factors.Input.Value + factors.Base.Value)
		t.Output, t.Reread = scaled(float64(t.Output)*factors.Output.Value), scaled(float64(t.Reread)*factors.Output.Value)
		t.Source = Fitted
		f.applied[key]++
		changed = true
	}
	if changed {
		a.arrange()
	}
	return unscaled
}

func scaled(v float64) int32 { return tokens32(int64(math.Round(min(max(v, 0), 1<<30)))) }
