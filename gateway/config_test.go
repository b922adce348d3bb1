package gateway_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/awo-dev/awo/gateway"
)

func TestParseServers(t *testing.T) {
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"TOKEN": "t-1", "EMPTY": ""}[name]
		return v, ok
	}
	for name, tc := range map[string]struct {
		src  string
		want []gateway.Server
		bad  []string // codes with positions
	}{
		"process": {
			`{"mcpServers":{"files":{"command":"npx","args":["-y","${NOT:-pkg}"],"env":{"A":"${TOKEN}","B":"${EMPTY}"},"cwd":"/tmp","autoApprove":["x"]}}}`,
			[]gateway.Server{{Name: "files", Command: "npx", Args: []string{"-y", "pkg"}, Env: []string{"A=t-1", "B="}, Dir: "/tmp"}},
			nil,
		},
		"address": {
			`{"servers":{"far":{"type":"http","url":"https://x.example/mcp","headers":{"Authorization":"Bearer ${env:TOKEN}"}},"off":{"disabled":true}}}`,
			[]gateway.Server{{Name: "far", URL: "https://x.example/mcp", Headers: []gateway.Header{{Name: "Authorization", Value: "Bearer t-1"}}}},
			nil,
		},
		"bare":     {`{"mcpServers":{"a":{"command":"c","awo":{"inherit":false}}}}`, []gateway.Server{{Name: "a", Command: "c", Bare: true}}, nil},
		"empty":    {``, nil, []string{"1:1: servers-missing"}},
		"no list":  {`{"mcp":{}}`, nil, []string{"1:1: servers-shape"}},
		"nothing":  {`{"mcpServers":{}}`, nil, []string{"1:15: servers-missing"}},
		"both":     {`{"mcpServers":{"a":{"command":"c","url":"http://x"}}}`, nil, []string{"1:41: servers-shape"}},
		"neither":  {`{"mcpServers":{"a":{}}}`, nil, []string{"1:20: servers-missing"}},
		"variable": {`{"mcpServers":{"a":{"command":"${input:key} ${NOT}"}}}`, nil, []string{"1:32: servers-variable", "1:45: servers-variable"}},
		"name":     {`{"mcpServers":{"a b":{"command":"c"},"x":{"command":"c"},"X":{"command":"c"}}}`, nil, []string{"1:16: servers-name", "1:58: servers-name"}},
		"own":      {`{"mcpServers":{"a":{"command":"c","awo":{"inhert":false}}}}`, nil, []string{"1:42: servers-shape"}},
		"sse":      {`{"mcpServers":{"a":{"type":"sse","url":"http://x"}}}`, nil, []string{"1:28: servers-shape"}},
		"member":   {`{"mcpServers":{"a":{"command":"c","arg":["x"]}}}`, nil, []string{"1:35: servers-member"}},
		"reads":    {`{"mcpServers":{"a":{"command":"c","awo":{"reads":["get_*"],"prefix":""}}}}`, []gateway.Server{{Name: "a", Command: "c", Reads: []string{"get_*"}, HasPrefix: true}}, nil},
		"pattern":  {`{"mcpServers":{"a":{"command":"c","awo":{"reads":["get_["],"prefix":"a b"}}}}`, nil, []string{"1:51: servers-shape", "1:69: servers-name"}},
		"file":     {`{"mcpServers":{"a":{"url":"file:///etc/passwd"}}}`, nil, []string{"1:27: servers-url"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := gateway.ParseServers("mcp.json", []byte(tc.src), lookup)
			var bad []string
			for _, p := range problems {
				bad = append(bad, strings.TrimPrefix(p.Pos.String(), "mcp.json:")+": "+p.Code)
			}
			for i := range got {
				got[i].Pos = tc.want[min(i, len(tc.want)-1)].Pos
			}
			if !reflect.DeepEqual(got, tc.want) || !reflect.DeepEqual(bad, tc.bad) {
				t.Errorf("got %+v, %q; want %+v, %q", got, bad, tc.want, tc.bad)
			}
		})
	}
}

// TestSecretsOfTheConfiguration: values of variables are known for secrets wherever they are,
// but for those that are too short to be one, and folders that every process knows.
func TestSecretsOfTheConfiguration(t *testing.T) {
	lookup := func(name string) (string, bool) {
		return map[string]string{"KEY": "correct horse", "PATH_KEY": "battery staple", "HOME": "/h/ann", "N": "12"}[name], true
	}
	got, problems := gateway.ParseServers("mcp.json", []byte(`{"mcpServers":{"a":{"command":"c","args":["${HOME}","--key=${KEY}"],"env":{"A":"${KEY}","B":"${N}"}},"b":{"url":"http://x/${PATH_KEY}","headers":{"X":"k ${KEY}"}}}}`), lookup)
	if len(got) != 2 || problems != nil || fmt.Sprint(got[0].Secrets, got[1].Secrets) != "[correct horse correct horse] [battery staple correct horse]" {
		t.Errorf("%+v, %v", got, problems)
	}
}

func FuzzParseServers(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"${A:-b}","args":["${A}"],"env":{"x":"$${A}"},"awo":{"inherit":true}}}}`))
	f.Add([]byte("servers:\n  a: {url: 'http://x', headers: {a: b}}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		servers, problems := gateway.ParseServers("f", src, func(string) (string, bool) { return "v", true })
		if len(servers) == 0 && problems.Err() == nil {
			t.Error("no servers, and no problem")
		}
	})
}
