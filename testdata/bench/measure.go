package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// usage is what one run of a command took: seconds and bytes.
type usage struct {
	cpu, wall, peak float64
}

// measure runs a command to its end with its output thrown away.
func measure(args []string) (usage, error) {
	cmd := exec.Command(args[0], args[1:]...)
	var complaint tail
	cmd.Stdout, cmd.Stderr = io.Discard, &complaint
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start).Seconds()
	if err != nil {
		return usage{}, fmt.Errorf("%w: %s", err, complaint.last)
	}
	resources, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return usage{}, errors.New("this system does not account for processes")
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return usage{cpu: cpu.Seconds(), wall: wall, peak: float64(resources.Maxrss) * 1024}, nil
}

// tail keeps the last kilobyte that a command wrote.
type tail struct{ last []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.last = append(t.last, b...)
	if extra := len(t.last) - 1024; extra > 0 {
		t.last = t.last[extra:]
	}
	return len(b), nil
}

// generate writes a corpus of that many bytes, or a line more, from the office
// world: a block of trajectories, repeated. Repeating costs the readers nothing
// less than fresh text would, and the generator's own speed does not matter.
func generate(path string, size int64, bare bool) error {
	if info, err := os.Stat(path); err == nil && info.Size() >= size {
		return nil
	}
	block := path + ".block"
	defer os.Remove(block)
	out, err := exec.Command("go", "run", "./testdata/gen", "-q", "-format", "chat", "-tokens", "approximate", "-n", "4000", "-o", block).CombinedOutput()
	if err != nil {
		return fmt.Errorf("generating the corpus: %w\n%s", err, out)
	}
	if bare {
		whole := block
		block += ".bare"
		defer os.Remove(block)
		if err := leaveOutTools(whole, block); err != nil {
			return err
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	for written := int64(0); written < size; {
		in, err := os.Open(block)
		if err != nil {
			return err
		}
		n, err := copyLines(w, in, size-written)
		in.Close()
		if err != nil {
			return err
		}
		written += n
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// leaveOutTools copies chat lines without the definitions of tools. It holds one line:
// what this process holds counts as the memory of the commands that it starts.
func leaveOutTools(from, to string) error {
	return convert(from, to, func(out io.Writer, in io.Reader) error {
		lines, w := bufio.NewReaderSize(in, 1<<20), json.NewEncoder(out)
		for {
			line, err := lines.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				return nil
			}
			var members map[string]json.RawMessage
			if err = errors.Join(err, json.Unmarshal(line, &members)); err != nil {
				return err
			}
			delete(members, "tools")
			if err := w.Encode(members); err != nil {
				return err
			}
		}
	})
}

// convert writes one file from another.
func convert(from, to string, write func(out io.Writer, in io.Reader) error) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := write(out, in); err != nil {
		return err
	}
	return out.Close()
}

// copyLines copies whole lines until at least limit bytes are written.
func copyLines(w io.Writer, r io.Reader, limit int64) (int64, error) {
	lines := bufio.NewReaderSize(r, 1<<20)
	written := int64(0)
	for written < limit {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return written, err
		}
		n, err := w.Write(line)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// printGrowth times awo on prefixes of the corpus and fits cpu = a * size^b by
// least squares on the logarithms.
func printGrowth(awo, corpus string, size int64, runs int) error {
	const steps = 5
	factor := math.Pow(float64(size)/100e6, 1/float64(steps))
	if factor < 1.2 {
		return fmt.Errorf("growth is measured from 100 MB upwards: give at least -size 250MiB")
	}
	fmt.Println("| MB | CPU s | wall s | peak MB |")
	fmt.Println("|---:|---:|---:|---:|")
	var logs [][2]float64
	for i := range steps + 1 {
		bytes := min(int64(100e6*math.Pow(factor, float64(i))), size)
		part := corpus + "." + strconv.Itoa(i)
		if err := prefix(corpus, part, bytes); err != nil {
			return err
		}
		var list []usage
		for range runs {
			u, err := measure([]string{awo, "analyze", "--quiet", "--format", "json", part})
			if err != nil {
				return err
			}
			list = append(list, u)
		}
		os.Remove(part)
		cpu := median(list, func(u usage) float64 { return u.cpu })
		fmt.Printf("| %.0f | %.2f | %.2f | %.0f |\n", float64(bytes)/1e6, cpu,
			median(list, func(u usage) float64 { return u.wall }), median(list, func(u usage) float64 { return u.peak })/1e6)
		logs = append(logs, [2]float64{math.Log(float64(bytes)), math.Log(cpu)})
	}
	fmt.Printf("\nCPU time grows as size^%.3f.\n", slope(logs))
	return nil
}

func prefix(from, to string, bytes int64) error {
	return convert(from, to, func(out io.Writer, in io.Reader) error {
		_, err := copyLines(out, in, bytes)
		return err
	})
}

// slope is the least-squares slope of y over x.
func slope(points [][2]float64) float64 {
	var mx, my float64
	for _, p := range points {
		mx += p[0] / float64(len(points))
		my += p[1] / float64(len(points))
	}
	var xy, xx float64
	for _, p := range points {
		xy += (p[0] - mx) * (p[1] - my)
		xx += (p[0] - mx) * (p[0] - mx)
	}
	return xy / xx
}
