package cli

import (
	"bytes"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// What awo does with a terminal that can do more than show lines: a pager for what is
// longer than its screen, and names of files that can be clicked on.

// paged writes to standard output, through a pager if that is a terminal with fewer lines
// and the user has one: $PAGER, else less. A pager that is left early is no error.
func (j *Job) paged(write func(io.Writer) error) error {
	pager := j.pager()
	if len(pager) == 0 {
		return write(j.Out)
	}
	var out bytes.Buffer
	if err := write(&out); err != nil {
		return err
	}
	if bytes.Count(out.Bytes(), []byte("\n")) < j.app.StdoutRows {
		_, err := j.Out.Write(out.Bytes())
		return err
	}
	if err := j.Out.Flush(); err != nil {
		return err
	}
	c := exec.Command(pager[0], pager[1:]...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(out.Bytes()), j.app.Stdout, j.app.Stderr
	c.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LESSCHARSET": "utf-8"} {
		if os.Getenv(name) == "" {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	if err := c.Start(); err != nil {
		_, err := j.Out.Write(out.Bytes())
		return err
	}
	_ = c.Wait() // what it made of its input is between it and the user
	return nil
}

// pager returns the words of the pager's command line, nil for none.
func (j *Job) pager() []string {
	if !j.app.StdoutTerminal || j.NoPager || j.app.StdoutRows <= 0 || os.Getenv("TERM") == "dumb" {
		return nil
	}
	words, set := os.LookupEnv("PAGER")
	if !set {
		words = "less"
	}
	fields := strings.Fields(words)
	if len(fields) == 0 || fields[0] == "cat" {
		return nil
	}
	if _, err := exec.LookPath(fields[0]); err != nil {
		return nil
	}
	return fields
}

// linked reports whether names of files are written as links to them.
func (s *Settings) linked(terminal bool) bool {
	switch s.Hyperlinks {
	case "always":
		return true
	case "never":
		return false
	}
	return terminal && showsLinks(os.Getenv)
}

// showsLinks reports whether the terminal is one that is known to show links (OSC 8):
// there is no way to ask it.
func showsLinks(getenv func(string) string) bool {
	if getenv("TERM") == "dumb" || getenv("CI") != "" {
		return false
	}
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby":
		return true
	}
	switch getenv("TERM") {
	case "xterm-kitty", "xterm-ghostty", "alacritty", "foot":
		return true
	}
	if getenv("WT_SESSION") != "" || getenv("KONSOLE_VERSION") != "" || getenv("DOMTERM") != "" {
		return true
	}
	vte := getenv("VTE_VERSION") // GNOME's and others; from 0.50 on
	return len(vte) >= 4 && vte >= "5000"
}

// fileURL returns the address of a file, "" if it is not there.
func fileURL(name string) string {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	if _, err := os.Stat(absolute); err != nil {
		return ""
	}
	path := filepath.ToSlash(absolute)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/...
	}
	host, _ := os.Hostname() // terminals on other hosts do not open it then
	return (&url.URL{Scheme: "file", Host: host, Path: path}).String()
}
