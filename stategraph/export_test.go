package stategraph

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/multi"
	"pgregory.net/rapid"
)

// office is a small graph: two executions that share their first two calls.
func office() *Graph {
	var b Builder
	b.Add([]Step{{Label: 0, To: 1}, {Label: 1, To: 2}, {Label: 1, To: 2}, {Label: 2, To: 3}}, nil)
	b.Add([]Step{{Label: 0, To: 1}, {Label: 1, To: 2, Flags: AfterUser}, {Label: 3, To: 4}}, nil)
	return b.Graph()
}

func officeNames(texts ...string) Names {
	return Names{
		Label: func(l Label) string { return texts[l] },
		Tool:  func(l Label) string { tool, _, _ := strings.Cut(texts[l], "{"); return tool },
	}
}

var plain = officeNames(`login{}`, `list{"page":"‹v1›"}`, `send{"to":"{USER}"}`, `logout{}`)

func selectAll(t *testing.T, g *Graph, s Selection) *View {
	t.Helper()
	v, err := g.Select(s, plain)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWriteDOT(t *testing.T) {
	var got bytes.Buffer
	if err := selectAll(t, office(), Selection{}).WriteDOT(&got, plain); err != nil {
		t.Fatal(err)
	}
	want := `digraph states {
  rankdir=LR;
  node [shape=circle, fontname="sans-serif", fontsize=10];
  edge [fontname="sans-serif", fontsize=9];
  s0 [label="root", shape=box];
  s1 [label="1"];
  s2 [label="2"];
  s3 [label="3", shape=doublecircle];
  s4 [label="4", shape=doublecircle];
  s0 -> s1 [label="login{} ×2", weight=2, penwidth=1.3];
  s1 -> s2 [label="list{\"page\":\"‹v1›\"} ×2", weight=2, penwidth=1.3];
  s2 -> s2 [label="list{\"page\":\"‹v1›\"} ×1", weight=1, penwidth=1.0];
  s2 -> s3 [label="send{\"to\":\"{USER}\"} ×1", weight=1, penwidth=1.0];
  s2 -> s4 [label="logout{} ×1", weight=1, penwidth=1.0];
}
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func TestWriteMermaid(t *testing.T) {
	var got bytes.Buffer
	if err := selectAll(t, office(), Selection{MinWeight: 2}).WriteMermaid(&got, plain); err != nil {
		t.Fatal(err)
	}
	want := `flowchart LR
  %% left out: 2 states and 3 edges (3 edges below the minimum weight, 2 states not connected or too far from the focus)
  s0["root"]
  s1(("1"))
  s2(("2"))
  s0 -->|"login#123;#125; #215;2"| s1
  s1 -->|"list#123;#34;page#34;:#34;#8249;v1#8250;#34;#125; #215;2"| s2
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// graphML is what a reader of the file sees.
type graphML struct {
	Desc  string `xml:"desc"`
	Graph struct {
		Nodes []struct {
			ID   string       `xml:"id,attr"`
			Data []graphMLDat `xml:"data"`
		} `xml:"node"`
		Edges []struct {
			Source string       `xml:"source,attr"`
			Target string       `xml:"target,attr"`
			Data   []graphMLDat `xml:"data"`
		} `xml:"edge"`
	} `xml:"graph"`
}

type graphMLDat struct {
	Key  string `xml:"key,attr"`
	Text string `xml:",chardata"`
}

func TestGraphMLHoldsTheWholeGraph(t *testing.T) {
	var out bytes.Buffer
	if err := selectAll(t, office(), Selection{}).WriteGraphML(&out, plain); err != nil {
		t.Fatal(err)
	}
	var read graphML
	if err := xml.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Graph.Nodes) != 5 || len(read.Graph.Edges) != 5 {
		t.Fatalf("%d nodes and %d edges, want 5 and 5", len(read.Graph.Nodes), len(read.Graph.Edges))
	}
	got := fmt.Sprint(read.Graph.Edges[2], read.Graph.Nodes[3])
	want := `{s2 s2 [{label list{"page":"‹v1›"}} {tool list} {weight 1} {occurrences 1} {joined 1}]} {s3 [{distance 3} {visits 1} {ends 1}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDocument(t *testing.T) {
	doc := selectAll(t, office(), Selection{MaxStates: 2}).Document(plain)
	got, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"awo.graph/v1",` +
		`"graph":{"executions":2,"steps":7,"states":5,"edges":5,"self_loops":1,"sinks":2,"labels":4,"mean_in_degree":1},` +
		`"states":[{"id":0,"distance":0,"visits":2,"ends":0},{"id":1,"distance":1,"visits":2,"ends":0}],` +
		`"edges":[{"from":0,"to":1,"label":"login{}","tool":"login","weight":2,"occurrences":2,"joined":2}],` +
		`"left_out":{"states":3,"edges":4,"light_edges":0,"far_states":0,"extra_states":3}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// hostile are tool names that mean something in one of the languages.
var hostile = []string{
	"\"];\n s0 -> s0 [label=\"pwned", `\N\G\l`, "a\r\nb\x00\x1b[31m", "`**bold**`", `"|x| s9`, "%%{init: {}}%%",
	"</data></edge>]]>&", "#quot;#34;", "end", "click s0 callback", "\xff\xfe", "\u202eevil", "\u009b31mred\u007f", strings.Repeat("x", 300), "",
}

func TestHostileNamesStayInTheirPlace(t *testing.T) {
	for _, name := range hostile {
		names := officeNames(name, name+"{1}", name, name)
		v, err := office().Select(Selection{}, names)
		if err != nil {
			t.Fatal(err)
		}
		t.Run("", func(t *testing.T) {
			var out bytes.Buffer
			if err := v.WriteDOT(&out, names); err != nil {
				t.Fatal(err)
			}
			read := multi.NewDirectedGraph()
			if err := dot.UnmarshalMulti(out.Bytes(), read); err != nil {
				t.Errorf("DOT for %q cannot be read: %v\n%s", name, err, out.String())
			} else if read.Nodes().Len() != 5 || read.Edges().Len() == 0 {
				t.Errorf("DOT for %q has %d nodes", name, read.Nodes().Len())
			}

			out.Reset()
			if err := v.WriteMermaid(&out, names); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if len(lines) != 1+5+5 {
				t.Errorf("Mermaid for %q has %d lines:\n%s", name, len(lines), out.String())
			}
			for _, line := range lines[6:] {
				if strings.Count(line, `"`) != 2 || strings.Count(line, "|") != 2 || strings.ContainsAny(line, "`<%\\") {
					t.Errorf("Mermaid for %q: %s", name, line)
				}
			}

			out.Reset()
			if err := v.WriteGraphML(&out, names); err != nil {
				t.Fatal(err)
			}
			if i := bytes.IndexFunc(out.Bytes(), func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 }); i >= 0 {
				t.Errorf("GraphML for %q holds a control character at %d", name, i)
			}
			var ml graphML
			if err := xml.Unmarshal(out.Bytes(), &ml); err != nil {
				t.Errorf("GraphML for %q cannot be read: %v", name, err)
			} else if len(ml.Graph.Nodes) != 5 || len(ml.Graph.Edges) != 5 {
				t.Errorf("GraphML for %q has %d nodes and %d edges", name, len(ml.Graph.Nodes), len(ml.Graph.Edges))
			}
		})
	}
}

func TestSelection(t *testing.T) {
	for _, test := range []struct {
		name   string
		of     Selection
		states []StateID
		edges  int
		left   string
	}{
		{"all", Selection{}, []StateID{0, 1, 2, 3, 4}, 5, ""},
		{"weight", Selection{MinWeight: 2}, []StateID{0, 1, 2}, 2, "left out: 2 states and 3 edges (3 edges below the minimum weight, 2 states not connected or too far from the focus)"},
		{"busiest", Selection{MaxStates: 3}, []StateID{0, 1, 2}, 3, "left out: 2 states and 2 edges (2 states beyond the maximum)"},
		{"focus alone", Selection{Focus: &Focus{State: 3}}, []StateID{3}, 0, "left out: 4 states and 5 edges (4 states not connected or too far from the focus)"},
		{"focus", Selection{Focus: &Focus{State: 3}, Depth: 1}, []StateID{2, 3}, 2, "left out: 3 states and 3 edges (3 states not connected or too far from the focus)"},
		{"tool", Selection{Focus: &Focus{Tool: "logout"}}, []StateID{2, 4}, 2, "left out: 3 states and 3 edges (3 states not connected or too far from the focus)"},
		{"tool and neighbours", Selection{Focus: &Focus{Tool: "logout"}, Depth: 1}, []StateID{1, 2, 3, 4}, 4, "left out: 1 state and 1 edge (1 state not connected or too far from the focus)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := selectAll(t, office(), test.of)
			if !slices.Equal(v.States, test.states) || len(v.Edges) != test.edges || v.LeftOut.String() != test.left {
				t.Errorf("states %v, %d edges, %q\nwant %v, %d, %q", v.States, len(v.Edges), v.LeftOut, test.states, test.edges, test.left)
			}
		})
	}
	for _, focus := range []Focus{{State: 5}, {Tool: "nowhere"}} {
		_, err := office().Select(Selection{Focus: &focus}, plain)
		if missing, ok := errors.AsType[*NoFocusError](err); !ok || missing.Focus != focus {
			t.Errorf("focus %v: error %v", focus, err)
		}
	}
}

func TestSelectionAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, _ := build(drawWalks(t))
		s := Selection{
			MinWeight: rapid.IntRange(0, 3).Draw(t, "weight"),
			MaxStates: rapid.IntRange(0, 9).Draw(t, "states"),
		}
		if rapid.Bool().Draw(t, "focus") {
			s.Focus = &Focus{State: StateID(rapid.IntRange(0, g.States()-1).Draw(t, "state"))}
			s.Depth = rapid.IntRange(0, 3).Draw(t, "depth")
		}
		v, err := g.Select(s, Names{})
		if err != nil {
			t.Fatal(err)
		}
		if len(v.States) == 0 || (s.MaxStates > 0 && len(v.States) > s.MaxStates) {
			t.Fatalf("%d states, at most %d wanted", len(v.States), s.MaxStates)
		}
		left := v.LeftOut
		if len(v.States)+left.States != g.States() || len(v.Edges)+left.Edges != g.Edges() || left.FarStates+left.ExtraStates != left.States {
			t.Fatalf("%d states, %d edges and %+v do not add up", len(v.States), len(v.Edges), left)
		}
		start := Root
		if s.Focus != nil {
			start = s.Focus.State
		}
		reached := map[StateID]bool{start: true}
		for range v.States {
			for _, e := range v.Edges {
				if g.Weight(e) < s.MinWeight {
					t.Fatalf("edge of weight %d", g.Weight(e))
				}
				if reached[g.From(e)] {
					reached[g.To(e)] = true
				} else if s.Focus != nil && reached[g.To(e)] {
					reached[g.From(e)] = true
				}
			}
		}
		if len(reached) != len(v.States) {
			t.Fatalf("%d of %d states hang together with %d", len(reached), len(v.States), start)
		}
		for _, write := range []func(io.Writer, Names) error{v.WriteDOT, v.WriteMermaid, v.WriteGraphML} {
			if err := write(io.Discard, Names{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
