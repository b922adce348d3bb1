package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// browser returns a Chromium, or skips.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium is installed")
	return ""
}

// hostileRuns are runs whose tools have names that would be markup.
func hostileRuns(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i := range 8 {
		name := `<img src=x onerror=document.title=1>`
		fmt.Fprintf(&b, `{"messages":[{"role":"user","content":"task %d"},`, i)
		for k, tool := range []string{name, `</script><script>document.title='2'</script>`, name} {
			fmt.Fprintf(&b, `{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":%q,"arguments":"{\"q\":%d}"}}]},`, k, tool, i+k)
			fmt.Fprintf(&b, `{"role":"tool","tool_call_id":"c%d","content":"done"},`, k)
		}
		b.WriteString(`{"role":"assistant","content":"done"}]}` + "\n")
	}
	file := filepath.Join(t.TempDir(), "runs.jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestReportInBrowser lets a browser read the page: the sections and figures are
// there, and what tools are called is text.
func TestReportInBrowser(t *testing.T) {
	chromium := browser(t)
	for name, tc := range map[string]struct {
		file             string
		sections, images int
	}{
		"office":  {filepath.Join("..", "testdata", "office", "trajectories.jsonl.gz"), 15, 31},
		"hostile": {hostileRuns(t), 14, 9},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			page := filepath.Join(dir, "report.html")
			if out, err := exec.CommandContext(t.Context(), "awo", "report", tc.file, "--out", page).CombinedOutput(); err != nil {
				t.Fatalf("awo report: %v\n%s", err, out)
			}
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			libraries := regexp.MustCompile(`(?s)<script>.*?</script>`)
			if n := len(libraries.FindAll(text, -1)); n != 3 {
				t.Errorf("%d scripts, want two libraries and that of the page", n)
			}
			text = libraries.ReplaceAll(text, nil)
			for _, url := range regexp.MustCompile(`https?://[^"'\s<)]*`).FindAllString(string(text), -1) {
				if !strings.HasPrefix(url, "http://www.w3.org/") { // the names of SVG
					t.Errorf("the page names %s", url)
				}
			}
			dom, err := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+filepath.Join(dir, "profile"),
				"--dump-dom", "file://"+page).Output()
			if err != nil {
				t.Skipf("the browser does not run here: %v", err)
			}
			got := string(dom)
			if !strings.Contains(got, "<title>What these agents do by habit</title>") {
				t.Error("the title is not that of the page")
			}
			if n := strings.Count(got, "<section"); n != tc.sections {
				t.Errorf("%d sections, want %d", n, tc.sections)
			}
			if n := strings.Count(got, "<svg"); n != tc.images {
				t.Errorf("%d pictures, want %d", n, tc.images)
			}
			if n := strings.Count(got, "<canvas"); n == 0 {
				t.Error("the process map is not drawn")
			}
			if n := strings.Count(got, "<details"); n < 8 {
				t.Errorf("%d timelines", n)
			}
			if strings.Contains(libraries.ReplaceAllString(got, ""), "<script>") || strings.Contains(libraries.ReplaceAllString(got, ""), "<img") {
				t.Error("a name became an element")
			}
		})
	}
}

// TestReportSaysWhatCommandsSay holds the sections of a report to the commands that
// they name: the same figures, to the digit.
func TestReportSaysWhatCommandsSay(t *testing.T) {
	traces := "office/trajectories.jsonl.gz --sample 60"
	decoded := func(args string) map[string]any { return members(t, runJSON(t, args)) }
	page := decoded("report " + traces + " --rules office/rules.yaml --exclude-tool supervisor_*")
	for command, args := range map[string]string{"backtest": traces + " --rules office/rules.yaml", "cost": traces} {
		section, _ := page[command].(map[string]any)
		if section == nil {
			t.Fatalf("the report has no member %s", command)
		}
		alone := decoded(command + " " + args)
		for name, want := range alone {
			got, inside := section[name]
			if !inside {
				got = page[name] // a table of the page
			}
			if name == "notes" || name == "input" || command == "backtest" && slices.Contains([]string{"findings", "interactions", "agents", "techniques"}, name) {
				continue
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is not that of awo %s", command, name, command)
			}
		}
	}
}
