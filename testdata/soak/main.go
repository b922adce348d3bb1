// Command soak calls tools through gateways 100 times a second while servers, clients and
// gateways are killed, and checks that every call gets exactly one answer, the right one or
// an error that says why; that the memory of a gateway that is never killed does not grow;
// and that no process is left over.
//
//	go run ./testdata/soak -awo bin/awo -for 10m -o soak.json
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	awo := flag.String("awo", "bin/awo", "the program")
	length := flag.Duration("for", time.Minute, "how long calls are made")
	rate := flag.Int("rate", 100, "calls a second")
	seed := flag.Uint64("seed", 1, "what is killed follows from it")
	out := flag.String("o", "", "write the result as JSON into this file too")
	lines := flag.String("lines", "", "be a server on standard streams of this name, said in the folder -at")
	at := flag.String("at", "", "be a server over HTTP at this address")
	flag.Parse()
	var err error
	switch {
	case *lines != "":
		err = serveLines(*at, *lines)
	case *at != "":
		err = serveHTTP(*at)
	default:
		err = run(*awo, *length, *rate, *seed, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// result is what is written.
type result struct {
	Commit     string           `json:"commit"`
	Seconds    float64          `json:"seconds"`
	Rate       float64          `json:"calls_a_second"`
	Calls      int64            `json:"calls"`
	OK         int64            `json:"answered"`
	Failed     int64            `json:"answered_with_an_error"`
	Cut        int64            `json:"client_or_gateway_killed"`
	Wrong      int64            `json:"wrong"`
	Twice      int64            `json:"answered_twice"`
	Unasked    int64            `json:"answers_to_nothing"`
	Unanswered int64            `json:"unanswered"`
	Events     map[string]int64 `json:"events"`
	Left       int              `json:"processes_left"`
	Part       float64          `json:"part_seconds"`
	RSS        []float64        `json:"rss_mb_by_part"` // the mean of each part: a minute, or a tenth if that is shorter
	Problems   []string         `json:"problems"`
}

// slot is a client, and how the next one in its place is made.
type slot struct {
	mu   sync.Mutex
	c    *client
	make func() (*client, error)
}

// next puts a new client into the place of the one that it returns.
func (s *slot) next() (*client, error) {
	c, err := s.make()
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.c
	if err == nil {
		s.c = c
	}
	return before, err
}

type soak struct {
	awo, self, folder string
	random            *rand.Rand
	t                 tally

	kept, killed *exec.Cmd // gateways over HTTP
	atKept       string
	atKilled     string
	far          *exec.Cmd // the server over HTTP
	atFar        string
	config       string

	visitors, guests, locals []*slot // at the gateway that is kept, at that which is killed, and with a gateway each
	common                   time.Time
}

func (s *soak) gateway(at string, flags ...string) (*exec.Cmd, error) {
	c := exec.Command(s.awo, append([]string{"serve", "--servers", s.config, "--listen", at, "--idle", "10s", "--max-sessions", "64"}, flags...)...)
	c.Stderr = os.Stderr
	if os.Getenv("SOAK_LOG") == "" {
		c.Stderr = nil
	}
	return c, listening(c, at)
}

// listening starts a program and waits until it is reached at an address.
func listening(c *exec.Cmd, at string) error {
	if err := c.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", at)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

func (s *soak) start() (err error) {
	for _, at := range []*string{&s.atKept, &s.atKilled, &s.atFar} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		*at = l.Addr().String()
		if err := l.Close(); err != nil {
			return err
		}
	}
	pids := filepath.Join(s.folder, "pids")
	if err := errors.Join(os.Mkdir(pids, 0o700), os.Setenv("XDG_CACHE_HOME", filepath.Join(s.folder, "cache"))); err != nil {
		return err
	}
	lines := func(name string) map[string]any {
		return map[string]any{"command": s.self, "args": []string{"-lines", name, "-at", pids}}
	}
	common := lines("common")
	common["awo"] = map[string]any{"sessions": "shared"}
	data, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"own": lines("own"), "common": common, "far": map[string]any{"type": "http", "url": "http://" + s.atFar}}})
	if err != nil {
		return err
	}
	s.config = filepath.Join(s.folder, "mcp.json")
	if err := os.WriteFile(s.config, data, 0o600); err != nil {
		return err
	}
	s.far = exec.Command(s.self, "-at", s.atFar)
	if err := listening(s.far, s.atFar); err != nil {
		return err
	}
	if s.kept, err = s.gateway(s.atKept, "--record", filepath.Join(s.folder, "traces")); err != nil {
		return err
	}
	if s.killed, err = s.gateway(s.atKilled); err != nil {
		return err
	}
	tools := []string{"own_get", "common_get", "far_get", "own_put", "common_put", "far_put"}
	for i := range 8 {
		s.visitors = append(s.visitors, &slot{make: func() (*client, error) { return overHTTP(&s.t, "http://"+s.atKept+"/mcp", i < 6, tools...) }})
	}
	for range 3 {
		s.guests = append(s.guests, &slot{make: func() (*client, error) { return overHTTP(&s.t, "http://"+s.atKilled+"/mcp", true, tools...) }})
	}
	for range 2 {
		s.locals = append(s.locals, &slot{make: func() (*client, error) { return overStreams(&s.t, s.awo, s.config, tools...) }})
	}
	for _, one := range s.slots() {
		if _, err := one.next(); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) slots() []*slot {
	return append(append(append([]*slot{}, s.visitors...), s.guests...), s.locals...)
}

// servers returns the processes of servers of a name that run.
func (s *soak) servers(name string) (pids []int) {
	files, _ := filepath.Glob(filepath.Join(s.folder, "pids", name+"-*")) // the pattern is well-formed
	for _, file := range files {
		pid, err := strconv.Atoi(file[strings.LastIndex(file, "-")+1:])
		if err != nil || syscall.Kill(pid, 0) != nil {
			_ = os.Remove(file)
			continue
		}
		pids = append(pids, pid)
	}
	return pids
}

// commonEvery is how often the shared server is killed at most: one that does not live for
// a minute is started ever later.
const commonEvery = 75 * time.Second

// events are what happens, in turn.
var events = []struct {
	name string
	do   func(s *soak) error
}{
	{"server_killed", func(s *soak) error {
		name := "own"
		if time.Since(s.common) > commonEvery {
			name, s.common = "common", time.Now()
		}
		if pids := s.servers(name); len(pids) > 0 {
			return syscall.Kill(pids[s.random.IntN(len(pids))], syscall.SIGKILL)
		}
		return nil
	}},
	{"http_client_killed", func(s *soak) error { return replace(s.visitors[s.random.IntN(len(s.visitors))]) }},
	{"http_server_killed", func(s *soak) error {
		_, _ = s.far.Process.Kill(), s.far.Wait()
		s.far = exec.Command(s.self, "-at", s.atFar)
		return listening(s.far, s.atFar)
	}},
	{"stdio_client_killed", func(s *soak) error { return replace(s.locals[0]) }},
	{"reloaded", func(s *soak) error { return s.kept.Process.Signal(syscall.SIGHUP) }},
	{"http_gateway_killed", func(s *soak) (err error) {
		for _, one := range s.guests {
			one.c.killed.Store(true)
		}
		_, _ = s.killed.Process.Kill(), s.killed.Wait()
		if s.killed, err = s.gateway(s.atKilled); err != nil {
			return err
		}
		for _, one := range s.guests {
			err = errors.Join(err, replace(one))
		}
		return err
	}},
	{"stdio_gateway_killed", func(s *soak) error {
		s.locals[1].c.killed.Store(true)
		_ = s.locals[1].c.gateway.Process.Kill() // it is reaped with its client
		return replace(s.locals[1])
	}},
}

// replace kills a client once another one has its place.
func replace(one *slot) error {
	before, err := one.next()
	if err == nil {
		before.kill()
	}
	return err
}

// rss returns the megabytes that a process has in memory.
func rss(pid int) float64 {
	src, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // elsewhere than on Linux it is not known
	_, rest, _ := strings.Cut(string(src), "VmRSS:")
	kb := 0.0
	_, _ = fmt.Sscan(rest, &kb)
	return kb / 1024
}

func run(awo string, length time.Duration, rate int, seed uint64, out string) error {
	s := &soak{random: rand.New(rand.NewPCG(seed, 0)), common: time.Now().Add(-commonEvery)}
	var err, err2, err3 error
	s.awo, err = filepath.Abs(awo)
	s.self, err2 = os.Executable()
	s.folder, err3 = os.MkdirTemp("", "awo-soak-")
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	defer os.RemoveAll(s.folder)
	if err := s.start(); err != nil {
		return err
	}
	r := s.load(length, rate)
	r.Left = s.stop()
	r.judge(float64(rate))
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	if out != "" {
		err = os.WriteFile(out, append(text, '\n'), 0o600)
	}
	if len(r.Problems) > 0 {
		err = errors.Join(err, errors.New(strings.Join(r.Problems, "; ")))
	}
	return err
}

// load makes calls, and lets things happen, for a time.
func (s *soak) load(length time.Duration, rate int) *result {
	r := &result{Commit: commit(), Events: map[string]int64{}, Part: min(time.Minute, length/10).Seconds(), Problems: []string{}}
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	var beside sync.WaitGroup
	beside.Go(func() { s.happen(ctx, min(5*time.Second, length/24), r) })
	beside.Go(func() { r.RSS = s.memory(ctx, length, time.Duration(r.Part*float64(time.Second))) })
	slots, began, calls := s.slots(), time.Now(), int64(0)
	for ctx.Err() == nil {
		time.Sleep(time.Until(began.Add(time.Duration(calls) * time.Second / time.Duration(rate))))
		one := slots[calls%int64(len(slots))]
		one.mu.Lock()
		c := one.c
		c.calls.Add(1) // before it can be replaced
		one.mu.Unlock()
		go c.call(calls)
		calls++
	}
	r.Seconds = time.Since(began).Seconds()
	r.Rate = float64(calls) / r.Seconds
	beside.Wait()
	for _, one := range slots {
		one.c.calls.Wait()
	}
	t := &s.t
	r.Calls, r.OK, r.Failed, r.Cut = t.Calls.Load(), t.OK.Load(), t.Failed.Load(), t.Cut.Load()
	r.Wrong, r.Twice, r.Unasked, r.Unanswered = t.Wrong.Load(), t.Twice.Load(), t.Unasked.Load(), t.Unanswered.Load()
	return r
}

func (s *soak) happen(ctx context.Context, every time.Duration, r *result) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		e := events[n%len(events)]
		if err := e.do(s); err != nil {
			r.Problems = append(r.Problems, fmt.Sprintf("%s: %v", e.name, err))
		}
		r.Events[e.name]++
	}
}

// memory returns the mean of what the gateway that is kept has in memory, by part.
func (s *soak) memory(ctx context.Context, length, part time.Duration) []float64 {
	parts := int(length / part)
	sums, counts := make([]float64, parts), make([]float64, parts)
	began, tick := time.Now(), time.NewTicker(min(time.Second, part/6))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for i := range sums {
				sums[i] = float64(int(10*sums[i]/max(counts[i], 1))) / 10
			}
			return sums
		case <-tick.C:
			i := min(int(time.Since(began)/part), parts-1)
			sums[i] += rss(s.kept.Process.Pid)
			counts[i]++
		}
	}
}

// stop ends everything, and returns how many servers outlive their gateways.
func (s *soak) stop() int {
	for _, one := range s.slots() {
		one.c.kill()
	}
	for _, c := range []*exec.Cmd{s.kept, s.killed} {
		_, _ = c.Process.Signal(syscall.SIGTERM), c.Wait()
	}
	_, _ = s.far.Process.Kill(), s.far.Wait()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		left := s.servers("*")
		if len(left) == 0 || time.Now().After(deadline) {
			return len(left)
		}
	}
}

// commit returns what was built, as far as the repository says.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// grown is how much more memory the last part may take than the second.
const grown = 1.2

// judge says what is not as it should be.
func (r *result) judge(rate float64) {
	problem := func(is bool, format string, args ...any) {
		if is {
			r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
		}
	}
	problem(r.Wrong > 0, "%d wrong answers", r.Wrong)
	problem(r.Twice > 0, "%d calls answered twice", r.Twice)
	problem(r.Unasked > 0, "%d answers to nothing", r.Unasked)
	problem(r.Unanswered > 0, "%d calls without an answer", r.Unanswered)
	problem(r.Left > 0, "%d processes left", r.Left)
	problem(r.OK+r.Failed+r.Cut != r.Calls, "the outcomes do not add up to the calls")
	problem(float64(r.OK) < 0.8*float64(r.Calls), "of %d calls only %d were answered as they should be: too much was killed to tell", r.Calls, r.OK)
	problem(r.Rate < 0.9*rate, "only %.0f calls a second", r.Rate)
	last := len(r.RSS) - 1
	problem(last > 1 && r.RSS[last] > grown*r.RSS[1], "memory grew from %.1f to %.1f MB", r.RSS[1], r.RSS[last])
}
