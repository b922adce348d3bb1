package atif

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/trace"
)

func TestTimeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "seconds"), rapid.SampledFrom([]int64{0, 1000, 5_000_000, 123456789}).Draw(t, "nanos")).UTC()
		if !isWritable(at) {
			t.Skip("the zero time")
		}
		text := appendTime(nil, at)
		got, ok := trace.ParseTime(text[1 : len(text)-1])
		if !ok || !got.Equal(at) {
			t.Fatalf("%s became %v, %v", text, got, ok)
		}
		if std, err := time.Parse(time.RFC3339Nano, string(text[1:len(text)-1])); err != nil || !std.Equal(at) {
			t.Fatalf("%s is %v by the standard library (%v)", text, std, err)
		}
	})
}
