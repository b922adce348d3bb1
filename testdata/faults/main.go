// Command faults kills awo, fills its disk and damages its files, and looks at what is
// left: what was there before, or what was to be there, and never a part of it.
//
//	go run ./testdata/faults -awo bin/awo -kills 200 -flips 10000
//
// It runs on the office traces. The exit code is 1 if something was torn.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/awo-dev/awo/predict"
)

func main() {
	awo := flag.String("awo", "bin/awo", "the program")
	kills := flag.Int("kills", 200, "how many runs are killed")
	flips := flag.Int("flips", 10_000, "how many damaged snapshots are read")
	seed := flag.Uint64("seed", 1, "what moments and bits follow from")
	flag.Parse()
	if err := run(*awo, *kills, *flips, rand.New(rand.NewPCG(*seed, 0))); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// A suite is where the runs happen.
type suite struct {
	awo, folder, traces, rules string
	random                     *rand.Rand
}

func run(awo string, kills, flips int, random *rand.Rand) error {
	folder, err := os.MkdirTemp("", "awo-faults-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s := &suite{folder: folder, random: random}
	for path, name := range map[*string]string{&s.awo: awo, &s.traces: "testdata/office/trajectories.jsonl.gz", &s.rules: "testdata/office/rules.yaml"} {
		if *path, err = filepath.Abs(name); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"killed", func() error { return s.killed(kills) }},
		{"full disk", s.fullDisk},
		{"two at a time", s.twoAtATime},
		{"broken pipe", s.brokenPipe},
		{"damaged snapshots", func() error { return s.damaged(flips) }},
		{"read elsewhere", func() error { return s.damagedElsewhere(flips) }},
	} {
		began := time.Now()
		if err := part.do(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Printf("%-18s ok (%.0f s)\n", part.name, time.Since(began).Seconds())
	}
	return nil
}

// jobs write something; each in an old and a new form.
var jobs = []struct {
	out      string // what is written
	old, new string
}{
	{"tools", "extract TRACES --rules RULES --sample 60 --threshold 8 --out tools", "extract TRACES --rules RULES --sample 60 --threshold 20 --out tools"},
	{"a.awo", "snapshot build TRACES --sample 40 --out a.awo", "snapshot build TRACES --sample 60 --out a.awo"},
	{"c.jsonl", "convert TRACES --sample 40 --out c.jsonl", "convert TRACES --sample 60 --out c.jsonl"},
	{"r.html", "report TRACES --sample 40 --backtest never --out r.html", "report TRACES --sample 60 --backtest never --out r.html"},
}

func (s *suite) command(line string) *exec.Cmd {
	words := strings.Fields(strings.NewReplacer("TRACES", s.traces, "RULES", s.rules).Replace(line))
	c := exec.Command(s.awo, words...)
	c.Dir = s.folder
	return c
}

// state is every file that a job writes, by name; temporary ones do not count.
func (s *suite) state(out string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join(s.folder, out), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".awo-") {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = string(content)
		return err
	})
	return files, err
}

func (s *suite) made(line, out string) (map[string]string, time.Duration, error) {
	began := time.Now()
	if output, err := s.command(line).CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("awo %s: %w\n%s", line, err, output)
	}
	took := time.Since(began)
	files, err := s.state(out)
	return files, took, err
}

// torn says what of a state is neither old nor new: a file that is neither, or a set of
// which the manifest is of one kind and a file that it lists of the other.
func torn(state, before, after map[string]string) error {
	of := func(name string) (old, new bool) {
		a, was := before[name]
		b, is := after[name]
		content, there := state[name]
		return there == was && content == a, there == is && content == b
	}
	names := map[string]bool{}
	manifest := ""
	for _, files := range []map[string]string{state, before, after} {
		for name := range files {
			names[name] = true
			if filepath.Base(name) == "manifest.json" {
				manifest = name
			}
		}
	}
	for name := range names {
		old, new := of(name)
		if !old && !new {
			return fmt.Errorf("%s is neither what it was nor what it was to be (%d bytes)", name, len(state[name]))
		}
		// The manifest comes last: once it is new, everything is.
		if _, done := of(manifest); manifest != "" && done && !new {
			return fmt.Errorf("the manifest is new, and %s is not", name)
		}
	}
	return nil
}

func (s *suite) killed(times int) error {
	for i := range times {
		job := jobs[i%len(jobs)]
		after, took, err := s.made(job.new, job.out)
		if err != nil {
			return err
		}
		if err := os.RemoveAll(filepath.Join(s.folder, job.out)); err != nil {
			return err
		}
		before, _, err := s.made(job.old, job.out)
		if err != nil {
			return err
		}
		c := s.command(job.new)
		if err := c.Start(); err != nil {
			return err
		}
		// Most kills fall into the last tenth, where files are written.
		moment := time.Duration(s.random.Float64() * float64(took))
		if i%4 != 0 {
			moment = took - time.Duration(s.random.Float64()*0.1*float64(took))
		}
		time.AfterFunc(moment, func() { _ = c.Process.Kill() })
		_ = c.Wait() // killed, or just done
		state, err := s.state(job.out)
		if err != nil {
			return err
		}
		if err := torn(state, before, after); err != nil {
			return fmt.Errorf("awo %s, killed after %v: %w", job.new, moment, err)
		}
		if err := os.RemoveAll(filepath.Join(s.folder, job.out)); err != nil {
			return err
		}
	}
	return nil
}

// fullDisk lets no file grow over 8 KiB, which writing sees as an error of the disk.
func (s *suite) fullDisk() error {
	for _, job := range jobs {
		before, _, err := s.made(job.old, job.out)
		if err != nil {
			return err
		}
		c := s.command(job.new)
		limited := exec.Command("bash", append([]string{"-c", `trap '' XFSZ; ulimit -f 8; exec "$@"`, "bash"}, c.Args...)...)
		limited.Dir = c.Dir
		out, err := limited.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); !failed {
			return fmt.Errorf("awo %s does not fail on a full disk: %v", job.new, err)
		}
		state, err := s.state(job.out)
		if err != nil {
			return err
		}
		if err := torn(state, before, before); err != nil {
			return fmt.Errorf("awo %s: %w\n%s", job.new, err, out)
		}
	}
	return nil
}

// twoAtATime lets two extracts write one folder. Either comes last, and --check says so
// if the files of both are mixed.
func (s *suite) twoAtATime() error {
	job := jobs[0]
	for range 10 {
		var group sync.WaitGroup
		for _, line := range []string{job.old, job.new} {
			group.Go(func() { _ = s.command(line).Run() })
		}
		group.Wait()
		passed := 0
		for _, line := range []string{job.old, job.new} {
			if s.command(strings.Replace(line, "--out", "--check", 1)).Run() == nil {
				passed++
			}
		}
		if passed > 1 {
			return errors.New("a folder is what two different runs give")
		}
		files, err := s.state(job.out)
		if err != nil {
			return err
		}
		for name, content := range files {
			if strings.HasSuffix(name, ".json") && !strings.HasSuffix(strings.TrimSpace(content), "}") && !strings.HasSuffix(strings.TrimSpace(content), "]") {
				return fmt.Errorf("%s is cut off", name)
			}
		}
	}
	return nil
}

func (s *suite) brokenPipe() error {
	for _, line := range []string{"convert TRACES", "analyze TRACES --format json", "cost TRACES"} {
		c := s.command(line)
		out, err := c.StdoutPipe()
		if err != nil {
			return err
		}
		var complaint bytes.Buffer
		c.Stderr = &complaint
		if err := c.Start(); err != nil {
			return err
		}
		if _, err := out.Read(make([]byte, 10)); err != nil {
			return err
		}
		out.Close()
		_ = c.Wait()
		if strings.Contains(complaint.String(), "goroutine") {
			return fmt.Errorf("awo %s: %s", line, complaint.String())
		}
	}
	return nil
}

// damaged flips a bit of a snapshot, again and again. A reader says that the file is
// damaged: all that means something is under a checksum.
func (s *suite) damaged(times int) error {
	if _, _, err := s.made(jobs[1].old, jobs[1].out); err != nil {
		return err
	}
	path := filepath.Join(s.folder, jobs[1].out)
	whole, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for range times {
		content := bytes.Clone(whole)
		at := s.random.IntN(len(content))
		content[at] ^= 1 << s.random.IntN(8)
		snapshot, err := predict.Read("damaged.awo", content)
		if err == nil && !bytes.Equal(snapshot.Model.AppendSnapshot(nil, snapshot.Graph), whole) {
			return fmt.Errorf("a snapshot with a bit flipped in byte %d gives another content", at)
		}
	}
	return nil
}
