package summary

import (
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/sealed"
	"github.com/awo-dev/awo/trace/completeness"
)

// kind is what files with summaries are.
var kind = sealed.Kind{Name: "summary", Schema: "awo.summary-data/v1"}

// Content is what a file with a summary holds. All lists are in order, and each of their
// elements is there once.
type Content struct {
	Options   []Option                  `json:"options"`
	Labels    []string                  `json:"labels"`
	Inputs    []string                  `json:"inputs"` // SHA-256; one that was counted again stands there again
	Intake    Intake                    `json:"intake"`
	Tally     []int                     `json:"tally"`    // as completeness.Tally.Figures
	Problems  map[string]int            `json:"problems"` // of Tally, by code
	FailedBy  map[string]int            `json:"failed_by"`
	Facts     []ToolFacts               `json:"facts"`
	Profiles  []ToolTimes               `json:"profiles"`
	Tools     []string                  `json:"tools"`
	Sequences [][]uint32                `json:"sequences"` // places of Tools
	Classes   [][]string                `json:"classes"`   // values of Labels
	Tasks     []string                  `json:"tasks"`
	Rows      []Row                     `json:"rows"`
	Turns     []*TurnUsage              `json:"turns"`
	Runs      []*RunUsage               `json:"runs"`
	Calls     []*ToolUsage              `json:"calls"`
	Users     []UserCount               `json:"users"`
	Sums      map[string]int            `json:"sums"`
	TaskSums  map[string]map[string]int `json:"task_sums"`
}

// ToolFacts are the counts of a tool, as completeness.ToolSummary.Figures.
type ToolFacts struct {
	Name    string `json:"name"`
	Counts  []int  `json:"counts"`
	Defined bool   `json:"defined"`
}

// ToolTimes is what the calls of a tool took, as completeness.ToolProfile.
type ToolTimes struct {
	Name       string      `json:"name"`
	Latency    [][2]uint64 `json:"latency"` // values, and how often each was
	Result     [][2]uint64 `json:"result"`
	Turns      int         `json:"turns"`
	TurnsUsage int         `json:"turns_usage"`
	Input      int64       `json:"input"`
	Output     int64       `json:"output"`
}

// A Row is trajectories that are counted as one: places of a task, its labels and its
// sequence, and how many they are.
type Row struct {
	Task     uint32 `json:"task"`
	Class    uint32 `json:"class"`
	Sequence uint32 `json:"sequence"`
	N        uint64 `json:"n"`
}

// A UserCount is how many trajectories have a turn with usage that calls a tool, or none.
type UserCount struct {
	ToolUser
	Trajectories int `json:"trajectories"`
}

// Append appends the summary as it stands in a file: the same bytes for the same counts.
func (s *Summary) Append(dst []byte) []byte { return append(dst, kind.Encode(s.content())...) }

func (s *Summary) content() *Content {
	c := &Content{
		Options: s.choices, Labels: s.labels, Intake: s.intake, Tally: values(s.facts.Tally.Figures()), Problems: there(s.facts.Tally.Problems.ByCode), FailedBy: map[string]int{}, Turns: s.usage.Turns(), Runs: s.usage.Runs(), Calls: s.usage.Tools(),
		Sums: map[string]int{}, TaskSums: map[string]map[string]int{},
	}
	maps.Copy(c.Sums, s.sums)
	c.Intake.Problems.ByCode = there(c.Intake.Problems.ByCode)
	c.Intake.Bounds = there(c.Intake.Bounds)
	for name, sums := range s.byTask {
		c.TaskSums[name] = map[string]int{}
		for task, n := range sums {
			c.TaskSums[name][task.String()] = n
		}
	}
	for _, h := range s.inputs {
		c.Inputs = append(c.Inputs, hex.EncodeToString(h[:]))
	}
	slices.Sort(c.Inputs)
	for _, f := range s.facts.Tally.StatusReadings() {
		c.FailedBy[f.By] = f.Calls
	}
	for _, t := range s.facts.Tools() {
		c.Facts = append(c.Facts, ToolFacts{t.Name, values(t.Figures()), t.Defined})
	}
	slices.SortFunc(c.Facts, func(a, b ToolFacts) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range s.profile.Tools() {
		c.Profiles = append(c.Profiles, ToolTimes{p.Name, pairs(&p.Latency), pairs(&p.Result), p.Turns, p.TurnsUsage, p.Input, p.Output})
	}
	rows := s.ordered()
	c.Tools, c.Sequences = rows.tools, rows.sequences
	for _, task := range rows.tasks {
		c.Tasks = append(c.Tasks, task.String())
	}
	for _, class := range rows.classes {
		c.Classes = append(c.Classes, labelsOf(class))
	}
	task := uint32(0)
	for _, r := range rows.rows {
		for rows.tasks[task] != r.task {
			task++
		}
		c.Rows = append(c.Rows, Row{task, r.class, r.sequence, r.n})
	}
	for user, n := range s.usage.users {
		c.Users = append(c.Users, UserCount{user, n})
	}
	slices.SortFunc(c.Users, func(a, b UserCount) int { return a.compare(b.ToolUser) })
	return c
}

// there returns a map that is not nil, which JSON has another word for.
func there[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

// Read takes the bytes of a summary; file is only a name. Errors are of type *diag.Error.
//
// Every file is taken for hostile: what contradicts itself is an error.
func Read(file string, data []byte) (*Summary, error) {
	c := &Content{}
	if err := kind.Decode(file, data, c); err != nil {
		return nil, err
	}
	s := New(Options{})
	s.scratch, s.file = nil, file
	if what := s.fill(c); what != "" {
		return nil, kind.Problem(file, sealed.Corrupt, "the file contradicts itself in %s", what)
	}
	if !kind.IsCanonical(c, s.content()) {
		return nil, kind.Problem(file, sealed.Corrupt, "the file contradicts itself in the order of a list")
	}
	return s, nil
}

// fill takes what a file holds, and returns what is wrong with it, "" for nothing.
func (s *Summary) fill(c *Content) string {
	s.choices, s.labels, s.intake = c.Options, c.Labels, c.Intake
	for _, text := range c.Inputs {
		h, err := hex.DecodeString(text)
		if err != nil || len(h) != 32 {
			return "an input"
		}
		s.inputs = append(s.inputs, [32]byte(h))
	}
	var tally completeness.Tally
	if !set(tally.Figures(), c.Tally) {
		return "the tally"
	}
	for code, n := range c.Problems {
		tally.Problems.AddN(code, n)
	}
	var failed []completeness.StatusReading
	for by, n := range c.FailedBy {
		failed = append(failed, completeness.StatusReading{By: by, Calls: n})
	}
	tools := make([]completeness.ToolSummary, len(c.Facts))
	for i, t := range c.Facts {
		tools[i] = completeness.ToolSummary{Name: t.Name, Defined: t.Defined}
		if !set(tools[i].Figures(), t.Counts) {
			return "the counts of a tool"
		}
	}
	s.facts.AddSums(&tally, tools, failed)
	for _, p := range c.Profiles {
		sum := completeness.ToolProfile{Name: p.Name, Turns: p.Turns, TurnsUsage: p.TurnsUsage, Input: p.Input, Output: p.Output}
		for _, x := range p.Latency {
			sum.Latency.AddN(x[0], int(x[1]))
		}
		for _, x := range p.Result {
			sum.Result.AddN(x[0], int(x[1]))
		}
		s.profile.AddSums(&sum)
	}
	s.sums = c.Sums
	for name, sums := range c.TaskSums {
		for text, n := range sums {
			task, ok := readTask(text)
			if !ok {
				return "a task"
			}
			s.byTask.add(name, task, n)
		}
	}
	if !s.usage.fill(c) {
		return "usage"
	}
	if !s.fillRows(c) {
		return "its trajectories"
	}
	return ""
}

func (s *Summary) fillRows(c *Content) bool {
	for _, tool := range c.Tools {
		s.tools.add(tool)
	}
	for _, sequence := range c.Sequences {
		s.buffer = s.buffer[:0]
		for _, tool := range sequence {
			if int(tool) >= len(c.Tools) {
				return false
			}
			s.buffer = binary.AppendUvarint(s.buffer, uint64(tool))
		}
		s.sequences.number(s.buffer)
	}
	for _, class := range c.Classes {
		if len(class) != len(c.Labels) {
			return false
		}
		s.buffer = s.buffer[:0]
		for _, label := range class {
			s.buffer = appendLabel(s.buffer, label)
		}
		s.classes.number(s.buffer)
	}
	tasks := make([]taskID, len(c.Tasks))
	for i, text := range c.Tasks {
		var ok bool
		if tasks[i], ok = readTask(text); !ok {
			return false
		}
	}
	total, empty, whole := uint64(0), uint64(0), uint64(s.facts.Tally.Trajectories)
	for _, r := range c.Rows {
		if int(r.Task) >= len(c.Tasks) || int(r.Class) >= len(s.classes.values) || int(r.Sequence) >= len(s.sequences.values) || r.N == 0 || r.N > whole-total {
			return false
		}
		total += r.N
		if s.sequences.values[r.Sequence] == "" {
			empty += r.N
		}
		s.rows[row{tasks[r.Task], r.Class, r.Sequence}] = r.N
	}
	return total == whole && empty == uint64(s.facts.Tally.Empty)
}

// fill takes usage, and reports whether it can be true.
func (u *Usage) fill(c *Content) bool {
	for _, x := range c.Turns {
		if x == nil || negative(x.counts()...) || !x.believable() {
			return false
		}
		*u.turn(x.TurnKey) = *x
	}
	for _, x := range c.Runs {
		if x == nil || negative(x.counts()...) {
			return false
		}
		*u.run(x.RunKey) = *x
	}
	for _, x := range c.Calls {
		if x == nil || x.Times < 1 || x.Shared < 0 || x.Shared == 0 && x.Tool != "" || !x.believable() {
			return false
		}
		*u.tool(x.ToolKey) = *x
	}
	for _, x := range c.Users {
		if u.users == nil {
			u.users = map[ToolUser]int{}
		}
		u.users[x.ToolUser] = x.Trajectories
	}
	return true
}

// believable reports whether tokens are parts of each other.
func (t *Tokens) believable() bool {
	return t.Output >= 0 && t.Cached >= 0 && t.Cached <= t.Input && t.WriteHour >= 0 && t.WriteHour <= t.Write && t.Write <= t.Input-t.Cached
}

// pairs returns the values of a distribution, each with how often it was.
func pairs(d *completeness.Distribution) [][2]uint64 {
	var out [][2]uint64
	for v, n := range d.All() {
		out = append(out, [2]uint64{v, uint64(n)})
	}
	return out
}

// values returns figures as they are.
func values(figures []*int) []int {
	out := make([]int, len(figures))
	for i, f := range figures {
		out[i] = *f
	}
	return out
}

// set gives figures values; false if they are others, or below 0.
func set(figures []*int, values []int) bool {
	if len(figures) != len(values) {
		return false
	}
	for i, v := range values {
		*figures[i] = v
	}
	return !negative(figures...)
}

func negative(figures ...*int) bool {
	return slices.ContainsFunc(figures, func(n *int) bool { return *n < 0 })
}
