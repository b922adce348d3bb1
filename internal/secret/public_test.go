package secret_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/trace"
)

func TestPublic(t *testing.T) {
	p := secret.NewPublic(slices.Values([]string{`{"name": "search", "description": "Flights (one_way or round-trip), sorted by price: see docs/sort.md."}`}))
	for text, want := range map[string]bool{
		"": true, "one_way": true, "One_Way": true, "round-trip": true, "price": true, "no": true, "USD": true,
		"docs/sort.md": true, "hunter": false, "swordfish": false, "7Q2": false, "round-trip one_way": false, "search by": false,
	} {
		if got := p.Shows("mode", true, text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	for text, want := range map[string]bool{"1200": true, "4111111111111111": false, "true": true} {
		if got := p.Shows("amount", false, text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	if p.Shows("password", true, "price") || p.Shows("pin_code", false, "1200") {
		t.Error("a credential is shown because its word is public")
	}
	for text, want := range map[string]bool{"": true, "The answer is ": true, "/v1/search": false, "hunter22:": false, "Bearer abcdefghij ": false} {
		if got := p.ShowsPiece(text); got != want {
			t.Errorf("piece %q: %t", text, got)
		}
	}
}

// TestOrdinaryConstants counts the constants of the recorded sets that artefacts would do
// without although they are no data of anybody.
func TestOrdinaryConstants(t *testing.T) {
	file, err := os.Open("testdata/constants.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sets := map[string]*secret.Public{}
	ordinary, withheld, shown := 0, 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		if len(f) != 5 {
			continue
		}
		if sets[f[0]] == nil {
			sets[f[0]] = definitions(t, f[0])
		}
		v, err := trace.ParseValue([]byte(f[3]))
		if err != nil {
			t.Fatal(err)
		}
		shows := sets[f[0]].Shows(f[2], v.Kind == trace.String, v.Text)
		switch {
		case f[4] == "data" && shows:
			shown++
			t.Logf("shown: %s", lines.Text())
		case f[4] == "constant":
			ordinary++
			if !shows {
				withheld++
				t.Logf("withheld: %s", lines.Text())
			}
		}
	}
	t.Logf("%d of %d ordinary constants are withheld, %d data shown", withheld, ordinary, shown)
	if 100*withheld > 8*ordinary { // words that no definition has
		t.Errorf("%d of %d ordinary constants are withheld", withheld, ordinary)
	}
	if shown > 4 { // names and codes of three letters
		t.Errorf("%d values that are data of somebody are shown", shown)
	}
}

// definitions returns the words of the definitions of a recorded set.
func definitions(t *testing.T, set string) *secret.Public {
	var texts []string
	name, isNested := strings.CutPrefix(set, "nestful-")
	switch {
	case isNested:
		texts = append(texts, string(recordings.Bytes(t, recordings.Recorded(t, "nestful/"+name+"-spec.json"))))
	case set == "livemcp":
		texts = append(texts, string(recordings.Bytes(t, recordings.Recorded(t, "toolgraph/livemcp/tools.json"))))
	case set == "bfcl":
		docs, err := filepath.Glob(recordings.Recorded(t, "bfcl/func_doc/*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			texts = append(texts, string(recordings.Bytes(t, doc)))
		}
	case set == "office":
		one := recordings.Read(t, "../../testdata/office/trajectories.jsonl.gz")[0]
		for i := range one.Tools {
			texts = append(texts, one.Tools[i].Description.Text()+" "+one.Tools[i].Input.Text())
		}
	}
	return secret.NewPublic(slices.Values(texts))
}
