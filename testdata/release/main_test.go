package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackages: the formula and the npm package name every archive with its own checksum.
func TestPackages(t *testing.T) {
	dist, out := t.TempDir(), t.TempDir()
	var sums strings.Builder
	sum := func(i int) string { return strings.Repeat(fmt.Sprintf("%02x", i+1), 32) }
	for i, system := range systems {
		fmt.Fprintf(&sums, "%s  awo_1.2.3_%s.tar.gz\n", sum(i), strings.ReplaceAll(system, "-", "_"))
	}
	fmt.Fprintf(&sums, "%s  awo_1.2.3_windows_amd64.zip\n%s  awo_1.2.3_linux_amd64.tar.gz.sbom.json\n", sum(90), sum(91))
	put := func(text string) {
		if err := os.WriteFile(filepath.Join(dist, "checksums.txt"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put(sums.String())
	const url = "https://example.org/v1.2.3"
	if err := write(dist, "1.2.3", url+"/", out); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var release struct {
		Version, URL string
		Archives     map[string]struct{ Name, SHA256 string }
	}
	if err := json.Unmarshal([]byte(read("npm/release.json")), &release); err != nil {
		t.Fatal(err)
	}
	formula := read("awo.rb")
	for i, system := range systems {
		name := "awo_1.2.3_" + strings.ReplaceAll(system, "-", "_") + ".tar.gz"
		if a := release.Archives[system]; a.Name != name || a.SHA256 != sum(i) {
			t.Errorf("%s: %+v", system, a)
		}
		entry := fmt.Sprintf("url \"%s/%s\"\n      sha256 \"%s\"\n", url, name, sum(i))
		if has := strings.Contains(formula, entry); has == strings.HasPrefix(system, "windows") {
			t.Errorf("%s is in the formula: %v\n%s", system, has, formula)
		}
	}
	if len(release.Archives) != len(systems) || release.URL != url || release.Version != "1.2.3" || strings.Count(formula, "sha256") != 4 {
		t.Errorf("%+v\n%s", release, formula)
	}
	var manifest struct {
		Version string
		Bin     map[string]string
	}
	if err := json.Unmarshal([]byte(read("npm/package.json")), &manifest); err != nil || manifest.Version != "1.2.3" || !strings.HasPrefix(read("npm/"+manifest.Bin["awo"]), "#!/usr/bin/env node\n") {
		t.Errorf("%v: %+v", err, manifest)
	}

	for name, x := range map[string][3]string{
		"a system is missing":     {strings.Replace(sums.String(), "linux_arm64", "plan9_arm64", 1), "1.2.3", url},
		"a checksum is cut":       {strings.Replace(sums.String(), sum(0), sum(0)[2:], 1), "1.2.3", url},
		"another version":         {sums.String(), "1.2.4", url},
		"a quote in the version":  {sums.String(), "1.2.3\"", url},
		"a quote in the address":  {sums.String(), "1.2.3", url + "\""},
		"no checksums, but words": {"one two three\n", "1.2.3", url},
	} {
		put(x[0])
		if err := write(dist, x[1], x[2], out); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
