package office

import "time"

// meter keeps the account of what a model reads and writes over a run.
type meter struct {
	counter   counter
	anthropic bool // whether cache writes are charged apart and in any size

	context  int // tokens of the next prompt
	cached   int // tokens of its prefix that the provider has in its cache
	lastTurn time.Time
}

const (
	perMessage   = 4 // tokens that frame a message
	perCall      = 7 // tokens that frame a tool call
	minimumCache = 1024
	cacheStep    = 128
	cacheLife    = 5 * time.Minute
)

// begin counts the prompt before the task. warm says that another run with the
// same prefix went before shortly.
func (m *meter) begin(prefix int, warm bool) {
	m.context = prefix + perMessage
	if warm {
		m.cached = prefix
	}
}

// read adds a text that the model will read.
func (m *meter) read(s string) { m.context += perMessage + m.counter.count(s) }

// turn accounts for a response that starts at a time: output tokens, of which
// reasoning tokens are not read again.
func (m *meter) turn(at time.Time, output, reasoning int) Usage {
	if !m.lastTurn.IsZero() && at.Sub(m.lastTurn) > cacheLife {
		m.cached = 0
	}
	u := Usage{Input: m.context, Output: output, Reasoning: reasoning}
	if m.anthropic {
		u.Cached = m.cached
		if u.Cached < minimumCache {
			u.Cached = 0
		}
		if m.context >= minimumCache {
			u.CacheWrite = m.context - u.Cached
		}
	} else if m.cached >= minimumCache {
		u.Cached = m.cached / cacheStep * cacheStep
	}
	m.cached = m.context
	m.context += output - reasoning + perMessage
	m.lastTurn = at
	return u
}
