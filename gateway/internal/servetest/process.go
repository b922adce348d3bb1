package servetest

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/awo-dev/awo/gateway"
)

// kindVariable makes a test's program the server of a kind, in place of running tests.
const kindVariable = "SERVETEST_SERVER"

// Main runs tests whose servers are processes of the same program: these run be. Nothing
// may be left over when the tests have run.
func Main(m *testing.M, be func(kind string)) {
	if kind := os.Getenv(kindVariable); kind != "" {
		be(kind)
		return
	}
	goleak.VerifyTestMain(m)
}

// Process returns the server of a kind as a process.
func Process(t *testing.T, name, kind string) gateway.Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return gateway.Server{Name: name, Command: program, Env: []string{kindVariable + "=" + kind}}
}
