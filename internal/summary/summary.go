// Package summary keeps of traces what an analysis of their sequences needs, in a form
// that adds up: the summaries of the parts of some traces, merged in any order, are byte
// for byte the summary of all of them in one go.
//
// In come trajectories, or files with summaries; out go one file and, for an analysis, a
// trace.Corpus with the sums beside it. A summary is
//
//   - a multiset of rows (task, labels, sequence of tools), each with how many
//     trajectories it stands for;
//   - sums: the tally of what came in, the figures of each tool, the distributions of
//     times and sizes as completeness.Distribution keeps them, problems by code, recorded
//     usage by model, day, agent, outcome and tool;
//   - sums by name, which others count beside it (AddN), and sums by task and name, for what
//     is judged over tasks (AddTaskN);
//   - the set of inputs by their SHA-256, and the options under which all was counted.
//
// Merging unites the multisets and adds the sums, so it is associative and commutative,
// and a summary of no trajectory is neutral. Encoding sorts everything by content, so
// equal summaries have equal bytes. Nothing is sampled or estimated. What is left out
// altogether: arguments, results, texts, times, files, ids; and tasks are kept as 128 bits
// of the SHA-256 of their names.
//
// Memory, and the file, grow with the different rows, that is with tasks and habits and
// not with calls, and with the number of input files, 32 bytes each. A task that every
// trajectory has for itself makes a row of each.
//
// The package does not analyse, and does not know which files are traces.
package summary

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/deal"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// Ext is how the names of files with summaries end.
const Ext = ".awosum"

// The codes of problems with summaries.
const (
	CodeForeign   = "summary-foreign"   // no summary
	CodeVersion   = "summary-version"   // of another version
	CodeTruncated = "summary-truncated" // cut off
	CodeCorrupt   = "summary-corrupt"   // it contradicts itself or its checksum
	CodeOptions   = "summary-options"   // counted under other options
	CodeOverlap   = "summary-overlap"   // some input is in two parts
	CodeLarge     = "summary-large"     // more trajectories than an analysis takes
)

// An Option is a choice that changes what is counted: a flag, or a file, whose name has a
// dot.
type Option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// String returns how a message calls the option.
func (o Option) String() string {
	if strings.Contains(o.Name, ".") {
		return o.Name
	}
	return "--" + o.Name
}

// A Label divides trajectories into groups, such as those of one model.
type Label struct {
	Name string
	Of   func(*trace.Trajectory) string
}

// Options say how trajectories are counted.
type Options struct {
	// CollapseRepeats counts runs of calls of one tool as one call.
	CollapseRepeats bool
	// Labels are what trajectories can be divided by later.
	Labels []Label
	// Choices are kept in the summary: summaries with other choices are not merged.
	Choices []Option
}

// Intake is what was read, beyond the trajectories that were counted.
type Intake struct {
	Files    int              `json:"files"`
	Records  int              `json:"records"`
	Expanded int              `json:"expanded"`
	Excluded int              `json:"excluded"`
	Left     [5]int           `json:"left"` // by filters: expression, time, untimed, duplicates, sample
	Problems diag.Counts      `json:"problems"`
	Bounds   map[string]Bound `json:"bounds"` // that were reached, by code
}

// Bound is how often a bound was reached, and what was left out beyond it.
type Bound struct {
	Places  int `json:"places"`
	LeftOut int `json:"left_out"`
}

// add adds what was read of other traces.
func (in *Intake) add(o *Intake) {
	from := o.figures()
	for i, figure := range in.figures() {
		*figure += *from[i]
	}
	for code, n := range o.Problems.ByCode {
		in.Problems.AddN(code, n)
	}
	for code, b := range o.Bounds {
		if in.Bounds == nil {
			in.Bounds = map[string]Bound{}
		}
		sum := in.Bounds[code]
		in.Bounds[code] = Bound{sum.Places + b.Places, sum.LeftOut + b.LeftOut}
	}
}

func (in *Intake) figures() []*int {
	return []*int{&in.Files, &in.Records, &in.Expanded, &in.Excluded, &in.Left[0], &in.Left[1], &in.Left[2], &in.Left[3], &in.Left[4]}
}

// A Summary is the counts of some traces. New makes an empty one, Read one from a file.
// It is filled by one goroutine.
type Summary struct {
	file    string // that it was read from
	options Options
	labels  []string
	choices []Option // in the order of their names

	inputs  [][sha256.Size]byte
	intake  Intake
	facts   completeness.Facts
	profile completeness.Profile
	usage   Usage
	sums    map[string]int
	byTask  byTask

	tools     table
	sequences table // tool numbers as varints
	classes   table // labels, each behind its length
	rows      map[row]uint64

	scratch *trace.Corpus // of one trajectory
	numbers []uint32      // number in tools, by that in scratch
	buffer  []byte
}

// row is what trajectories have in common that are counted as one.
type row struct {
	task            taskID
	class, sequence uint32
}

// table gives texts dense numbers in order of first appearance.
type table struct {
	index  map[string]uint32
	values []string
}

func (t *table) number(text []byte) uint32 {
	if i, ok := t.index[string(text)]; ok {
		return i
	}
	return t.add(string(text))
}

func (t *table) add(text string) uint32 {
	if i, ok := t.index[text]; ok {
		return i
	}
	if t.index == nil {
		t.index = map[string]uint32{}
	}
	i := uint32(len(t.values))
	t.index[text] = i
	t.values = append(t.values, text)
	return i
}

// New returns the summary of no trajectory.
func New(o Options) *Summary {
	s := &Summary{options: o, choices: slices.Clone(o.Choices), rows: map[row]uint64{}}
	slices.SortFunc(s.choices, func(a, b Option) int { return strings.Compare(a.Name, b.Name) })
	for _, l := range o.Labels {
		s.labels = append(s.labels, l.Name)
	}
	s.scratch = trace.NewCorpus(trace.CorpusOptions{CollapseRepeats: o.CollapseRepeats})
	return s
}

// Add counts a trajectory. Nothing of it is kept. It must not be called on a summary
// that was read.
func (s *Summary) Add(t *trace.Trajectory) {
	if s.scratch == nil {
		panic("summary: Add to a summary that was read")
	}
	s.facts.Add(t)
	s.profile.Add(t)
	s.usage.add(t)
	s.scratch.Forget()
	q := s.scratch.Sequence(s.scratch.Add(t))
	for _, tool := range s.scratch.Tools()[len(s.numbers):] {
		s.numbers = append(s.numbers, s.tools.add(tool.Value()))
	}
	r := row{task: taskOf(t.TaskKey())}
	s.buffer = s.buffer[:0]
	for _, l := range s.options.Labels {
		s.buffer = appendLabel(s.buffer, l.Of(t))
	}
	r.class = s.classes.number(s.buffer)
	s.buffer = s.buffer[:0]
	for _, tool := range q.Tools {
		s.buffer = binary.AppendUvarint(s.buffer, uint64(s.numbers[tool]))
	}
	r.sequence = s.sequences.number(s.buffer)
	s.rows[r]++
}

func taskOf(key string) taskID { return taskID(deal.HashOf(key)) }

// appendLabel appends a label of a class behind its length.
func appendLabel(dst []byte, label string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(label))), label...)
}

// labelsOf returns the labels of a class.
func labelsOf(class string) []string {
	out := []string{}
	for class != "" {
		n, width := binary.Uvarint([]byte(class))
		out, class = append(out, class[width:width+int(n)]), class[width+int(n):]
	}
	return out
}

// AddInput notes the SHA-256 of a file that was read.
func (s *Summary) AddInput(hash [sha256.Size]byte) { s.inputs = append(s.inputs, hash) }

// AddIntake adds what was read beside the trajectories.
func (s *Summary) AddIntake(in Intake) { s.intake.add(&in) }

// Merge adds what o has counted; o stays as it is. Summaries under other options, and
// with an input in common unless overlap allows it, are an error, a *diag.Error, after
// which s is as before.
func (s *Summary) Merge(o *Summary, overlap bool) error {
	if err := s.Fits(o.choices, o.labels, o.file); err != nil {
		return err
	}
	if n := s.common(o); n > 0 && !overlap {
		return diag.New(diag.Pos{File: o.file}, CodeOverlap, "%d of its %d inputs were counted before, in another part", n, len(o.inputs)).
			Note(diag.Pos{}, "--allow-overlap counts them again")
	}
	s.inputs = append(s.inputs, o.inputs...)
	s.intake.add(&o.intake)
	s.facts.AddSums(&o.facts.Tally, o.facts.Tools(), o.facts.Tally.StatusReadings())
	for _, p := range o.profile.Tools() {
		s.profile.AddSums(p)
	}
	s.usage.merge(&o.usage)
	for name, n := range o.sums {
		s.AddN(name, n)
	}
	for name, sums := range o.byTask {
		for task, n := range sums {
			s.byTask.add(name, task, n)
		}
	}
	tools := make([]uint32, len(o.tools.values))
	for i, name := range o.tools.values {
		tools[i] = s.tools.add(name)
	}
	sequences := make([]uint32, len(o.sequences.values))
	for i, text := range o.sequences.values {
		s.buffer = s.buffer[:0]
		for tool := range numbersIn(text) {
			s.buffer = binary.AppendUvarint(s.buffer, uint64(tools[tool]))
		}
		sequences[i] = s.sequences.number(s.buffer)
	}
	classes := make([]uint32, len(o.classes.values))
	for i, text := range o.classes.values {
		classes[i] = s.classes.add(text)
	}
	for r, n := range o.rows {
		s.rows[row{r.task, classes[r.class], sequences[r.sequence]}] += n
	}
	return nil
}

// Fits returns an error if what was counted under other options, in file, cannot be added.
func (s *Summary) Fits(choices []Option, labels []string, file string) error {
	if !slices.Equal(s.labels, labels) {
		return diag.New(diag.Pos{File: file}, CodeOptions, "its trajectories are labelled by %s, those of the part before by %s", strings.Join(labels, ", "), strings.Join(s.labels, ", "))
	}
	if slices.Equal(s.choices, choices) {
		return nil
	}
	said := func(list []Option, name string) string {
		for _, o := range list {
			if o.Name == name {
				return fmt.Sprintf("%q", o.Value)
			}
		}
		return "not set"
	}
	for _, list := range [][]Option{s.choices, choices} {
		for _, o := range list {
			if here, there := said(choices, o.Name), said(s.choices, o.Name); here != there {
				return diag.New(diag.Pos{File: file}, CodeOptions, "it was counted under other options: %s is %s here and %s in the part before", o, here, there)
			}
		}
	}
	return diag.New(diag.Pos{File: file}, CodeOptions, "it was counted under other options")
}

// common returns how many inputs of o are inputs of s.
func (s *Summary) common(o *Summary) (n int) {
	known := make(map[[sha256.Size]byte]bool, len(s.inputs))
	for _, h := range s.inputs {
		known[h] = true
	}
	for _, h := range o.inputs {
		if known[h] {
			n++
		}
	}
	return n
}

// Choices returns the options under which the trajectories were counted, by name.
func (s *Summary) Choices() []Option { return s.choices }

// Choice returns the value of an option, "" if it is not set.
func (s *Summary) Choice(name string) string {
	for _, o := range s.choices {
		if o.Name == name {
			return o.Value
		}
	}
	return ""
}

// Labels returns the names of the labels.
func (s *Summary) Labels() []string { return s.labels }

// Inputs returns how many input files there are.
func (s *Summary) Inputs() int { return len(s.inputs) }

// InputHashes returns the SHA-256 of the input files. They must not be changed.
func (s *Summary) InputHashes() [][sha256.Size]byte { return s.inputs }

// Intake returns what was read beside the trajectories. It must not be changed.
func (s *Summary) Intake() *Intake { return &s.intake }

// Facts returns the tally and the figures of tools. They must not be changed.
func (s *Summary) Facts() *completeness.Facts { return &s.facts }

// Profile returns what the calls of tools took. It must not be changed.
func (s *Summary) Profile() *completeness.Profile { return &s.profile }

// Usage returns what turns record to have taken. It must not be changed.
func (s *Summary) Usage() *Usage { return &s.usage }

// Size is how large a summary is, in what it grows with.
type Size struct{ Rows, Sequences, Tools, Tasks int }

// Size returns how many different rows, sequences, tools and tasks there are.
func (s *Summary) Size() Size {
	tasks := map[taskID]bool{}
	for r := range s.rows {
		tasks[r.task] = true
	}
	return Size{Rows: len(s.rows), Sequences: len(s.sequences.values), Tools: len(s.tools.values), Tasks: len(tasks)}
}

// What Corpus makes at most: MaxAnalyzed trajectories, for each of which it and an
// analysis take about 60 bytes, of MaxCalls calls, of rarer tools half as many.
const (
	MaxAnalyzed = 1 << 24
	MaxCalls    = 1 << 30
)

// Corpus returns the sequences as a corpus whose groups are the values of a label, "" for
// no groups. Tools are numbered by name, tasks by their hash, so that the corpus depends
// on the counts alone.
func (s *Summary) Corpus(label string) (*trace.Corpus, error) {
	if n := s.facts.Tally.Trajectories; n > MaxAnalyzed {
		return nil, diag.New(diag.Pos{File: s.file}, CodeLarge, "an analysis takes at most %d trajectories, and these are %d", MaxAnalyzed, n)
	}
	calls := uint64(0)
	for r, n := range s.rows {
		calls += n * uint64(len(s.sequences.values[r.sequence])) // bytes of varints, of most tools one
	}
	if calls > MaxCalls {
		return nil, diag.New(diag.Pos{File: s.file}, CodeLarge, "an analysis takes about %d calls at most, and these are more", MaxCalls)
	}
	c := trace.NewCorpus(trace.CorpusOptions{})
	at := slices.Index(s.labels, label)
	ordered := s.ordered()
	names := make([]trace.Name, len(ordered.tools))
	for i, name := range ordered.tools {
		names[i] = trace.Intern(name)
	}
	c.Number(names)
	var tools []trace.Name
	for _, r := range ordered.rows {
		tools = tools[:0]
		for _, tool := range ordered.sequences[r.sequence] {
			tools = append(tools, names[tool])
		}
		group := ""
		if at >= 0 {
			group = labelsOf(ordered.classes[r.class])[at]
		}
		c.AddSequence(deal.Hash(r.task), group, tools, int(r.n))
	}
	return c, nil
}

// numbersIn yields the numbers that a text of varints holds.
func numbersIn(text string) func(func(uint32) bool) {
	return func(yield func(uint32) bool) {
		var n uint32
		var shift uint
		for i := range len(text) {
			n |= uint32(text[i]&0x7f) << shift
			if shift += 7; text[i] >= 0x80 {
				continue
			}
			if !yield(n) {
				return
			}
			n, shift = 0, 0
		}
	}
}

// ordered is a summary's rows in the order in which they are written.
type ordered struct {
	tools, classes []string
	sequences      [][]uint32
	tasks          []taskID
	rows           []countedRow
}

type countedRow struct {
	row
	n uint64
}

// ordered sorts what has numbers by content, and numbers it anew.
func (s *Summary) ordered() ordered {
	var o ordered
	tools := order(s.tools.values, &o.tools, strings.Compare)
	numbered := make([][]uint32, len(s.sequences.values))
	for i, text := range s.sequences.values {
		numbered[i] = []uint32{}
		for tool := range numbersIn(text) {
			numbered[i] = append(numbered[i], tools[tool])
		}
	}
	sequences, classes := order(numbered, &o.sequences, slices.Compare[[]uint32]), order(s.classes.values, &o.classes, strings.Compare)
	o.rows = make([]countedRow, 0, len(s.rows))
	for r, n := range s.rows {
		o.rows = append(o.rows, countedRow{row{r.task, classes[r.class], sequences[r.sequence]}, n})
	}
	slices.SortFunc(o.rows, func(a, b countedRow) int { return a.compare(b.row) })
	for i := range o.rows {
		if i == 0 || o.rows[i].task != o.rows[i-1].task {
			o.tasks = append(o.tasks, o.rows[i].task)
		}
	}
	return o
}

func (r row) compare(o row) int {
	return cmp.Or(r.task.compare(o.task), cmp.Compare(r.class, o.class), cmp.Compare(r.sequence, o.sequence))
}

// order sorts elements, which are all different, and returns the new number of each.
func order[T any](elements []T, sorted *[]T, compare func(a, b T) int) []uint32 {
	places := make([]uint32, len(elements))
	for i := range places {
		places[i] = uint32(i)
	}
	slices.SortFunc(places, func(a, b uint32) int { return compare(elements[a], elements[b]) })
	number := make([]uint32, len(elements))
	*sorted = make([]T, len(elements))
	for to, from := range places {
		number[from] = uint32(to)
		(*sorted)[to] = elements[from]
	}
	return number
}
