package office

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// TestHabits holds what the corpus is for: strong habits, none of which decides
// which application comes after the passwords.
func TestHabits(t *testing.T) {
	o := newOffice(t, Options{})
	first, afterPasswords := map[string]int{}, map[string]int{}
	runs, parallel, asked, failed, stopped, empty, solved := 0, 0, 0, 0, 0, 0, 0
	models, agents, tools := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for r := range o.Runs() {
		runs++
		models[r.Agent.Model], agents[r.Agent.Name] = true, true
		calls := r.Calls()
		if len(calls) == 0 {
			empty++
		} else {
			first[calls[0].Tool.Op]++
		}
		for i, c := range calls {
			tools[c.Tool.Name] = true
			if c.Result.Failed {
				failed++
			}
			if i > 0 && calls[i-1].Tool.Op == "supervisor_show_passwords" && strings.HasSuffix(c.Tool.Op, "_login") {
				afterPasswords[c.Tool.Op]++
			}
		}
		for _, turn := range r.Turns() {
			if len(turn.Calls) > 1 {
				parallel++
			}
		}
		if len(r.Users()) > 1 {
			asked++
		}
		if r.Stopped {
			stopped++
		}
		if r.Solved {
			solved++
		}
	}
	if n := first["supervisor_show_passwords"]; n < runs/3 {
		t.Errorf("only %d of %d runs begin with the passwords", n, runs)
	}
	total := 0
	for _, n := range afterPasswords {
		total += n
	}
	for app, n := range afterPasswords {
		if n < 20 || n*2 > total {
			t.Errorf("%s follows the passwords %d of %d times", app, n, total)
		}
	}
	if len(afterPasswords) != 5 || len(models) < 3 || len(agents) < 4 || len(tools) < 25 {
		t.Errorf("applications %v, models %v, agents %v, %d tools", afterPasswords, models, agents, len(tools))
	}
	for what, n := range map[string]int{
		"parallel turns": parallel, "runs with questions": asked, "failed calls": failed, "stopped runs": stopped,
		"empty runs": empty, "unsolved runs": runs - solved,
	} {
		if n < 3 {
			t.Errorf("%s: %d", what, n)
		}
	}
}

// TestInteractingWritesComeInBothOrders: for the planted interaction to be found
// in traces, trials of one task must do both orders and look afterwards.
func TestInteractingWritesComeInBothOrders(t *testing.T) {
	o := newOffice(t, Options{})
	seen := make(map[string]map[string]bool) // by task: order and what the mail's folder was then
	for r := range o.Runs() {
		if r.Family != "settle" {
			continue
		}
		order := ""
		for _, c := range r.Calls() {
			if c.Result.Failed || !c.HasResult {
				continue
			}
			switch c.Tool.Op {
			case "payments_pay_invoice":
				order += "p"
			case "mail_move":
				order += "m"
			case "mail_read":
				folder, _ := c.Result.Value.Field("folder")
				if seen[r.Task] == nil {
					seen[r.Task] = make(map[string]bool)
				}
				seen[r.Task][order+" "+folder.Text] = true
			}
		}
	}
	both := 0
	for task, orders := range seen {
		if orders["pm "+world.Paid] || orders["mp "+world.Archive] {
			t.Errorf("%s: %v", task, orders)
		}
		if orders["pm "+world.Archive] && orders["mp "+world.Paid] {
			both++
		}
	}
	if both < 3 {
		t.Errorf("%d of %d tasks have both orders and a look at the mail", both, len(seen))
	}
}

// TestSiblingsDifferInAnID: histories that differ only in which file was moved
// must exist, followed by the same look at the folder.
func TestSiblingsDifferInAnID(t *testing.T) {
	o := newOffice(t, Options{})
	looks := make(map[string]map[string]string) // by arguments of the look: which file was moved, what was seen
	for r := range o.Runs() {
		if r.Family != "tidy" {
			continue
		}
		moved := ""
		for _, c := range r.Calls() {
			switch {
			case c.Tool.Op == "files_move" && !c.Result.Failed:
				moved = string(c.Args.Value().AppendJSON(nil))
			case c.Tool.Op == "files_list" && moved != "" && !c.Result.Failed:
				args := string(c.Args.Value().AppendJSON(nil))
				if looks[args] == nil {
					looks[args] = make(map[string]string)
				}
				looks[args][moved] = c.Result.Text()
			}
		}
	}
	pairs := 0
	for _, seen := range looks {
		results := make(map[string]bool)
		for _, result := range seen {
			results[result] = true
		}
		if len(results) != len(seen) {
			t.Errorf("%d moves give %d views", len(seen), len(results))
		}
		if len(seen) > 1 {
			pairs++
		}
	}
	if pairs < 2 {
		t.Errorf("%d pairs of tasks move different files out of one folder and look again", pairs)
	}
}
