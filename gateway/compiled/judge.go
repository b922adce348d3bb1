package compiled

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/awo-dev/awo/internal/stat"
)

// What an agent would have called without being given the answer cannot be seen once it
// was given. So some reads of each rule are not attached: a call that asks for the same says
// that the read was of use. It is one in heldBack, and one in heldBackDoubtful while the rule
// is in doubt.
const (
	heldBack         = 5
	heldBackDoubtful = 2
)

// A rule is withdrawn when what was seen since it was last beyond doubt is alarm times (in
// logarithms) more likely with a share of uses of a third of what was promised (Page,
// Continuous inspection schemes, Biometrika 41, 1954). A rule that keeps its promise is
// withdrawn by chance once in more than 50 observations, e to the power of alarm, at the
// most often; one whose reads nobody asks for any more after 12 to 16.
const alarm = 4

// judge keeps what was seen of one rule.
type judge struct {
	reads    int
	doubt    float64 // the logarithm; 0 is beyond doubt
	used, of int     // since then
	off      bool
}

// hold reports whether the next read of a rule is not attached.
func (l *Layer) hold(rule int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := &l.judges[rule]
	j.reads++
	one := heldBack
	if j.doubt > 0 {
		one = heldBackDoubtful
	}
	// By chance, so that no habit of an agent can go with it.
	return stat.Below(stat.Stream(l.o.Seed, uint64(rule), uint64(j.reads)), one) == 0
}

func (l *Layer) off(rule int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.judges[rule].off
}

// see counts a read that was not attached, asked for or not; true if the rule is to be
// switched off for it.
func (j *judge) see(used bool, promised float64) bool {
	promised = min(max(promised, .01), .99)
	low := promised / 3
	step := math.Log((1 - low) / (1 - promised))
	if used {
		step = math.Log(low / promised)
	}
	if j.doubt += step; j.doubt <= 0 {
		j.doubt, j.used, j.of = 0, 0, 0
		return false
	}
	j.of++
	if used {
		j.used++
	}
	j.off = j.off || j.doubt >= alarm
	return j.off
}

// judge counts a read that was not attached. A rule that falls under what its traces
// promised is switched off until restart.
func (l *Layer) judge(s *session, rule int, used bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := &l.judges[rule]
	promised := l.a.Ahead.Promised[rule]
	if j.off {
		return
	}
	l.o.Metrics.Count("rule", l.a.Ahead.Set.Rules[rule].ID, map[bool]string{true: "used", false: "unused"}[used])
	if err := l.remember(prefetchFile, fmt.Sprintf("%d %t", rule, used)); err != nil {
		s.h.Log().Info("what was seen of a prefetch rule is not kept", "reason", err)
	}
	if !j.see(used, promised) {
		return
	}
	share := stat.Wilson(float64(j.used), float64(j.of), stat.DefaultLevel)
	s.h.Log().Warn("prefetch rule withdrawn until its folder is regenerated", "rule", l.a.Ahead.Set.Rules[rule].ID, "used", fmt.Sprintf("%d of %d", j.used, j.of),
		"share", fmt.Sprintf("%.2f to %.2f (95 %%)", share.Lo, share.Hi), "promised", fmt.Sprintf("%.2f", promised))
}

// maxMemory is how much is read of what earlier sessions have seen, the latest.
const maxMemory = 1 << 20

// memory returns the file of what was seen of an artefact, "" if nothing is kept: a session
// on standard streams is a program of its own, and sees too little by itself. Another
// artefact of the same name has another file.
func (l *Layer) memory(artefact string) string {
	for _, f := range l.a.Files {
		if f.Name == artefact && l.o.Memory != "" {
			return filepath.Join(l.o.Memory, f.SHA256[:32])
		}
	}
	return ""
}

// remember appends what was seen: one line, so that several programs can.
func (l *Layer) remember(artefact, line string) error {
	name := l.memory(artefact)
	if name == "" {
		return nil
	}
	if err := os.MkdirAll(l.o.Memory, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// recall goes through what earlier sessions have seen. What cannot be read was not seen.
func (l *Layer) recall(artefact string, use func(line string)) {
	name := l.memory(artefact)
	if name == "" {
		return
	}
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > maxMemory {
		_, _ = f.Seek(-maxMemory, io.SeekEnd) // else the oldest are read
	}
	data, err := io.ReadAll(io.LimitReader(f, maxMemory))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(data)) {
		use(line)
	}
}

// recallUses judges rules by what earlier sessions have seen.
func (l *Layer) recallUses() {
	l.recall(prefetchFile, func(line string) {
		var rule int
		var used bool
		if n, _ := fmt.Sscanf(line, "%d %t\n", &rule, &used); n == 2 && rule >= 0 && rule < len(l.judges) && !l.judges[rule].off {
			l.judges[rule].see(used, l.a.Ahead.Promised[rule])
		}
	})
}
