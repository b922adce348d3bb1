package trace

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
)

func assembleResponses(key string, parts []Fragment) ([]*Trajectory, error) {
	var s transcripts
	a := responsesAssembler{s: &s, ends: map[string]itemHash{}, last: map[string]int{}}
	records := make([]responsesRecord, len(parts))
	odd := newBuilder(0)
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		records[i].read(odd, &c)
		if id := string(records[i].response.id); id != "" {
			if _, ok := a.last[id]; ok {
				odd.odd(CodeRecordRepeated, 1)
			}
			a.last[id] = i
		}
		odd.odd(CodeLoneSurrogate, c.LoneSurrogates())
	}
	a.reader = responsesReader{b: odd}
	first := map[*transcript]int{}
	for _, i := range responsesOrder(records) {
		id := string(records[i].response.id)
		if id != "" && a.last[id] != i {
			continue
		}
		t := a.add(&records[i])
		if t == nil {
			continue
		}
		if _, ok := first[t]; !ok {
			first[t] = i
			t.b.t.Source = parts[i].Pos
			t.b.t.ID = id
		} else if t.b.t.ID == "" {
			t.b.t.ID = id
		}
	}
	out := s.finish()
	for i, t := range out {
		if conversation := string(records[first[s.all[i]]].conversation()); conversation != "" {
			t.Session = conversation
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	for code, n := range odd.t.Oddities.ByCode {
		out[0].Oddities.AddN(code, n)
	}
	uniqueIDs(out)
	return out, nil
}

// responsesOrder returns the order of records: that of the responses' times where
// all have one, since logs are written as responses end, else that of the input.
func responsesOrder(records []responsesRecord) []int {
	order := make([]int, len(records))
	timed := true
	for i := range records {
		order[i] = i
		timed = timed && !records[i].response.created.IsZero()
	}
	if timed {
		slices.SortStableFunc(order, func(i, j int) int {
			return records[i].response.created.Compare(records[j].response.created)
		})
	}
	return order
}

// responsesAssembler puts the records of a key together.
type responsesAssembler struct {
	s      *transcripts
	reader responsesReader
	ends   map[string]itemHash // behind a response
	last   map[string]int      // record of a response
	tail   itemHash            // behind the last record, for conversations
	told   bool
}

// add adds a record and returns its trajectory, nil if it has none.
func (a *responsesAssembler) add(r *responsesRecord) *transcript {
	from, missing := itemHash{}, false
	switch previous := string(r.previous()); {
	case previous != "":
		end, ok := a.ends[previous]
		from, missing = end, !ok
		if !ok { // its hash stands for what was before
			sum := sha256.Sum256([]byte(previous))
			from = itemHash(sum[:16])
		}
	case len(r.conversation()) > 0 && a.told:
		from = a.tail
	}
	var items []item
	for _, text := range []Raw{r.request.instructions, r.response.instructions} {
		if !text.isEmpty() {
			items = append(items, item{kind: itemSystem, value: text})
			break
		}
	}
	c := jsonscan.New(r.request.input.Data)
	items = append(items, a.reader.list(&c, false)...)
	asked := len(items)
	c = jsonscan.New(r.response.output.Data)
	items = append(items, a.reader.list(&c, true)...)
	answered := r.answered && len(items) > asked
	failed := r.response.failed || string(r.response.status) == "failed" || string(r.response.status) == "cancelled"
	if r.answered && !failed && r.response.usage.Output > 0 {
		answered = true
	}
	t, end := a.s.add(from, items, asked, answered, response{
		usage: r.response.usage,
		model: cmp.Or(string(r.response.model), string(r.request.model)),
		start: r.response.created,
		end:   r.response.ended,
	})
	a.tail, a.told = end, true
	if len(r.response.id) > 0 {
		a.ends[string(r.response.id)] = end
	}
	if missing {
		t.b.odd(CodePreviousResponse, 1)
	}
	if r.answered && failed {
		t.b.odd(CodeResponseFailed, 1)
	}
	if string(r.response.status) == "incomplete" {
		t.b.odd(CodeResponseCut, 1)
	}
	tr := t.b.t
	if tr.Model == "" {
		tr.Model = cmp.Or(string(r.response.model), string(r.request.model))
	}
	for _, tools := range [][]ToolDef{r.response.tools, r.request.tools} {
		if len(tools) > 0 && len(tr.Tools) == 0 {
			tr.Tools = tools
		}
	}
	return t
}
