package openai_test

import (
	"testing"

	"github.com/awo-dev/awo/trace/formats/openai"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func FuzzOpenAIResponses(f *testing.F) { formattest.FuzzFormat(f, &openai.Responses) }
