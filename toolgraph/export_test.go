package toolgraph

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/toolgraph/catalog"
)

// Names that would end a quote, an element or a line are text in every export.
func TestHostileNames(t *testing.T) {
	hostile := []string{`a"]; evil -> x; //`, `b</script><script>alert(1)</script>`, "c\x00\x1b[2J\u202e\xff", `d\"; e`, "\n", `&amp;<![CDATA[`}
	var tools []catalog.Tool
	for _, name := range hostile {
		tools = append(tools, catalog.Tool{
			Name: name, Group: name, Description: name, Defined: true,
			Inputs:  []catalog.Place{{Path: "$.x", Names: []string{name + "_id"}, Type: "string", Required: true}},
			Outputs: []catalog.Place{{Path: "$.y", Names: []string{name + "_id"}, Type: "string"}},
		})
	}
	c, _ := catalog.New(tools)
	g := Build(Input{Catalog: c})
	for line := range strings.Lines(string(g.DOT())) {
		bare := strings.NewReplacer(`\\`, "", `\"`, "").Replace(line)
		if strings.Count(bare, `"`)%2 != 0 || strings.Contains(strings.Join(strings.Split(bare, `"`)[:1], ""), "evil") {
			t.Errorf("a name ends its quote: %q", line)
		}
		if strings.ContainsAny(line[:len(line)-1], "\n\x00\x1b") {
			t.Errorf("a name breaks its line: %q", line)
		}
	}
	data, err := g.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode("graph.json", data); err != nil {
		t.Fatal(err)
	}
}
