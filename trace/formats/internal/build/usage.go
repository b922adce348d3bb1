package build

import (
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// part is what one of the counts in recorded token usage counts.
type part uint8

const (
	input part = iota
	cached
	written
	writtenHour // of written: kept for an hour
	output
	reasoning
	ofTools // read by tools of the interface, apart from the input
	total   // of everything
	parts
)

// maxTokens is above any count that a response can have, and far below what would
// make a sum of them overflow.
const maxTokens = 1 << 50

// Usage is how an interface writes token counts: the names of its members, and what
// they add up to where they are not counts of trace.Usage already, whose input
// includes what was cached and whose output includes what was thought.
type Usage struct {
	counts  map[string]part
	details map[string]map[string]part // in objects inside, by their names
	cost    string                     // a price in USD
	sum     sum
}

// sum is what has to be added up. It is no function, because what a function value
// points to is allocated.
type sum uint8

const (
	complete        sum = iota // nothing
	cacheApart                 // the input excludes what was read from the cache or written to it
	cacheMaybeApart            // providers differ; the total tells
	thoughtApart               // the output excludes what was thought, and the input what tools read
	allApart                   // the input excludes what was cached, the output what was thought
)

// The forms in which token counts are written.
var (
	UsageAnthropic = Usage{
		counts:  map[string]part{"input_tokens": input, "cache_read_input_tokens": cached, "cache_creation_input_tokens": written, "output_tokens": output},
		details: map[string]map[string]part{"cache_creation": {"ephemeral_1h_input_tokens": writtenHour}},
		sum:     cacheApart,
	}
	UsageChat = Usage{ // OpenAI's chat completions, also as JavaScript names them
		counts: map[string]part{
			"prompt_tokens": input, "completion_tokens": output, "promptTokens": input, "completionTokens": output, "total_tokens": total, "totalTokens": total,
			"cache_read_input_tokens": cached, "cache_creation_input_tokens": written, // of a proxy, in the input
		},
		details: map[string]map[string]part{
			"prompt_tokens_details": {"cached_tokens": cached}, "completion_tokens_details": {"reasoning_tokens": reasoning},
		},
	}
	UsageResponses = Usage{ // OpenAI's Responses interface, and what Codex and OpenAI's agents make of it
		counts: map[string]part{
			"input_tokens": input, "output_tokens": output, "total_tokens": total,
			"cached_input_tokens": cached, "cache_write_input_tokens": written, "reasoning_output_tokens": reasoning,
		},
		details: map[string]map[string]part{
			"input_tokens_details": {"cached_tokens": cached}, "output_tokens_details": {"reasoning_tokens": reasoning},
		},
	}
	UsageLangChain = Usage{
		counts: map[string]part{"input_tokens": input, "output_tokens": output, "total_tokens": total},
		details: map[string]map[string]part{
			"input_token_details": {"cache_read": cached, "cache_creation": written}, "output_token_details": {"reasoning": reasoning},
		},
	}
	UsageGemini = Usage{ // and Gemini CLI
		counts: map[string]part{
			"promptTokenCount": input, "prompt_token_count": input, "input": input,
			"candidatesTokenCount": output, "candidates_token_count": output, "output": output,
			"thoughtsTokenCount": reasoning, "thoughts_token_count": reasoning, "thoughts": reasoning,
			"cachedContentTokenCount": cached, "cached_content_token_count": cached, "cached": cached,
			"toolUsePromptTokenCount": ofTools, "tool_use_prompt_token_count": ofTools, "tool": ofTools,
			"totalTokenCount": total, "total_token_count": total, "total": total,
		},
		sum: thoughtApart,
	}
	UsageInspect = Usage{
		counts: map[string]part{
			"input_tokens": input, "output_tokens": output, "total_tokens": total,
			"input_tokens_cache_read": cached, "input_tokens_cache_write": written, "reasoning_tokens": reasoning,
		},
		sum: cacheMaybeApart,
	}
	UsageOpenHands = Usage{
		details: map[string]map[string]part{"accumulated_token_usage": {
			"prompt_tokens": input, "completion_tokens": output, "cache_read_tokens": cached, "cache_write_tokens": written, "reasoning_tokens": reasoning,
		}},
		cost: "accumulated_cost",
	}
	UsageLangfuse = Usage{
		counts: map[string]part{
			"input": input, "promptTokens": input, "prompt_tokens": input, "input_tokens": input,
			"output": output, "completionTokens": output, "completion_tokens": output, "output_tokens": output,
			"total": total, "totalTokens": total, "total_tokens": total,
			"input_cached_tokens": cached, "input_cache_read": cached, "cache_read_input_tokens": cached, "cached_tokens": cached,
			"input_cache_creation": written, "cache_creation_input_tokens": written, "input_cache_write": written,
			"output_reasoning_tokens": reasoning, "output_reasoning": reasoning, "reasoning_tokens": reasoning,
		},
	}
	UsageATIF = Usage{
		counts:  map[string]part{"prompt_tokens": input, "completion_tokens": output, "cached_tokens": cached, "total_prompt_tokens": input, "total_completion_tokens": output},
		details: map[string]map[string]part{"extra": {"reasoning_tokens": reasoning, "cache_creation_input_tokens": written}},
		cost:    "cost_usd",
	}
)

// Read reads the object of token counts that c stands on. The result is known if it
// has a count.
func (f *Usage) Read(c *jsonscan.Cursor) (u trace.Usage) {
	var n [parts]int64
	for ok := c.Object(); ok && c.Member(); {
		key := c.Key()
		if p, ok := f.counts[string(key)]; ok {
			u.Known = readCount(c, &n[p]) && p != total || u.Known
		} else if inside, ok := f.details[string(key)]; ok {
			for ok := c.Object(); ok && c.Member(); {
				if p, ok := inside[string(c.Key())]; ok {
					u.Known = readCount(c, &n[p]) || u.Known
				}
			}
		} else if f.cost != "" && string(key) == f.cost {
			if cost, ok := c.Float(); ok {
				u.CostUSD = &cost
			}
		}
	}
	u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning = n[input], n[cached], n[written], n[output], n[reasoning]
	u.CacheWriteHour = min(n[writtenHour], u.CacheWrite)
	cache := u.CachedInput + u.CacheWrite
	switch f.sum {
	case cacheApart:
		u.Input += cache
	case cacheMaybeApart:
		if n[total] == u.Input+cache+u.Output || u.Input < cache {
			u.Input += cache
		}
	case thoughtApart:
		u.Input, u.Output = u.Input+n[ofTools], u.Output+u.Reasoning
	case allApart:
		u.Input, u.Output = u.Input+cache, u.Output+u.Reasoning
		if n[total] == u.Input+n[output] || n[total] == n[input]+n[output] {
			u.Output = n[output] // the total says that it includes what was thought
		}
	}
	SettleUsage(&u, n[total])
	return u
}

// SettleUsage compares counts with the total that a trace states, 0 for none. Writers
// differ in whether the input includes what was cached, and the output what was thought:
// the total tells. Where nothing adds up to it, the counts are marked.
func SettleUsage(u *trace.Usage, total int64) {
	if sum := u.Input + u.Output; total == 0 || !u.Known || total == sum || total == sum-u.Reasoning {
		return
	}
	cache := u.CachedInput + u.CacheWrite
	for _, by := range [][2]int64{{0, u.Reasoning}, {cache, 0}, {cache, u.Reasoning}, {-cache, 0}} {
		if input, output := u.Input+by[0], u.Output+by[1]; input+output == total && input >= cache {
			u.Input, u.Output = input, output
			return
		}
	}
	u.Contradicted = true
}

// readCount reads a count into n, and reports whether c stands on one.
func readCount(c *jsonscan.Cursor, n *int64) bool {
	v, ok := c.Int()
	if ok = ok && v >= 0 && v < maxTokens; ok {
		*n = v
	}
	return ok
}

// ReadUsage reads token counts in the first of the forms in which they are known.
func ReadUsage(object []byte, forms ...*Usage) (u trace.Usage) {
	for _, f := range forms {
		c := jsonscan.New(object)
		if u = f.Read(&c); u.Known {
			break
		}
	}
	return u
}

// UsageVSCode is how Copilot Chat counts the tokens of a request.
var UsageVSCode = Usage{counts: map[string]part{"promptTokens": input, "outputTokens": output}}

// UsageCline is how Cline counts the tokens of a message.
var UsageCline = Usage{
	counts: map[string]part{"prompt": input, "completion": output, "cached": cached, "total": total},
	sum:    cacheMaybeApart,
}

// UsageSession is how sessions of coding agents count tokens: what was read from the
// cache, or written to it, apart from the input, and what was thought from the output.
var UsageSession = Usage{
	counts: map[string]part{
		"input": input, "output": output, "reasoning": reasoning, "cacheRead": cached, "cacheWrite": written, "cached_input": cached,
		"total": total, "totalTokens": total,
		"input_other": input, "input_cache_read": cached, "input_cache_creation": written,
		"inputOther": input, "inputCacheRead": cached, "inputCacheCreation": written,
		"inputTokens": input, "outputTokens": output, // Bedrock's agents
		"prompt_eval_count": input, "eval_count": output, // Ollama
	},
	details: map[string]map[string]part{"cache": {"read": cached, "write": written}},
	sum:     allApart,
}
