// The program release makes a Homebrew formula and an npm package from the archives of a
// release and their checksums.
//
//	release -dist dist -version 1.2.3 -url https://.../v1.2.3 -out dist/packages
//
// Both name each archive with its SHA-256; the npm package fetches the one of its system and
// refuses any other. With -check the program builds an archive for this system, serves it on
// localhost, and installs and runs the npm package made from it: that wants npm.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"text/template"
)

//go:embed awo.js
var launcher string

//go:embed awo.rb.tmpl
var formula string

// archive is one file of a release.
type archive struct {
	System string // linux, darwin or windows
	Arch   string // amd64 or arm64
	Name   string
	SHA256 string
}

// release is what packages are made of.
type release struct {
	Version  string
	URL      string             // of the folder with the archives, without a slash at the end
	Archives map[string]archive // by system and architecture, such as linux-amd64
}

var systems = []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64", "windows-amd64", "windows-arm64"}

func main() {
	dist := flag.String("dist", "dist", "folder with the archives and checksums.txt")
	version := flag.String("version", "", "version of the release, without v")
	url := flag.String("url", "", "where the archives can be fetched")
	out := flag.String("out", "dist/packages", "folder for awo.rb and npm/")
	isCheck := flag.Bool("check", false, "make a release of this system, and install it from localhost")
	flag.Parse()
	err := errors.New("-version and -url are needed")
	switch {
	case *isCheck:
		err = check()
	case *version != "" && *url != "":
		err = write(*dist, *version, *url, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// plain is what a version or an address is made of: what is written into a formula has no quotes.
var plain = regexp.MustCompile(`^[0-9A-Za-z.+:/_-]+$`)

// write makes the packages of a release of all systems.
func write(dist, version, url, out string) error {
	sums, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return err
	}
	r, err := read(string(sums), version, url)
	if err != nil {
		return err
	}
	for _, system := range systems {
		if r.Archives[system].Name == "" {
			return fmt.Errorf("checksums.txt has no archive for %s", system)
		}
	}
	return r.write(out)
}

// read reads the lines of checksums.txt: a SHA-256 and the name of a file.
func read(sums, version, url string) (*release, error) {
	if !plain.MatchString(version) || !plain.MatchString(url) {
		return nil, errors.New("-version or -url has characters that belong in neither")
	}
	r := &release{Version: version, URL: strings.TrimSuffix(url, "/"), Archives: map[string]archive{}}
	for line := range strings.Lines(sums) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return nil, fmt.Errorf("checksums.txt: %q is no checksum with a name", strings.TrimSpace(line))
		}
		base, ok := strings.CutSuffix(fields[1], ".tar.gz")
		parts := strings.Split(strings.TrimPrefix(base, "awo_"+version+"_"), "_")
		if !ok || len(parts) != 2 {
			continue // a zip for people, or a bill of materials
		}
		if sum, err := hex.DecodeString(fields[0]); err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("checksums.txt: %q is no SHA-256", fields[0])
		}
		r.Archives[parts[0]+"-"+parts[1]] = archive{parts[0], parts[1], fields[1], fields[0]}
	}
	return r, nil
}

// write writes awo.rb and the folder npm.
func (r *release) write(out string) error {
	var ruby bytes.Buffer
	if err := template.Must(template.New("awo.rb").Parse(formula)).Execute(&ruby, r); err != nil {
		return err
	}
	files := map[string]map[string]string{}
	for system, a := range r.Archives {
		files[system] = map[string]string{"name": a.Name, "sha256": a.SHA256}
	}
	manifest, err := json.MarshalIndent(map[string]any{
		"name": "@awo-dev/awo", "version": r.Version, "license": "Apache-2.0",
		"description": "What coding agents did on this machine, what it cost, and what to change",
		"repository":  map[string]string{"type": "git", "url": "git+https://github.com/awo-dev/awo.git"},
		"bin":         map[string]string{"awo": "awo.js"}, "files": []string{"awo.js", "release.json"}, "engines": map[string]string{"node": ">=18"},
	}, "", "  ")
	if err != nil {
		return err
	}
	archives, err := json.MarshalIndent(map[string]any{"version": r.Version, "url": r.URL, "archives": files}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(out, "npm"), 0o777); err != nil {
		return err
	}
	for name, text := range map[string]string{"awo.rb": ruby.String(), "npm/package.json": string(manifest) + "\n", "npm/release.json": string(archives) + "\n", "npm/awo.js": launcher} {
		if err := os.WriteFile(filepath.Join(out, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Systems are the archives that Homebrew takes, by its name of the system.
func (r *release) Systems() map[string][]archive {
	out := map[string][]archive{}
	for _, system := range systems {
		if a := r.Archives[system]; a.System == "darwin" {
			out["macos"] = append(out["macos"], a)
		} else if a.System == "linux" {
			out["linux"] = append(out["linux"], a)
		}
	}
	return out
}

// pack returns an archive with one program.
func pack(name string, program []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, file := range []struct {
		name string
		text []byte
	}{{"LICENSE", []byte("Apache-2.0\n")}, {name, program}} {
		if err := w.WriteHeader(&tar.Header{Name: file.name, Mode: 0o755, Size: int64(len(file.text))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(file.text); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// check installs a release of this system from localhost, runs it, and sees another archive
// refused.
func check() error {
	folder, err := os.MkdirTemp("", "awo-release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	name := "awo"
	if runtime.GOOS == "windows" {
		name = "awo.exe"
	}
	if _, err := run(folder, nil, "go", "build", "-C", must(os.Getwd()), "-trimpath", "-o", filepath.Join(folder, name), "."); err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	data, err := pack(name, program)
	if err != nil {
		return err
	}
	served := data
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(served) }))
	defer server.Close()
	sum := sha256.Sum256(data)
	r, err := read(fmt.Sprintf("%x  awo_0.0.1_%s_%s.tar.gz\n", sum, runtime.GOOS, runtime.GOARCH), "0.0.1", server.URL)
	if err != nil {
		return err
	}
	if err := r.write(folder); err != nil {
		return err
	}
	tarball, err := run(filepath.Join(folder, "npm"), nil, "npm", "pack", "--silent")
	if err != nil {
		return err
	}
	env := []string{"XDG_CACHE_HOME=" + filepath.Join(folder, "cache"), "LOCALAPPDATA=" + filepath.Join(folder, "cache"), "npm_config_cache=" + filepath.Join(folder, "npm-cache")}
	installed := filepath.Join(folder, "installed")
	if err := os.MkdirAll(installed, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(installed, "package.json"), []byte(`{"private": true}`), 0o666); err != nil {
		return err
	}
	if _, err := run(installed, env, "npm", "install", "--offline", "--no-audit", "--no-fund", "--silent", filepath.Join(folder, "npm", strings.TrimSpace(tarball))); err != nil {
		return err
	}
	served = append([]byte("other"), data...)
	if text, err := run(installed, env, "npx", "--offline", "awo", "version"); err == nil || !strings.Contains(text, "SHA-256") {
		return fmt.Errorf("an archive with another checksum was not refused: %s", text)
	}
	served = data
	for range 2 { // fetched, and from the cache
		text, err := run(installed, env, "npx", "--offline", "awo", "version", "--format", "json")
		if err != nil || !strings.Contains(text, `"version"`) {
			return fmt.Errorf("%w: %s", err, text)
		}
		server.Close() // the second time nothing is fetched
	}
	fmt.Println("release: the npm package was installed from localhost, refused another archive, and ran")
	return nil
}

func must(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}

// run runs a program in a folder, and returns what it printed.
func run(folder string, env []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = folder, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return string(out), nil
}
