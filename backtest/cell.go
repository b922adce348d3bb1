package backtest

import (
	"slices"

	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/prefetch/learn"
)

// Action is what a verdict says to do.
type Action string

// The actions.
const (
	DoNothing  Action = "do-nothing"
	DoPatterns Action = "patterns" // offer meta-tools
	DoPrefetch Action = "prefetch" // read ahead
	DoBoth     Action = "both"     // offer meta-tools, and read ahead
	DoRegister Action = "register" // register tools when they are needed
	DoByAgent  Action = "by-agent" // not the same for all agents; see Result.Agents
)

// Cell is one way of doing something about the agent.
type Cell struct {
	Action  Action      `json:"action"`
	Options CellOptions `json:"options"`
}

// CellOptions are the options of an action. What it does not use is left out.
type CellOptions struct {
	Select    Selection `json:"select,omitempty"`             // of meta-tools; "" without any
	Threshold int       `json:"threshold,omitempty"`          // of meta-tools; 0 without any
	MaxTools  int       `json:"max_tools,omitempty"`          // 0 sets no bound
	Use       float64   `json:"prefetch_threshold,omitempty"` // the P(use) from which on reads are made ahead; 0 without any
	Lazily    bool      `json:"lazily"`                       // tools and meta-tools are registered when they are needed, or from the start where that pays
}

// VerdictOptions say what a verdict chooses from, and by what.
type VerdictOptions struct {
	Objective  Objective
	Thresholds []int // of meta-tools; nil: 3, 5, 10, 20
	MaxTools   []int // nil: 1, 2, 5, 10, 20 and no bound
}

// Defaults of VerdictOptions, and the P(use) that are tried.
var (
	verdictThresholds = []int{3, 5, 10, 20}
	verdictMaxTools   = []int{1, 2, 5, 10, 20, 0}
	usesTried         = []float64{0.1, 0.2, 0.3, 0.5, 0.7, 0.9}
)

// grid returns the cells, the plainest first: of cells that save the same the first is
// taken. Lazily says that definitions of tools are recorded.
func (o *VerdictOptions) grid(lazily bool) []Cell {
	thresholds, most := o.Thresholds, o.MaxTools
	if thresholds == nil {
		thresholds = verdictThresholds
	}
	if most == nil {
		most = verdictMaxTools
	}
	cells := []Cell{{DoRegister, CellOptions{Lazily: true}}}
	for _, use := range usesTried {
		cells = append(cells, Cell{DoPrefetch, CellOptions{Use: use}})
	}
	cells = append(cells, Cell{DoPrefetch, CellOptions{Use: learn.DefaultThreshold, Lazily: true}})
	for _, action := range []Action{DoPatterns, DoBoth} {
		use := 0.0
		if action == DoBoth {
			use = learn.DefaultThreshold
		}
		for _, selection := range []Selection{SelectNet, SelectTurns} {
			for i, threshold := range thresholds {
				for _, tools := range most {
					if tools == 0 || tools <= 5 || action == DoPatterns {
						cells = append(cells, Cell{action, CellOptions{Select: selection, Threshold: threshold, MaxTools: tools, Use: use}})
					}
				}
				if selection == SelectTurns && i%2 == 1 {
					cells = append(cells, Cell{action, CellOptions{Select: selection, Threshold: threshold, Use: use, Lazily: true}})
				}
			}
		}
	}
	if !lazily {
		cells = slices.DeleteFunc(cells, func(c Cell) bool { return c.Options.Lazily })
	}
	return cells
}

// technique returns the technique that does what a cell says.
func (c Cell) technique() Technique {
	t := Technique{Name: string(c.Action)}
	if c.Options.Select != "" {
		o := offer{way: way{algorithm: compile.Patterns, threshold: c.Options.Threshold}, selection: c.Options.Select, tools: c.Options.MaxTools, beside: c.Options.Use}
		t.ways, t.offer = []way{o.way}, &o
	}
	t.Train = func(p *Part) Trained { return c.train(p, t.offer) }
	return t
}

func (c Cell) train(p *Part, o *offer) Trained {
	if c.Action == DoRegister {
		return register.Train(p)
	}
	of := combination{lazily: c.Options.Lazily}
	if o != nil {
		of.tools = p.offered(*o)
	}
	if c.Options.Use > 0 {
		of.reader = p.trainReader(c.Options.Use)
	}
	switch {
	case of.lazily || of.tools != nil && of.reader != nil:
		return p.together(of)
	case of.reader == nil:
		return of.tools
	}
	return of.reader
}

// UseOutcome is what reading ahead comes to that begins at a P(use).
type UseOutcome struct {
	Use float64
	Outcome
}

// Objective is what a verdict weighs.
type Objective string

// The objectives. Money is tokens where no price is known.
const (
	ObjectiveMoney  Objective = "money"
	ObjectiveTokens Objective = "tokens"
	ObjectiveTurns  Objective = "turns"
	ObjectiveTime   Objective = "time"
)
