package sessions_test

import (
	"testing"

	"github.com/awo-dev/awo/trace/formats/sessions"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func FuzzMessages(f *testing.F) { formattest.FuzzFormat(f, &sessions.Messages) }
