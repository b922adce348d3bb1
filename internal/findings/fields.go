package findings

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/uses"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// Fields of results are watched in two halves of the tasks: which fields nobody reads is
// learnt from one, and judged by the other.
const (
	leastResults = 20   // of a field, in the half that is learnt from
	leastTasks   = 5    // in which they are
	mostRead     = 0.05 // of these results, those of which the field occurs later
	leastShare   = 0.1  // of the bytes of the results of a tool that unread fields have
	maxFields    = 500  // of a tool that are watched
	bytesAToken  = 4    // of results, about
)

// field is what one result has in one field.
type field struct {
	call  int
	path  string
	bytes int
	read  bool // a value of it occurs later, or has nothing by which that would be seen
}

// fieldSums are those of one field, by half.
type fieldSums struct {
	results, read, bytes [2]int
	tasks                []uint64 // some of them, of the half that is learnt from
	tokens, money        float64
}

// resultSums are those of the results of one tool.
type resultSums struct {
	results, bytes [2]int
	fields         map[string]*fieldSums
	priced         bool
	examples       sums // trajectories with most of it
	trajectories   int
	failed         int
	seen           int // the trajectory that was counted last
}

// Unread is the fields of a tool's results that nobody reads.
type Unread struct {
	Fields []string    `json:"fields"` // as paths, those with most bytes first; all others are to be kept
	Share  stat.Figure `json:"share_of_bytes"`
	// Read are the results, on tasks held out, in which one of the fields was read; Results
	// those that were looked at.
	Read    int `json:"read_held_out"`
	Results int `json:"results_held_out"`
}

// lookForFields notes what the results of t have in which fields, and whether a value of it
// occurs later: in arguments, or in what the model says.
func (l *Looker) lookForFields(t *trace.Trajectory, s *Seen) {
	var reader trace.ValueReader
	args := make([]trace.Value, len(t.Calls))
	for i := range t.Calls {
		args[i], _ = reader.Args(&t.Calls[i])
	}
	words := uses.New(t, func(call int) *trace.Value { return &args[call] })
	if !words.HasTexts() {
		return // what a model says is half of what it reads
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel || c.Tool == (trace.Name{}) || !c.HasResult || c.Status == trace.StatusFailed {
			continue
		}
		result, ok := reader.Result(c)
		if !ok || len(result.Members)+len(result.Elems) == 0 {
			continue // a text has no fields
		}
		first := len(s.fields)
		addFields(&s.fields, i, "", &result, words)
		byPath := func(a, b field) int { return strings.Compare(a.path, b.path) }
		slices.SortStableFunc(s.fields[first:], byPath)
		whole := s.fields[:first]
		for _, f := range s.fields[first:] { // a field of several elements is one
			if n := len(whole); n > first && whole[n-1].path == f.path {
				whole[n-1].bytes += f.bytes
				whole[n-1].read = whole[n-1].read || f.read
			} else {
				whole = append(whole, f)
			}
		}
		s.fields = whole
	}
}

// addFields appends the leaves of a value.
func addFields(to *[]field, call int, path string, v *trace.Value, words *uses.Uses) {
	switch {
	case len(v.Elems) > 0:
		for i := range v.Elems {
			addFields(to, call, path+"[*]", &v.Elems[i], words)
		}
	case len(v.Members) > 0:
		isMap := dataflow.IsMap(v)
		for i := range v.Members {
			name := "[*]"
			if !isMap {
				name = "." + v.Members[i].Name
			}
			addFields(to, call, path+name, &v.Members[i].Value, words)
		}
	default:
		name := path[strings.LastIndexByte(path, '.')+1:]
		*to = append(*to, field{call, path, len(name) + len(v.Text) + len(`"":"",`), words.IsRead(call, v)})
	}
}

// addFields adds what was seen of results.
func (f *Finder) addFields(t *trace.Trajectory, list []field, account *cost.Account) {
	if len(list) == 0 {
		return
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.TaskKey()))
	task := h.Sum64()
	half := int(task >> 32 & 1)
	last := -1
	var sum *resultSums
	var reading cost.Totals // of a thousand tokens behind the call
	for i := range list {
		x := &list[i]
		c := &t.Calls[x.call]
		if x.call != last {
			if last = x.call; f.tool(c.Tool) == nil {
				sum = nil
				continue
			}
			if sum = f.results[c.Tool]; sum == nil {
				sum = &resultSums{fields: map[string]*fieldSums{}}
				f.results[c.Tool] = sum
			}
			sum.results[half]++
			if reading = (cost.Totals{}); account != nil && c.Turn >= 0 {
				reading = account.Reading(1000, c.Turn+1, len(t.Turns)-1, nil)
				sum.priced = sum.priced || reading.USD > 0
			}
			if sum.seen != f.trajectories {
				sum.seen, sum.trajectories = f.trajectories, sum.trajectories+1
				sum.examples.see(t, 1)
				if t.Outcome == trace.OutcomeFailure {
					sum.failed++
				}
			}
		}
		if sum == nil {
			continue
		}
		sum.bytes[half] += x.bytes
		one := sum.fields[x.path]
		if one == nil {
			if len(sum.fields) == maxFields {
				continue
			}
			one = &fieldSums{}
			sum.fields[x.path] = one
		}
		one.add(x, half, task, reading)
	}
}

func (s *fieldSums) add(x *field, half int, task uint64, reading cost.Totals) {
	s.results[half]++
	s.bytes[half] += x.bytes
	if x.read {
		s.read[half]++
	}
	if half == 0 && len(s.tasks) < leastTasks && !slices.Contains(s.tasks, task) {
		s.tasks = append(s.tasks, task)
	}
	share := float64(x.bytes) / bytesAToken / 1000
	s.tokens += share * float64(reading.Tokens())
	s.money += share * reading.USD
}

// findUnread makes the findings about results.
func (f *Finder) findUnread() {
	for tool, results := range f.results {
		key := hitKey{Fields, tool}
		delete(f.kinds, key)
		if s := results.unread(); s != nil && s.count >= f.options.Least {
			f.kinds[key] = s
		}
	}
}

// unread returns the fields of a tool that nobody reads, and what they cost; nil for too few.
func (r *resultSums) unread() *sums {
	out := &Unread{}
	s := &sums{examples: r.examples.examples, trajectories: r.trajectories, failed: r.failed, results: r.results[0] + r.results[1], unread: out}
	for path, one := range r.fields {
		if len(one.tasks) == leastTasks && one.results[0] >= leastResults && float64(one.read[0]) <= mostRead*float64(one.results[0]) {
			out.Fields = append(out.Fields, path)
		}
	}
	size := func(path string) int { return r.fields[path].bytes[0] + r.fields[path].bytes[1] }
	slices.SortFunc(out.Fields, func(a, b string) int { return cmp.Or(size(b)-size(a), strings.Compare(a, b)) })
	bytes := 0
	for i, path := range out.Fields {
		one := r.fields[path]
		bytes += one.bytes[1]
		out.Read += one.read[1]
		out.Results = max(out.Results, one.results[1])
		s.count = max(s.count, one.results[0]+one.results[1])
		s.tokens += int64(one.tokens)
		s.money += one.money
		out.Fields[i] = strings.TrimPrefix(path, ".")
	}
	out.Read = min(out.Read, out.Results) // at most: a result may have several of them
	if out.Results == 0 || float64(bytes) < leastShare*float64(r.bytes[1]) || float64(out.Read) > mostRead*float64(out.Results) {
		return nil
	}
	out.Share = stat.Known(float64(bytes) / float64(r.bytes[1]))
	if s.usage = min(int(s.tokens), 1); r.priced {
		s.priced = 1
	}
	return s
}
