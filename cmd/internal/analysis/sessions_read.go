package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/sessions"
	"github.com/awo-dev/awo/internal/sessions/cache"
	"github.com/awo-dev/awo/trace"
)

// sessionReader reads the sessions of some files: those that did not change since they were read
// last come from a cache.
type sessionReader struct {
	j     *cli.Job
	meter *cost.Meter
	order map[string]int // of the files
	whole bool           // all of a session is read, and only as it is: such sessions are kept

	in    *cli.Intake // that was read last; nil if all came from the cache
	fresh []*cache.Session
	kept  map[*cache.Entry][]*cache.Session
}

// readSessions returns the sessions of files, in the order of these and of their names, and the
// intake that an account of them wants.
func readSessions(j *cli.Job, meter *cost.Meter, files []sessions.File, chosen filter.Options) ([]*cache.Session, *cli.Intake, error) {
	r := &sessionReader{j: j, meter: meter, order: map[string]int{}, kept: map[*cache.Entry][]*cache.Session{}}
	r.whole = chosen.Where == nil && !chosen.Dedupe && chosen.Sample == 0 && j.RuleFile == "" && j.ReadsAsUsual()
	folder := ""
	if user, err := os.UserCacheDir(); err == nil && r.whole {
		folder = filepath.Join(user, "awo")
	}
	store := cache.Open(folder, programVersion())
	for _, e := range store.Kept(files) {
		r.keep(e)
	}
	for i := range files {
		r.order[files[i].Path] = i
	}
	for again := false; ; again = true {
		if err := r.read(files, again); err != nil {
			return nil, nil, err
		}
		if !r.reaches() {
			break
		}
	}
	store.Put(r.entries(files))
	if err := store.Save(); err != nil {
		j.Log.Warn("the cache of sessions was not written", "reason", err)
	}
	list := slices.Clone(r.fresh)
	for _, kept := range r.kept {
		list = append(list, kept...)
	}
	slices.SortFunc(list, func(a, b *cache.Session) int {
		x, y := a.Trajectory, b.Trajectory
		return cmp.Or(cmp.Compare(r.order[x.Source.File], r.order[y.Source.File]), cmp.Compare(x.Source.Line, y.Source.Line), strings.Compare(x.ID, y.ID))
	})
	if r.in == nil {
		r.in = j.KeptIntake()
	}
	return list, r.in, nil
}

// programVersion names this program: what it reads of a file depends on nothing else.
func programVersion() string {
	b := cli.CurrentBuild()
	version := b.Version + " " + b.Commit
	if b.Commit != "" && !b.Modified {
		return version
	}
	name, err := os.Executable()
	if err != nil {
		return version
	}
	info, err := os.Stat(name)
	if err != nil {
		return version
	}
	return fmt.Sprintf("%s %d %d", version, info.Size(), info.ModTime().UnixNano())
}

// keep takes the sessions of an entry, if it makes sense.
func (r *sessionReader) keep(e *cache.Entry) {
	list := []*cache.Session{}
	for i := range e.Sessions {
		s, ok := e.Sessions[i].Open()
		if !ok {
			return
		}
		list = append(list, s)
	}
	r.kept[e] = list
}

// read reads the files that are not kept; again does not tell of problems that were told.
func (r *sessionReader) read(files []sessions.File, again bool) error {
	known := map[string]bool{}
	for e := range r.kept {
		for _, f := range e.Files {
			known[f.Path] = true
		}
	}
	var names []string
	for i := range files {
		if !known[files[i].Path] {
			names = append(names, files[i].Path)
		}
	}
	if r.fresh = nil; len(names) == 0 {
		return nil
	}
	options := r.j.InputOptions
	if r.whole {
		options = cli.InputOptions{TurnGap: options.TurnGap}
	}
	in, err := r.j.IntakeOf(names, options, trace.Options{Found: true, Joined: true})
	if err != nil {
		return err
	}
	in.Shell, in.SaysDoubts = r.j.Splitter(r.j.Set), true
	from := in.All()
	if again {
		from = in.Again()
	}
	found := r.j.NewFindings(r.meter)
	for t, err := range found.Look(r.j.Parallel(), from) {
		if problem, ok := errors.AsType[*diag.Error](err); ok && problem.Code == cli.CodeNoTrajectories || errors.Is(err, cli.ErrProblems) {
			break
		}
		if err != nil {
			return err
		}
		r.fresh = append(r.fresh, cache.New(t, found.Seen(), r.meter.Trajectory(t)))
	}
	r.in = in
	return nil
}

// reaches forgets entries that belong together with what was read, and reports whether there
// were any: those with parts of a session that is in a file read now, and those by whose usage
// a session without usage is estimated.
func (r *sessionReader) reaches() bool {
	type prompt struct {
		model string
		hash  uint64
	}
	keys, prompts := map[uint64]bool{}, map[prompt]bool{}
	for _, joined := range r.joined() {
		for _, key := range joined.Keys {
			keys[key] = true
		}
	}
	for _, s := range r.fresh {
		if s.IsEstimated() {
			model, hash := s.Prompt()
			prompts[prompt{model, hash}] = true
		}
	}
	some := false
	for e, list := range r.kept {
		if slices.ContainsFunc(e.Keys, func(key uint64) bool { return keys[key] }) || slices.ContainsFunc(list, func(s *cache.Session) bool {
			model, hash := s.Prompt()
			return prompts[prompt{model, hash}]
		}) {
			delete(r.kept, e)
			some = true
		}
	}
	return some
}

func (r *sessionReader) joined() []trace.Joined {
	if r.in == nil {
		return nil
	}
	return r.in.Reader.Joined()
}

// entries are what was read of files without a problem, and did not estimate.
func (r *sessionReader) entries(files []sessions.File) (out []cache.Entry) {
	if !r.whole || r.in == nil {
		return nil
	}
	problems, of := map[string]int{}, map[string][]*cache.Session{}
	for _, f := range r.in.Reader.Counts().Files {
		problems[f.Name] = f.Problems
	}
	for _, s := range r.fresh {
		of[s.Trajectory.Source.File] = append(of[s.Trajectory.Source.File], s)
	}
	for _, joined := range r.joined() {
		e, ok := cache.Entry{Keys: joined.Keys}, true
		for _, name := range joined.Files {
			f := &files[r.order[name]]
			e.Files = append(e.Files, cache.FileOf(f))
			ok = ok && problems[name] == 0 && !slices.ContainsFunc(of[name], (*cache.Session).IsEstimated)
			for _, s := range of[name] {
				e.Sessions = append(e.Sessions, *s.Record())
			}
		}
		if ok {
			out = append(out, e)
		}
	}
	return out
}

// trajectories yields the trajectories of sessions that pass the filter and are of a project,
// "" for all, with what an account was made of.
func (r *sessionBook) trajectories(list []*cache.Session, chosen filter.Options, findings *cli.Findings) iter.Seq2[*trace.Trajectory, error] {
	r.sessions = map[*trace.Trajectory]*cache.Session{}
	all := func(yield func(*trace.Trajectory, error) bool) {
		for _, s := range list {
			r.sessions[s.Trajectory] = s
			if !yield(s.Trajectory, nil) {
				return
			}
		}
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		for t, err := range filter.Apply(all, filter.Options{Since: chosen.Since, Until: chosen.Until}, &filter.Counts{}) {
			if r.only != "" && r.project(t) != r.only {
				continue
			}
			if !yield(t, err) || err != nil {
				return
			}
			findings.Add(t, r.sessions[t].Seen)
		}
	}
}
