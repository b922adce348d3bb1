package agents_test

import (
	"testing"

	"github.com/awo-dev/awo/trace/formats/agents"
	"github.com/awo-dev/awo/trace/formats/internal/formattest"
)

func FuzzOpenAIAgents(f *testing.F) { formattest.FuzzFormat(f, &agents.OpenAIAgents) }
