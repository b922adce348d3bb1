package inertia

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"testing"

	"github.com/awo-dev/awo/internal/elementary"
	"github.com/awo-dev/awo/trace"
)

// Compilers may fuse x*y + z, which rounds once instead of twice, and then what is
// fitted depends on the processor. What the compiler makes of these packages for one
// that fuses must hold no such instruction. On such a processor all that is imported is
// compiled already; elsewhere it would be compiled for this test alone, and `make fused`
// asks for it.
func TestNothingIsFused(t *testing.T) {
	if runtime.GOARCH != "arm64" && os.Getenv("AWO_FUSED") == "" {
		t.Skip("compiles for another processor")
	}
	command, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	build := exec.Command(command, "build", "-gcflags=-S", ".", "./replay", "../internal/elementary", "../ngram")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "GOARM64=v8.0", "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out[:min(len(out), 2000)])
	}
	if !bytes.Contains(out, []byte("FMULD")) {
		t.Fatal("the listing holds no multiplication, so it proves nothing")
	}
	fused := regexp.MustCompile(`\(([^()\s]+:\d+)\)\s+(FN?M(?:ADD|SUB)[SD])\s`)
	for _, found := range fused.FindAllSubmatch(out, -1) {
		t.Errorf("%s: %s: round the product with float64()", found[1], found[2])
	}
}

// What is fitted is the same to the last bit on every processor: the sum is that of
// one of them.
func TestFitIsTheSameEverywhere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tools := []trace.Name{trace.Intern("a"), trace.Intern("b"), trace.Intern("c")}
	var examples []Example
	for i := range 500 {
		f := Features{Tool: random.Float64(), Fill: random.Float64(), Calls: i % 17, Run: i % 3, All: i % 5, Named: i%2 == 0, Other: i%7 == 0, Place: Place{Tool: tools[i%3], Repeated: i%11 == 0}}
		f.Left = random.IntN(f.All + 1)
		examples = append(examples, Example{f, random.Float64() < f.Tool*f.Fill})
	}
	c := Calibrate(examples)
	sum := sha256.New()
	note := func(x float64) { _ = binary.Write(sum, binary.LittleEndian, math.Float64bits(x)) }
	for _, w := range c.Weights {
		note(w)
	}
	for i := range examples {
		note(c.Probability(examples[i].Features))
	}
	for i := range 2000 {
		x := math.Ldexp(random.Float64(), i%60-30)
		for _, y := range []float64{elementary.Exp(x), elementary.Exp(-x), elementary.Exp2(-x), elementary.Log(x), elementary.Log1p(x), elementary.Log2(x)} {
			note(y)
		}
	}
	const want = "f08673c14949526cc89550a6478bac4c2fa2d27bef1b3f734ef244741d038795"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
