package failure_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/failure"
	"github.com/awo-dev/awo/internal/jsonscan"
)

// checkToken has what is seen in a token agree with what its text says.
func checkToken(t *testing.T, token string) (none bool) {
	t.Helper()
	c := jsonscan.New([]byte(token))
	if c.Token() == nil || c.End() != nil {
		return false
	}
	none = failure.NoneIn([]byte(token))
	if text := jsonscan.AppendUnquoted(nil, []byte(token)); none && failure.Sure(text) != nil {
		t.Errorf("%s: none, but its text fits %s", token, failure.Sure(text).Name)
	}
	return none
}

// tokenPieces are what results that failed, and those that did not, are made of.
var tokenPieces = []string{
	`\"error\"`, `\"Error\"`, `\"is_error\"`, `\"isError\"`, `\"status_code\"`, `\"exitCode\"`, `\"returncode\"`, `\"name\"`, `\"erro\\u0072\"`,
	`\u0022error\u0022`, `\"err\u006fr\"`, `\\u0065rror`, `\\\"`, `\"`, `\\`, `\/`, `\f`, `\n`, `\u0020`, `\u007b`, `{`, `}`, `[`, `]`, `:`, `,`, ` `, `true`, `404`, `1`, `<`, `(`, `*`,
	`Error`, `Error: no`, `Traceback:`, `HTTP/1.1 404`, `exit code 2`, `502 Bad Gateway`, `\u017ftatus: 500`, `ſtatus: 500`, `x`, `_`, `é`, `\ud800`,
}

func TestNoneIn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	none, tokens := 0, 20_000
	for range tokens {
		var s strings.Builder
		s.WriteByte('"')
		if random.IntN(2) == 0 {
			s.WriteString(`{`)
		}
		for range random.IntN(8) {
			s.WriteString(tokenPieces[random.IntN(len(tokenPieces))])
		}
		if random.IntN(3) == 0 {
			s.WriteString(`:1}`)
		}
		s.WriteByte('"')
		if checkToken(t, s.String()) {
			none++
		}
	}
	if none < tokens/10 {
		t.Errorf("of %d tokens only %d are seen to fit nothing", tokens, none)
	}
	// What most results look like is seen without unquoting it.
	for _, token := range []string{`"{\"id\":7,\"name\":\"Ada\",\"codes\":[1]}"`, `"[{\"error\":1}]"`, `""`, `" \n "`, `"17 seats"`, `"<{\"error\":1}>"`, `"{\"a\":\"say \\\"hi\\\"\"}"`} {
		if !checkToken(t, token) {
			t.Errorf("%s has to be unquoted", token)
		}
	}
}

func FuzzNoneIn(f *testing.F) {
	for _, seed := range tokenPieces {
		f.Add(`"` + seed + `"`)
		f.Add(`"{` + seed + `:1}"`)
	}
	f.Fuzz(func(t *testing.T, token string) { checkToken(t, token) })
}

func BenchmarkNoneIn(b *testing.B) {
	token := []byte(`"{\"invoice_id\":\"INV-539803\",\"vendor\":\"Saffron Travel\",\"amount\":519,\"currency\":\"EUR\",\"due_date\":\"2026-03-15\",\"status\":\"open\"}"`)
	b.SetBytes(int64(len(token)))
	for b.Loop() {
		if !failure.NoneIn(token) {
			b.Fatal("it has to be unquoted")
		}
	}
}
