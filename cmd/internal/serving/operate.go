package serving

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/compiled"
)

// The files that are read next to that of the servers, if they are there.
const (
	policyName = "awo-serve.yaml"
	pinsName   = "awo-pins.json"
)

// policyFile returns where the policy is.
func (o *options) policyFile() string {
	if o.Policy != "" {
		return o.Policy
	}
	return filepath.Join(filepath.Dir(o.Servers), policyName)
}

// readPolicy reads the policy; without a file all is offered.
func (o *options) readPolicy() (*gateway.Policy, error) {
	src, err := cli.ReadSmall(o.policyFile())
	if errors.Is(err, fs.ErrNotExist) && o.Policy == "" {
		return &gateway.Policy{}, nil
	}
	if err != nil {
		return nil, cli.FileProblem(o.policyFile(), err)
	}
	p, problems := gateway.ParsePolicy(o.policyFile(), src)
	return p, problems.Err()
}

// readServers reads the file of servers.
func (o *options) readServers() ([]gateway.Server, error) {
	src, err := cli.ReadSmall(o.Servers)
	if err != nil {
		return nil, cli.FileProblem(o.Servers, err)
	}
	servers, problems := gateway.ParseServers(o.Servers, src, os.LookupEnv)
	if problems != nil {
		return nil, problems // lines are not shown: they may hold keys
	}
	return servers, nil
}

// pins reads what is pinned: next to the servers once it was approved, else in the user's
// cache, where what is first seen is kept.
func (o *options) pins() (*gateway.Pins, error) {
	file := filepath.Join(filepath.Dir(o.Servers), pinsName)
	if _, err := os.Stat(file); err != nil && !o.Approve {
		cache, err := os.UserCacheDir()
		full, err2 := filepath.Abs(o.Servers)
		if err != nil || err2 != nil {
			return nil, nil // nothing is kept
		}
		sum := sha256.Sum256([]byte(full))
		file = filepath.Join(cache, "awo", "pins", hex.EncodeToString(sum[:16])+".json")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, nil
		}
	}
	pins, err := gateway.ReadPins(file)
	if err != nil {
		return nil, cli.FileProblem(file, err)
	}
	return pins, nil
}

// approve pins what the servers say now.
func approve(j *cli.Job, g *gateway.Gateway, pins *gateway.Pins) error {
	states, tools := g.Check(j.Context)
	for _, s := range states {
		if !s.Ready {
			return cli.Usagef("--approve: server %s is not ready (%s), and nothing was approved", s.Server, s.Reason)
		}
	}
	if err := pins.Approve(tools); err != nil {
		return err
	}
	j.Printf("Approved %s of %s in %s.\n", cli.CountOf(len(tools), "tool"), cli.CountOf(len(states), "server"), pinsName)
	return nil
}

// hides makes sure that the tools that are to be hidden exist: one that was misspelled would
// be shown. Servers are started for that only if they had no such tool when they last ran.
func hides(j *cli.Job, g *gateway.Gateway, layer *compiled.Layer) error {
	if layer == nil {
		return nil
	}
	if unknown, _ := layer.Unknown(g.Known()); unknown == nil {
		return nil
	}
	states, tools := g.Check(j.Context)
	if i := slices.IndexFunc(states, func(s gateway.State) bool { return !s.Ready }); i >= 0 {
		j.Log.Warn("nobody can tell whether the tools of --hide exist: a server is not ready", "server", states[i].Server)
	} else if unknown, _ := layer.Unknown(tools); unknown != nil {
		return cli.Usagef("--hide: %s", unknown[0])
	}
	return nil
}

// operate reloads the configuration at SIGHUP and the policy when its file changes, until
// the context ends, and serves the admin's address.
func operate(j *cli.Job, g *gateway.Gateway, o options) (stop func() error, err error) {
	ctx, cancel := context.WithCancel(j.Context)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		watch(ctx, j, g, o, hangups)
	}()
	server := &http.Server{Handler: g.Admin(), ReadHeaderTimeout: 10 * time.Second}
	if o.Admin != "" {
		l, err := net.Listen("tcp", o.Admin)
		if err != nil {
			cancel()
			return nil, cli.Usagef("--admin: %s", err)
		}
		go func() { _ = server.Serve(l) }() // until it is closed
	}
	return func() error {
		signal.Stop(hangups)
		cancel()
		<-done
		return server.Close()
	}, nil
}

func watch(ctx context.Context, j *cli.Job, g *gateway.Gateway, o options, hangups <-chan os.Signal) {
	modified := func() time.Time {
		if info, err := os.Stat(o.policyFile()); err == nil {
			return info.ModTime()
		}
		return time.Time{}
	}
	last := modified()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := modified()
			if now.Equal(last) {
				continue
			}
			last = now
			var p *gateway.Policy
			if p, err = o.readPolicy(); err == nil {
				g.SetPolicy(p)
			}
		case <-hangups:
			err = reload(j, g, o)
		}
		if err != nil {
			j.Log.Error("nothing was reloaded", "reason", err)
		} else {
			j.Log.Warn("reloaded")
		}
	}
}

// setup is what the files say that a gateway runs with.
type setup struct {
	servers []gateway.Server
	policy  *gateway.Policy
	layer   *compiled.Layer // nil is none
}

// readSetup reads all of it.
func (o *options) readSetup(j *cli.Job, m *gateway.Metrics) (s setup, err error) {
	if s.servers, err = o.readServers(); err != nil {
		return s, err
	}
	if s.policy, err = o.readPolicy(); err != nil {
		return s, err
	}
	s.layer, err = o.layer(j, s.servers, m)
	return s, err
}

// reload reads everything before it replaces anything.
func reload(j *cli.Job, g *gateway.Gateway, o options) error {
	s, err := o.readSetup(j, g.Metrics())
	if err != nil {
		return err
	}
	var layer gateway.Layer
	if s.layer != nil { // an interface that holds nil is not nil
		layer = s.layer
	}
	g.Reload(s.servers, layer)
	g.SetPolicy(s.policy)
	return nil
}

// accessLog opens the log of calls, nil without one.
func (o *options) accessLog() (*slog.Logger, error) {
	if o.AccessLog == "" {
		return nil, nil
	}
	f, err := os.OpenFile(o.AccessLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, cli.FileProblem(o.AccessLog, err)
	}
	return slog.New(slog.NewJSONHandler(f, nil)), nil // the file is open until the program ends
}

// logins reads the tokens that logging in has left.
func logins() (*gateway.Logins, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, nil // nobody can have logged in
	}
	file := filepath.Join(dir, "awo", "logins.json")
	l, err := gateway.ReadLogins(file)
	if err != nil {
		return nil, cli.FileProblem(file, err)
	}
	return l, nil
}

// login logs in to one server.
func login(j *cli.Job, o options, servers []gateway.Server, l *gateway.Logins) error {
	at := slices.IndexFunc(servers, func(s gateway.Server) bool { return s.Name == o.Login && s.URL != "" })
	if at < 0 || l == nil {
		return cli.Usagef("--login: there is no server of this name that has a url")
	}
	dir, err := os.UserConfigDir()
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "awo"), 0o700)
	}
	if err != nil {
		return err
	}
	err = l.Login(j.Context, &servers[at], func(url string) {
		j.Printf("Open this page in a browser:\n%s\n", url)
		_ = j.Out.Flush() // who does not see it does not come
	})
	if err == nil {
		j.Printf("Logged in to %s.\n", o.Login)
	}
	return err
}
