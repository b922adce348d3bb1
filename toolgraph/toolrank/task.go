package toolrank

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/lexical"
	"github.com/awo-dev/awo/toolgraph/catalog"
	"github.com/awo-dev/awo/trace"
)

// A Task is what somebody asked for, with the tools that were used for it.
type Task struct {
	ID    string
	Group string // tasks of one group are never on both sides of a test
	Agent string
	Text  string
	Tools []string // in the order of the calls, with repetitions
}

// TaskOf returns the task of a trajectory: its first user message and the calls that
// the model decided on. Its group is the task, so that trials stay together.
func TaskOf(t *trace.Trajectory) Task {
	out := Task{ID: t.ID, Group: t.TaskKey(), Agent: t.Agent}
	for m := range t.UserMessages() {
		out.Text = m.Text.Text()
		break
	}
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Origin == trace.OriginModel && c.Tool.Value() != "" {
			out.Tools = append(out.Tools, c.Tool.Value())
		}
	}
	return out
}

// numbered is a name with a number at its end, as variants of a scenario often have.
var numbered = regexp.MustCompile(`^(.*[^0-9])[_\-.:/][0-9]+$`)

// The least that makes numbered names scenarios.
const (
	leastScenarios = 10
	mostScenarios  = .6 // of the tasks
)

// Scenarios makes tasks whose groups, or else whose ids, differ in a number at their
// end one group, if that leaves at least ten groups and at most six tenths of them:
// variants of one scenario need the same tools, and a test across them would flatter. It
// reports whether it did.
func Scenarios(tasks []Task) bool {
	return scenarios(tasks, func(t *Task) string { return t.Group }) || scenarios(tasks, func(t *Task) string { return t.ID })
}

func scenarios(tasks []Task, name func(*Task) string) bool {
	before, after := map[string]bool{}, map[string]bool{}
	base := func(name string) string {
		if m := numbered.FindStringSubmatch(name); m != nil {
			return m[1]
		}
		return name
	}
	for i := range tasks {
		before[name(&tasks[i])] = true
		after[base(name(&tasks[i]))] = true
	}
	if len(after) < leastScenarios || float64(len(after)) > mostScenarios*float64(len(before)) {
		return false
	}
	// Trials of one task stay together, whatever their ids say.
	of := map[string]string{}
	for i := range tasks {
		b := base(name(&tasks[i]))
		if old, known := of[tasks[i].Group]; !known || b < old {
			of[tasks[i].Group] = b
		}
	}
	for i := range tasks {
		tasks[i].Group = of[tasks[i].Group]
	}
	return true
}

// mostText bounds the words of a task that are compared.
const mostText = 2000

// A Corpus is tasks and tools as numbers, ready to be ranked.
type Corpus struct {
	catalog    *catalog.Catalog
	vocabulary *lexical.Vocabulary // of tools' documents and tasks
	documents  []lexical.Vector    // counts: name twice, description, arguments
	group      []int32             // of tools; -1 for none
	groups     int
	feeds      [][2]int32 // tools: the first gives a required argument of the second
	tasks      []task
	taskGroups int
	missing    int // calls of tools that are not in the catalogue
}

type task struct {
	words lexical.Vector // counts
	steps []int32        // tools in order
	used  []int32        // different tools, rising
	group int32
	agent string
	id    string
	text  string
}

// NewCorpus returns the corpus of a catalogue and tasks; feeds are pairs of tools of
// which the first gives a required argument of the second, by their schemas. Tasks
// without a tool of the catalogue are left out. The order of tasks does not matter.
func NewCorpus(c *catalog.Catalog, tasks []Task, feeds [][2]int32) *Corpus {
	out := &Corpus{catalog: c, feeds: feeds}
	documents := make([][]string, len(c.Tools))
	vocabulary := &lexical.Vocabulary{}
	groups := map[string]int32{}
	for i := range c.Tools {
		t := &c.Tools[i]
		name := lexical.Terms(t.Name)
		words := append(append(slices.Clone(name), name...), lexical.Terms(t.Description)...)
		for j := range t.Inputs {
			words = append(words, lexical.Terms(t.Inputs[j].Name())...)
		}
		documents[i] = words
		out.group = append(out.group, groupNumber(groups, t.Group))
	}
	out.groups = len(groups)
	tasks = slices.Clone(tasks)
	slices.SortStableFunc(tasks, func(a, b Task) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Text, b.Text), slices.Compare(a.Tools, b.Tools))
	})
	words := make([][]string, len(tasks))
	numbers := map[string]int32{}
	kept := 0
	for i, t := range tasks {
		one := task{agent: t.Agent, id: t.ID, text: t.Text}
		for _, name := range t.Tools {
			if at, ok := c.Find(name); ok {
				one.steps = append(one.steps, int32(at))
			} else {
				out.missing++
			}
		}
		if len(one.steps) == 0 {
			continue
		}
		one.used = slices.Compact(slices.Sorted(slices.Values(one.steps)))
		if _, ok := numbers[t.Group]; !ok {
			numbers[t.Group] = int32(len(numbers))
		}
		one.group = numbers[t.Group]
		words[kept] = termsOf(tasks[i].Text)
		kept++
		out.tasks = append(out.tasks, one)
	}
	out.taskGroups = len(numbers)
	out.forget(documents, words)
	for i := range documents {
		vocabulary.Add(documents[i])
	}
	for i := range out.tasks {
		vocabulary.Add(words[i])
	}
	out.vocabulary = vocabulary.Sorted()
	for i := range documents {
		out.documents = append(out.documents, out.vocabulary.Terms(documents[i]))
	}
	for i := range out.tasks {
		out.tasks[i].words = out.vocabulary.Terms(words[i])
	}
	return out
}

// groupNumber returns the number of a group of tools, -1 for none.
func groupNumber(groups map[string]int32, name string) int32 {
	if name == "" {
		return -1
	}
	if _, ok := groups[name]; !ok {
		groups[name] = int32(len(groups))
	}
	return groups[name]
}

// commonWord is in how many groups of tasks a word must be that is not in the
// catalogue: what fewer people say may be a name or a secret, and is kept nowhere.
const commonWord = 5

// forget takes the words out of tasks that are neither in the catalogue nor common.
func (c *Corpus) forget(documents, words [][]string) {
	known := map[string]bool{}
	for _, d := range documents {
		for _, w := range d {
			known[w] = true
		}
	}
	said := map[string]int{}
	last := map[string]int32{}
	for i := range c.tasks {
		g := c.tasks[i].group + 1
		for _, w := range words[i] {
			if last[w] != g { // tasks are in the order of their groups
				last[w] = g
				said[w]++
			}
		}
	}
	for i := range c.tasks {
		words[i] = slices.DeleteFunc(words[i], func(w string) bool { return !known[w] && said[w] < commonWord })
	}
}

// termsOf returns the words of a task's beginning.
func termsOf(text string) []string {
	const mostBytes = 32 << 10
	if len(text) > mostBytes {
		text = strings.ToValidUTF8(text[:mostBytes], "")
	}
	words := lexical.Terms(text)
	return words[:min(mostText, len(words))]
}

// Groups returns the number of groups of tasks.
func (c *Corpus) Groups() int { return c.taskGroups }
