package platform_test

import (
	"testing"

	"github.com/awo-dev/awo/trace/formats/internal/formattest"
	"github.com/awo-dev/awo/trace/formats/platform"
)

func FuzzLangSmith(f *testing.F) { formattest.FuzzFormat(f, &platform.LangSmith) }

func FuzzLangfuse(f *testing.F) { formattest.FuzzFormat(f, &platform.Langfuse) }
