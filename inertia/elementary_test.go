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
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/trace"
)

// logOfAny is math.Log, also of subnormal numbers: there the one that package math has
// for amd64 is wrong in the first digits.
func logOfAny(x float64) float64 {
	if x < 0x1p-1022 && x > 0 {
		fraction, exponent := math.Frexp(x)
		return math.Log(fraction) + float64(exponent)*math.Ln2
	}
	return math.Log(x)
}

// The functions agree with those of package math to a few units in the last place.
func TestElementaryFunctions(t *testing.T) {
	for _, c := range []struct {
		name     string
		ours     func(float64) float64
		theirs   func(float64) float64
		from, to float64
	}{
		{"exp", exp, math.Exp, -740, 709},
		{"exp near 0", exp, math.Exp, -1e-3, 1e-3},
		{"exp2", exp2, math.Exp2, -1000, 1000},
		{"log", log, logOfAny, 0, 1e300},
		{"log near 1", log, math.Log, 0.5, 2},
		{"log1p", log1p, math.Log1p, 0, 1e6},
		{"log1p near 0", log1p, math.Log1p, 0, 1e-9},
		{"log2", log2, math.Log2, 0, 1},
	} {
		t.Run(c.name, rapid.MakeCheck(func(t *rapid.T) {
			x := rapid.Float64Range(c.from, c.to).Draw(t, "x")
			got, want := c.ours(x), c.theirs(x)
			if got == want {
				return
			}
			if !(math.Abs(got-want) <= 2e-15*math.Abs(want)) && math.Abs(want) > 1e-300 {
				t.Fatalf("of %v it is %v, want %v", x, got, want)
			}
		}))
	}
	for _, c := range []struct{ got, want float64 }{
		{exp(0), 1},
		{exp(1000), math.Inf(1)},
		{exp(-1000), 0},
		{exp(math.Inf(1)), math.Inf(1)},
		{exp(math.Inf(-1)), 0},
		{exp2(0), 1},
		{exp2(-3), 0.125},
		{exp2(1024), math.Inf(1)},
		{exp2(-1100), 0},
		{exp2(math.Inf(-1)), 0},
		{log(1), 0},
		{log(0), math.Inf(-1)},
		{log(0x1p-1023), -709.0895657128241},
		{log(math.Inf(1)), math.Inf(1)},
		{log1p(0), 0},
		{log1p(math.Inf(1)), math.Inf(1)},
		{log2(0.125), -3},
		{log2(0), math.Inf(-1)},
		{log2(math.Inf(1)), math.Inf(1)},
	} {
		if c.got != c.want {
			t.Errorf("%v instead of %v", c.got, c.want)
		}
	}
	for _, nan := range []float64{exp(math.NaN()), exp2(math.NaN()), log(math.NaN()), log(-1), log1p(math.NaN()), log2(math.NaN()), log2(-1)} {
		if !math.IsNaN(nan) {
			t.Errorf("%v instead of NaN", nan)
		}
	}
}

// Compilers may fuse x*y + z, which rounds once instead of twice, and then what is
// fitted depends on the processor. What the compiler makes of these packages for one
// that fuses must hold no such instruction.
func TestNothingIsFused(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for another processor")
	}
	command, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	build := exec.Command(command, "build", "-gcflags=-S", ".", "../ngram")
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
		for _, y := range []float64{exp(x), exp(-x), exp2(-x), log(x), log1p(x), log2(x)} {
			note(y)
		}
	}
	const want = "f08673c14949526cc89550a6478bac4c2fa2d27bef1b3f734ef244741d038795"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
