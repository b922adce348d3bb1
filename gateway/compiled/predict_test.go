package compiled_test

import (
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/compiled"
	"github.com/awo-dev/awo/trace"
)

// guess predicts the order o1 after a user was found, whatever was predicted before.
type guess struct{}

func (guess) Tools() []string { return []string{"find_user", "get_order", "cancel_order"} }
func (guess) Next(done []compiled.Done) (string, trace.Value, bool) {
	switch last := done[len(done)-1]; {
	case last.Tool == "find_user" && last.Result.Member("orders").Kind == trace.Array:
		return "get_order", value(`{"order_id":"o1"}`), true
	case last.Tool == "count": // what may write is never made
		return "change", value(`{}`), true
	}
	return "", trace.Value{}, false
}

func TestPredict(t *testing.T) {
	dir := t.TempDir()
	recording, err := gateway.NewRecording(dir, gateway.RedactSecrets, "")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := inFront(t, folder(t, nil, orders("")), compiled.Options{Predict: guess{}, Wait: 5 * time.Second}, gateway.Options{Recording: recording}, shopServer(t, "shop", ""))
	user := func() []string {
		got, _ := texts(t, c.Request("tools/call", `{"name":"find_user","arguments":{"name":"Ann"}}`))
		return got
	}
	got := user()
	if len(got) != 2 || got[1] != `text {"read_ahead":[{"tool":"get_order","arguments":{"order_id":"o1"},"result":{"items":[1,2],"order":"o1"}}]}` {
		t.Fatalf("%q", got)
	}
	got, _ = texts(t, c.Request("tools/call", `{"name":"get_order","arguments":{"order_id":"o1"}}`))
	want(t, "from the server", got[0], `text {"order":"o1","items":[1,2]}`)
	got, _ = texts(t, c.Request("tools/call", `{"name":"count"}`))
	want(t, "calls", got[0], `text {"calls":4,"at_once":1}`)
	user()
	got, _ = texts(t, c.Request("tools/call", `{"name":"count"}`))
	want(t, "predicted again after what may have changed it", got[0], `text {"calls":7,"at_once":1}`)
	recorded := recordedIn(t, dir)
	if n := strings.Count(recorded, `"as":"inertial","by":"snapshot"`); n != 4 {
		t.Errorf("%d lines of predicted reads, not 4", n)
	}
}
