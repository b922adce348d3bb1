package build

import (
	"github.com/awo-dev/awo/internal/jsonscan"

	"github.com/awo-dev/awo/trace"
)

// ReadAnthropicUsage reads token counts, where the input excludes what was read
// from the cache or written to it.
func ReadAnthropicUsage(c *jsonscan.Cursor) (u trace.Usage) {
	count := func(n *int64) {
		if v, ok := c.Int(); ok && v >= 0 {
			*n, u.Known = v, true
		}
	}
	var fresh int64
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "input_tokens":
			count(&fresh)
		case "cache_read_input_tokens":
			count(&u.CachedInput)
		case "cache_creation_input_tokens":
			count(&u.CacheWrite)
		case "output_tokens":
			count(&u.Output)
		}
	}
	u.Input = fresh + u.CachedInput + u.CacheWrite
	return u
}

// ReadUsage reads the token counts of OpenAI, where the input includes what was
// cached and the output what was thought.
func ReadUsage(c *jsonscan.Cursor) (u trace.Usage) {
	count := func(n *int64) {
		if v, ok := c.Int(); ok && v >= 0 {
			*n, u.Known = v, true
		}
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "prompt_tokens":
			count(&u.Input)
		case "completion_tokens":
			count(&u.Output)
		case "prompt_tokens_details":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "cached_tokens" {
					count(&u.CachedInput)
				}
			}
		case "completion_tokens_details":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "reasoning_tokens" {
					count(&u.Reasoning)
				}
			}
		}
	}
	return u
}

// ReadResponsesUsage reads token counts, where the input includes what was cached
// and the output what was thought.
func ReadResponsesUsage(c *jsonscan.Cursor) (u trace.Usage) {
	count := func(n *int64) {
		if v, ok := c.Int(); ok && v >= 0 {
			*n, u.Known = v, true
		}
	}
	detail := func(name string, n *int64) {
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == name {
				count(n)
			}
		}
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "input_tokens":
			count(&u.Input)
		case "output_tokens":
			count(&u.Output)
		case "input_tokens_details":
			detail("cached_tokens", &u.CachedInput)
		case "output_tokens_details":
			detail("reasoning_tokens", &u.Reasoning)
		}
	}
	return u
}
