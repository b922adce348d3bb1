package openai_test

import (
	"testing"

	"github.com/awo-dev/awo/trace/formats/internal/formattest"
	"github.com/awo-dev/awo/trace/formats/openai"
)

func FuzzOpenAIResponses(f *testing.F) { formattest.FuzzFormat(f, &openai.Responses) }
