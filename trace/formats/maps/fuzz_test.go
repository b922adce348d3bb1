package maps_test

import (
	"testing"

	"github.com/awo-dev/awo/trace/formats/internal/formattest"
)

func fuzz(f *testing.F, name string) { formattest.FuzzFormat(f, formattest.Format(name)) }

func FuzzCopilot(f *testing.F) { fuzz(f, "copilot-cli") }

func FuzzKimi(f *testing.F) { fuzz(f, "kimi") }

func FuzzADK(f *testing.F) { fuzz(f, "adk") }

func FuzzGeminiStream(f *testing.F) { fuzz(f, "gemini-stream") }

func FuzzCraft(f *testing.F) { fuzz(f, "craft") }
