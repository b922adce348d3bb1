package emit

import (
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/compile"
)

// CandidatesName is the name of the artefact of Candidates.
const CandidatesName = EvidenceFolder + "candidates.json"

// CandidatesSchema names the version of CandidatesJSON.
const CandidatesSchema = "awo.candidates/v1"

// Candidates emits everything that was found, offered or not, with what speaks
// for it and against it: `awo why` reads it.
var Candidates = Emitter{
	Name:  CandidatesName,
	Doc:   "everything that was found, offered or not: where it occurs, why it ends, what was refused",
	Needs: NoOffer,
	Emit: func(in Results) ([]File, error) {
		if in.Found.Walks == nil {
			return nil, nil
		}
		f, err := jsonFile(CandidatesName, in.Found.document(in.Saved))
		// What is committed changes only if what callers see does.
		return []File{f, {Name: EvidenceFolder + ".gitignore", Data: []byte("*\n")}}, err
	},
}

// Found is everything that was found.
type Found struct {
	Threshold int
	Algorithm string
	Walks     *merge.Walks
	// Trajectories are where the trajectories of the walks stand.
	Trajectories []Origin
	Candidates   []FoundCandidate
}

// Origin is where a trajectory was read; artefacts name files as their manifest does.
type Origin struct {
	ID, File string
	Line     int
}

// FoundCandidate is a candidate and what became of it.
type FoundCandidate struct {
	Definition *bind.Definition
	Status     string
	Reason     string // why it is rejected, by codes
	ReasonText string // the same in words
	Anti       bool   // because it fails more often than its parts, or costs more than it saves
	Failures   *FailuresJSON
	Ending     compile.Ending
}

// CandidatesJSON is what Candidates emits.
type CandidatesJSON struct {
	Schema     string          `json:"schema"`
	Threshold  int             `json:"threshold"`
	Algorithm  string          `json:"algorithm"`
	Candidates []CandidateJSON `json:"candidates"`
}

// CandidateJSON is one candidate.
type CandidateJSON struct {
	Name        string         `json:"name"`
	Status      string         `json:"status"`
	Reason      string         `json:"reason"`      // why it is rejected, by codes
	ReasonText  string         `json:"reason_text"` // the same in words
	Tools       []string       `json:"tools"`
	Support     int            `json:"support"`
	Occurrences int            `json:"occurrences"`
	TurnsSaved  int            `json:"turns_saved"` // upper bound; of what is offered: after those chosen before it
	CallsSaved  int            `json:"calls_saved"`
	Arguments   []WhyArgument  `json:"arguments"` // where each comes from, by step, then name
	Refusals    []bind.Refusal `json:"refusals"`
	Ending      compile.Ending `json:"ending"`
	Places      []PlaceJSON    `json:"places"` // the first ones, at most one a trajectory

	Anti     bool          `json:"anti_meta_tool"` // it fails more often than its parts, or costs more than it saves
	Failures *FailuresJSON `json:"failures"`       // null for what cannot be offered
}

// WhyArgument says where an argument comes from, and where it does not. It holds
// no value.
type WhyArgument struct {
	Step        int         `json:"step"` // from 0
	Argument    string      `json:"argument"`
	Kind        string      `json:"kind"`
	From        *int        `json:"from,omitempty"` // the step whose result it is, from 0
	Agree       int         `json:"agree"`
	Occurrences int         `json:"occurrences"`
	Others      []OtherJSON `json:"others"`
}

// OtherJSON is a binding that was looked at and not taken.
type OtherJSON struct {
	Kind        string `json:"kind"`
	From        *int   `json:"from,omitempty"`
	Agree       int    `json:"agree"`
	Occurrences int    `json:"occurrences"`
	LinkAgree   int    `json:"link_agree"` // of the link that it follows, over all traces
	LinkUses    int    `json:"link_uses"`
	Reason      string `json:"reason"`
}

// PlaceJSON is an occurrence.
type PlaceJSON struct {
	Trajectory string `json:"trajectory"`
	File       string `json:"file"`
	Line       int    `json:"line"`
	Call       int    `json:"call"`  // the first, from 1
	Times      int    `json:"times"` // occurrences in this trajectory
}

// maxPlaces is how many trajectories are named for a candidate.
const maxPlaces = 20

func (f *Found) document(saved map[*bind.Definition]int) CandidatesJSON {
	out := CandidatesJSON{Schema: CandidatesSchema, Threshold: f.Threshold, Algorithm: f.Algorithm, Candidates: []CandidateJSON{}}
	for i := range f.Candidates {
		one := f.candidate(&f.Candidates[i])
		if turns, offered := saved[f.Candidates[i].Definition]; offered {
			one.TurnsSaved = turns
		}
		out.Candidates = append(out.Candidates, one)
	}
	return out
}

func (f *Found) candidate(c *FoundCandidate) CandidateJSON {
	d := c.Definition
	out := CandidateJSON{
		Name: d.Name, Status: c.Status, Reason: c.Reason, ReasonText: c.ReasonText, Tools: calledBy([]*bind.Definition{d}), Support: d.Candidate.Support,
		Occurrences: len(d.Candidate.Occurrences), TurnsSaved: d.Candidate.TurnsSaved, CallsSaved: d.Candidate.CallsSaved,
		Arguments: []WhyArgument{}, Refusals: append([]bind.Refusal{}, d.Refusals...), Ending: c.Ending, Places: f.places(d.Candidate), Anti: c.Anti, Failures: c.Failures,
	}
	for i := range d.Bound {
		b := &d.Bound[i]
		a := WhyArgument{
			Step: b.Step, Argument: b.Argument, Kind: b.Binding.Kind.String(), From: giver(&b.Binding),
			Agree: b.Evidence.Agree, Occurrences: b.Evidence.Occurrences, Others: []OtherJSON{},
		}
		for j := range b.Others {
			o := &b.Others[j]
			other := OtherJSON{Kind: o.Binding.Kind.String(), From: giver(&o.Binding), Agree: o.Evidence.Agree, Occurrences: o.Evidence.Occurrences, Reason: o.Reason}
			if o.Evidence.Judgment != nil {
				other.LinkAgree, other.LinkUses = o.Evidence.Judgment.Agree, o.Evidence.Judgment.Uses
			}
			a.Others = append(a.Others, other)
		}
		out.Arguments = append(out.Arguments, a)
	}
	return out
}

// giver returns the step whose result a binding reads, nil if it reads none.
func giver(b *metatool.Binding) *int {
	if b.Kind != metatool.BindStep {
		return nil
	}
	step := b.Step
	return &step
}

func (f *Found) places(c *candidate.Candidate) []PlaceJSON {
	places := []PlaceJSON{}
	last := -1
	for i := range c.Occurrences {
		o := &c.Occurrences[i]
		if o.Trajectory >= len(f.Trajectories) {
			continue
		}
		if o.Trajectory == last {
			places[len(places)-1].Times++
			continue
		}
		if len(places) == maxPlaces {
			break
		}
		last = o.Trajectory
		call, _, _ := f.Walks.Calls(o.First)
		at := f.Trajectories[o.Trajectory]
		places = append(places, PlaceJSON{at.ID, at.File, at.Line, call + 1, 1})
	}
	return places
}
