package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	goccy "github.com/goccy/go-json"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// toolNames walks the messages of a chat line and returns how many bytes the
// names of the tools called have: the work of a reader that wants only names.
func toolNames(line []byte) (int, error) {
	n := 0
	c := jsonscan.New(line)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "messages" || !c.Array() {
			continue
		}
		for c.Element() {
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) != "tool_calls" || !c.Array() {
					continue
				}
				for c.Element() {
					for ok := c.Object(); ok && c.Member(); {
						if string(c.Key()) != "function" {
							continue
						}
						for ok := c.Object(); ok && c.Member(); {
							if string(c.Key()) == "name" {
								name, _ := c.Text()
								n += len(name)
							}
						}
					}
				}
			}
		}
	}
	return n, c.End()
}

// chat is what the libraries decode into to learn the same.
type chat struct {
	Messages []struct {
		ToolCalls []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

func namesBy(unmarshal func([]byte, any) error) func([]byte) (int, error) {
	return func(line []byte) (int, error) {
		var c chat
		err := unmarshal(line, &c)
		n := 0
		for _, m := range c.Messages {
			for _, t := range m.ToolCalls {
				n += len(t.Function.Name)
			}
		}
		return n, err
	}
}

func valid(line []byte) (int, error) {
	c := jsonscan.New(line)
	return 0, c.End()
}

func TestToolNames(t *testing.T) {
	lines, _ := chatLines()
	for _, line := range lines {
		got, err := toolNames(line)
		want, err2 := namesBy(json.Unmarshal)(line)
		if got != want || want == 0 || err != nil || err2 != nil {
			t.Fatalf("got %d (%v), want %d (%v)", got, err, want, err2)
		}
	}
}

func BenchmarkChat(b *testing.B) {
	lines, size := chatLines()
	b.Logf("%d bytes a line", size/len(lines))
	for _, bench := range []struct {
		name string
		walk func([]byte) (int, error)
	}{
		{"names/jsonscan", toolNames},
		{"names/encoding-json", namesBy(json.Unmarshal)},
		{"names/goccy", namesBy(goccy.Unmarshal)},
		{"valid/jsonscan", valid},
		{"valid/encoding-json", func(line []byte) (int, error) { json.Valid(line); return 0, nil }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, line := range lines {
					if _, err := bench.walk(line); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkRecorded(b *testing.B) {
	for _, path := range [][]string{{"taubench", "gpt-4o-airline.json"}, {"tau2", "airline_gpt-oss-120b.json"}} {
		b.Run(path[len(path)-1], func(b *testing.B) {
			text := recorded(b, path...)
			for _, bench := range []struct {
				name string
				walk func([]byte) (int, error)
			}{
				{"jsonscan", valid},
				{"encoding-json", func(line []byte) (int, error) { json.Valid(line); return 0, nil }},
				{"compact", func(line []byte) (int, error) { return len(jsonscan.AppendCompact(nil, line)), nil }},
			} {
				b.Run(bench.name, func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					for b.Loop() {
						if _, err := bench.walk(text); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// BenchmarkStrings scans one long string of each kind.
func BenchmarkStrings(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	ascii := strings.Repeat("plain text of a model that says much and means little, ", 64)
	quoted, _ := json.Marshal(string(chatLine(r)))
	escaped := bytes.ReplaceAll(bytes.ReplaceAll(quoted, []byte("’"), []byte(`\u2019`)), []byte("é"), []byte(`\u00e9`))
	for _, s := range []struct {
		name string
		text []byte
	}{
		{"plain", []byte(`"` + ascii + `"`)},
		{"quoted", quoted},
		{"ascii-only", escaped},
		{"chinese", []byte(`"` + strings.Repeat("请帮我取消预订", 400) + `"`)},
		{"short", []byte(`["role","user","content","tool_calls","id","name"]`)},
	} {
		b.Run(s.name, func(b *testing.B) {
			b.SetBytes(int64(len(s.text)))
			for b.Loop() {
				if _, err := valid(s.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
