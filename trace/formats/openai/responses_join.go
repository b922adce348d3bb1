package openai

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

func AssembleResponses(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	var s build.Transcripts
	a := responsesAssembler{s: &s, ends: map[string]build.ItemHash{}, last: map[string]int{}}
	records := make([]responsesRecord, len(parts))
	anomalies := build.New(0)
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		records[i].read(anomalies, &c)
		if id := string(records[i].response.ID); id != "" {
			if _, ok := a.last[id]; ok {
				anomalies.Anomaly(build.CodeRecordRepeated, 1)
			}
			a.last[id] = i
		}
		anomalies.Anomaly(build.CodeLoneSurrogate, c.LoneSurrogates())
	}
	a.reader = message.Responses{Builder: anomalies}
	first := map[*build.Transcript]int{}
	for _, i := range responsesOrder(records) {
		id := string(records[i].response.ID)
		if id != "" && a.last[id] != i {
			continue
		}
		t := a.add(&records[i])
		if t == nil {
			continue
		}
		if _, ok := first[t]; !ok {
			first[t] = i
			t.Builder.Trajectory.Source = parts[i].Pos
			t.Builder.Trajectory.ID = id
		} else if t.Builder.Trajectory.ID == "" {
			t.Builder.Trajectory.ID = id
		}
	}
	out := s.Finish()
	for i, t := range out {
		if conversation := string(records[first[s.All[i]]].conversation()); conversation != "" {
			t.Session = conversation
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	for code, n := range anomalies.Trajectory.Anomalies.ByCode {
		out[0].Anomalies.AddN(code, n)
	}
	build.UniqueIDs(out)
	return out, nil
}

// responsesOrder returns the order of records: that of the responses' times where
// all have one, because logs are written as responses end, else that of the input.
func responsesOrder(records []responsesRecord) []int {
	order := make([]int, len(records))
	timed := true
	for i := range records {
		order[i] = i
		timed = timed && !records[i].response.Created.IsZero()
	}
	if timed {
		slices.SortStableFunc(order, func(i, j int) int {
			return records[i].response.Created.Compare(records[j].response.Created)
		})
	}
	return order
}

// responsesAssembler puts the records of a key together.
type responsesAssembler struct {
	s      *build.Transcripts
	reader message.Responses
	ends   map[string]build.ItemHash // behind a response
	last   map[string]int            // record of a response
	tail   build.ItemHash            // behind the last record, for conversations
	told   bool
}

// add adds a record and returns its trajectory, nil if it has none.
func (a *responsesAssembler) add(r *responsesRecord) *build.Transcript {
	from, missing := build.ItemHash{}, false
	switch previous := string(r.previous()); {
	case previous != "":
		end, ok := a.ends[previous]
		from, missing = end, !ok
		if !ok { // its hash stands for what was before
			sum := sha256.Sum256([]byte(previous))
			from = build.ItemHash(sum[:16])
		}
	case len(r.conversation()) > 0 && a.told:
		from = a.tail
	}
	var items []build.Item
	for _, text := range []trace.Raw{r.request.Instructions, r.response.Instructions} {
		if !text.IsEmpty() {
			items = append(items, build.Item{Kind: build.ItemSystem, Value: text})
			break
		}
	}
	c := jsonscan.New(r.request.Input.Data)
	items = append(items, a.reader.List(&c, false)...)
	asked := len(items)
	c = jsonscan.New(r.response.Output.Data)
	items = append(items, a.reader.List(&c, true)...)
	answered := r.answered && len(items) > asked
	failed := r.response.Failed || string(r.response.Status) == "failed" || string(r.response.Status) == "cancelled"
	if r.answered && !failed && r.response.Usage.Output > 0 {
		answered = true
	}
	t, end := a.s.Add(from, items, asked, answered, build.Response{
		Usage: r.response.Usage,
		Model: cmp.Or(string(r.response.Model), string(r.request.Model)),
		Start: r.response.Created,
		End:   r.response.Ended,
	})
	a.tail, a.told = end, true
	if len(r.response.ID) > 0 {
		a.ends[string(r.response.ID)] = end
	}
	if missing {
		t.Builder.Anomaly(build.CodePreviousResponse, 1)
	}
	if r.answered && failed {
		t.Builder.Anomaly(build.CodeResponseFailed, 1)
	}
	if string(r.response.Status) == "incomplete" {
		t.Builder.Anomaly(build.CodeResponseCut, 1)
	}
	tr := t.Builder.Trajectory
	if tr.Model == "" {
		tr.Model = cmp.Or(string(r.response.Model), string(r.request.Model))
	}
	for _, tools := range [][]trace.ToolDef{r.response.Tools, r.request.Tools} {
		if len(tools) > 0 && len(tr.Tools) == 0 {
			tr.Tools = tools
		}
	}
	return t
}
