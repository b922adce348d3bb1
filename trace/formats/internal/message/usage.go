package message

import (
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// FindUsage looks for token counts and the model in what a model gave back.
func FindUsage(data []byte) (u trace.Usage, model string) {
	var walk func(c *jsonscan.Cursor, depth int)
	walk = func(c *jsonscan.Cursor, depth int) {
		if depth > 2*messageNesting {
			c.Skip()
			return
		}
		if c.Array() {
			for c.Element() {
				walk(c, depth+1)
			}
			return
		}
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "usage_metadata", "usageMetadata":
				raw := c.Raw()
				in := jsonscan.New(raw)
				v := readLangUsage(&in)
				if !v.Known {
					in = jsonscan.New(raw)
					v = build.ReadGeminiUsage(&in)
				}
				if v.Known {
					u = v
				}
			case "usage", "token_usage", "tokenUsage":
				raw := c.Raw()
				in := jsonscan.New(raw)
				v := build.ReadUsage(&in)
				if !v.Known {
					in = jsonscan.New(raw)
					v = build.ReadResponsesUsage(&in)
				}
				if v.Known && !u.Known {
					u = v
				}
			case "model", "model_name":
				if text, ok := c.Text(); ok && model == "" {
					model = string(text)
				}
			case "generations", "message", "kwargs", "llm_output", "response_metadata", "output":
				walk(c, depth+1)
			}
		}
	}
	c := jsonscan.New(data)
	walk(&c, 0)
	return u, model
}

// readLangUsage reads LangChain's token counts, which include all details.
func readLangUsage(c *jsonscan.Cursor) (u trace.Usage) {
	count := func(n *int64) {
		if v, ok := c.Int(); ok && v >= 0 {
			*n, u.Known = v, true
		}
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "input_tokens":
			count(&u.Input)
		case "output_tokens":
			count(&u.Output)
		case "input_token_details":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "cache_read":
					count(&u.CachedInput)
				case "cache_creation":
					count(&u.CacheWrite)
				}
			}
		case "output_token_details":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "reasoning" {
					count(&u.Reasoning)
				}
			}
		}
	}
	return u
}
