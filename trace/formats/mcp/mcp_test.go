package mcp_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/mcp"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// TestMCPRecorded compares the two directions of a recorded connection, in
// either order, with what a person reads in them.
func TestMCPRecorded(t *testing.T) {
	client := recordings.Recorded(t, filepath.Join("formats", "mcp-jsonrpc", "go-sdk_tools.client.jsonl"))
	server := recordings.Recorded(t, filepath.Join("formats", "mcp-jsonrpc", "go-sdk_tools.server.jsonl"))
	for _, files := range [][]string{{client, server}, {server, client}} {
		all := formattest.ReadFiles(t, files...)
		if len(all) != 1 {
			t.Fatalf("%d trajectories of one connection", len(all))
		}
		tr := all[0]
		var got []string
		for i := range tr.Calls {
			c := &tr.Calls[i]
			v, _ := c.ResultValue()
			got = append(got, fmt.Sprintf("%s %s@%d %s %s %s", c.ID, c.Tool.Value(), c.Turn, c.AppendCanonicalArgs(nil), c.Status, v.AppendCanonical(nil)))
		}
		want := []string{
			`6 greet@-1 {"Name":"you"} ok "hi you"`,
			`7 structured@-1 {"In":"input"} ok {"Out":"Ack input"}`,
			`8 structured@-1 {} failed "validating \"arguments\": validating root: required: missing properties: [\"In\"]"`,
			`9 tomorrow@-1 {"Now":"2025-06-18T15:04:05Z"} ok {"Tomorrow":"2025-06-19T15:04:05Z"}`,
			`10 greet@-1 {} failed "validating \"arguments\": validating root: required: missing properties: [\"Name\"]"`,
			`11 inc@-1 {"x":3} ok {"y":4}`,
			`11 inc@-1 {} ok {"y":7}`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("calls are\n%q\nwant\n%q", got, want)
		}
		if len(tr.Turns) != 0 || tr.Agent != "ExampleClient" || len(tr.Tools) != 4 {
			t.Errorf("%d turns, agent %q, %d tools", len(tr.Turns), tr.Agent, len(tr.Tools))
		}
		if n := tr.Anomalies.ByCode; n[build.CodeCallUnnamed] != 1 || n[build.CodeCallRepeatedID] != 1 || tr.Anomalies.Total != 2 {
			t.Errorf("anomalies are %v", n)
		}
		formattest.CheckRoundTrip(t, tr)
	}
}

func FuzzDecodeMCP(f *testing.F) { formattest.FuzzFormat(f, &mcp.Format) }
