package message

import (
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// AnyUsage reads an object of token counts in whatever form it is.
func AnyUsage(counts []byte) (u trace.Usage) {
	for _, name := range []string{"usage", "usage_metadata"} {
		if u, _ = FindUsage(append(append([]byte(`{"`+name+`":`), counts...), '}')); u.Known {
			return u
		}
	}
	return build.ReadUsage(counts, &build.UsageSession)
}

// FindUsage looks for token counts, and the model, in what a model gave back: the
// response of an interface, or what a library keeps of one.
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
				if v := build.ReadUsage(c.Raw(), &build.UsageLangChain, &build.UsageGemini); v.Known {
					u = v
				}
			case "usage", "token_usage", "tokenUsage":
				raw := c.Raw()
				forms := []*build.Usage{&build.UsageChat, &build.UsageResponses}
				if !build.HasMember(raw, "prompt_tokens") && (build.HasMember(raw, "cache_read_input_tokens") || build.HasMember(raw, "cache_creation_input_tokens")) {
					forms = []*build.Usage{&build.UsageAnthropic}
				}
				if v := build.ReadUsage(raw, forms...); v.Known && !u.Known {
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
