package trace

// Support says whether traces bear an analysis.
type Support string

// The degrees of support.
const (
	SupportFull    Support = "yes"
	SupportPartial Support = "partly"
	SupportNone    Support = "no"
)

// Capability is one kind of analysis with what these traces offer for it.
type Capability struct {
	Name    string  `json:"capability"`
	Support Support `json:"support"`
	Share   float64 `json:"share"`            // of the units that it needs which are there; 0 where there are no units
	Of      int     `json:"of"`               // how many units there are
	Units   string  `json:"needs"`            // what Share counts, such as "calls with arguments and results"
	Reason  string  `json:"reason,omitempty"` // what is missing and what follows; empty for SupportFull
}

// Capability names.
const (
	CapabilitySequences = "sequence statistics"
	CapabilityTurns     = "turn-aware savings"
	CapabilityDataflow  = "dataflow"
	CapabilityMoney     = "tokens and money"
	CapabilityOutcomes  = "outcome filters"
	CapabilityTime      = "splits by time"
	CapabilityStatus    = "error rates"
)

// Capabilities judges what the traces bear, in a fixed order. Commands refuse
// or warn on this basis.
func (y *Tally) Capabilities() []Capability {
	return []Capability{
		capability(CapabilitySequences, y.MultiCall, y.Trajectories, "trajectories with at least two calls",
			"no trajectory has two calls, so nothing follows anything",
			"the others count in the order-0 figures only"),
		capability(CapabilityTurns, y.Calls-y.TurnsUnknown, y.Calls, "calls whose model turn is recorded",
			"these traces do not say which calls one model response made: savings in turns cannot be known",
			"calls of unknown turns are left out of savings"),
		capability(CapabilityDataflow, y.Traceable, y.Calls, "calls with arguments and result",
			"arguments or results are not recorded, so no argument can be traced to its source",
			"arguments are traced only where both ends are recorded"),
		capability(CapabilityMoney, y.TurnsUsage, y.LLMTurns, "turns with recorded token usage",
			"no token usage is recorded: tokens can only be estimated from texts",
			"turns without usage are estimated from the others"),
		capability(CapabilityOutcomes, y.OutcomeKnown, y.Trajectories, "trajectories with a recorded outcome",
			"no outcome is recorded: successful runs cannot be told from failed ones",
			"filters on success leave out the trajectories of unknown outcome"),
		capability(CapabilityTime, y.Timed, y.Trajectories, "trajectories with a recorded time",
			"no times are recorded: splits, ranges and latencies are refused",
			"untimed trajectories are left out of splits by time"),
		capability(CapabilityStatus, y.Calls-y.StatusUnknown, y.Calls, "calls that say whether they failed",
			"the format has no error flag: a status rule can read it from the results",
			"rates are of the calls whose status is known"),
	}
}

func capability(name string, have, of int, units, none, partial string) Capability {
	out := Capability{Name: name, Units: units, Of: of, Support: SupportFull}
	switch {
	case of == 0 || have == 0:
		out.Support, out.Reason = SupportNone, none
		if of == 0 {
			out.Reason = "there is nothing of the kind in these traces"
		}
	case have < of:
		out.Support, out.Reason = SupportPartial, partial
	}
	if of > 0 {
		out.Share = float64(have) / float64(of)
	}
	return out
}
