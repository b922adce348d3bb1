package cost

import "github.com/awo-dev/awo/trace"

// Placeholders are recorded counts of output tokens that cannot be: some clients write down
// what stood there when the answer began, such as 1.
type Placeholders struct {
	Turns  int
	Tokens int64 // recorded in these turns
	Bytes  int64 // of the texts and arguments that they hold
}

// A count is taken for a placeholder from so many bytes a token on, in turns that hold so
// many. Texts have some four bytes a token; runs of blanks have more, and rarely so many.
const (
	placeholderBytes = 20
	placeholderTurn  = 100
)

// Merge adds what was counted elsewhere.
func (p *Placeholders) Merge(o Placeholders) {
	p.Turns += o.Turns
	p.Tokens += o.Tokens
	p.Bytes += o.Bytes
}

// Add looks at the turns of a trajectory that record usage.
func (p *Placeholders) Add(t *trace.Trajectory) {
	for i := range t.Turns {
		turn := &t.Turns[i]
		if !turn.Usage.Known {
			continue
		}
		size := int64(turn.Text.TextLen())
		for c := turn.FirstCall; c < turn.FirstCall+turn.NumCalls && c < len(t.Calls); c++ {
			if o := t.Calls[c].Origin; o != trace.OriginCode && o != trace.OriginMetaTool {
				size += int64(t.Calls[c].Args.TextLen())
			}
		}
		if size >= placeholderTurn && turn.Usage.Output*placeholderBytes < size {
			p.Turns++
			p.Tokens += turn.Usage.Output
			p.Bytes += size
		}
	}
}
