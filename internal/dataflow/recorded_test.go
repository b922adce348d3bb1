package dataflow_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// recorded returns the path of a file of the recorded traces, which are kept
// beside the project.
func recorded(t *testing.T, name string) string {
	t.Helper()
	path := "../../../shared/data/" + name
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the recorded traces are not there: %s", name)
	}
	return path
}

// TestRecordedLinks holds links of recorded runs that anybody who reads them
// finds, and some that are none.
func TestRecordedLinks(t *testing.T) {
	for _, tc := range []struct {
		file     string
		accepted map[string]string // parameter: source
		refused  map[string]string
		fanOut   [2]string
	}{
		{
			"taubench/gpt-4o-airline.json",
			map[string]string{
				"get_user_details(user_id)":                       "user",
				"get_reservation_details(reservation_id)":         "get_user_details.reservations[*]",
				"cancel_reservation(reservation_id)":              "get_user_details.reservations[*]",
				"update_reservation_flights(reservation_id)":      "get_reservation_details.reservation_id",
				"update_reservation_flights(payment_id)":          "get_user_details.payment_methods[*].id",
				"book_reservation(flights[*].flight_number)":      "search_onestop_flight[*][*].flight_number",
				"book_reservation(payment_methods[*].payment_id)": "get_user_details.payment_methods[*].id",
			},
			map[string]string{
				"book_reservation(nonfree_baggages)":            "get_reservation_details.nonfree_baggages",
				"update_reservation_baggages(nonfree_baggages)": "get_reservation_details.nonfree_baggages",
				"book_reservation(cabin)":                       "get_reservation_details.cabin",
			},
			[2]string{"get_user_details.reservations[*]", "get_reservation_details(reservation_id)"},
		},
		{
			"tau2/retail_toolorchestra-gpt-5.json",
			map[string]string{
				"get_user_details(user_id)":                       "find_user_id_by_name_zip",
				"get_order_details(order_id)":                     "get_user_details.orders[*]",
				"get_product_details(product_id)":                 "get_order_details.items[*].product_id",
				"modify_pending_order_items(new_item_ids[*])":     "get_product_details.variants[*].item_id",
				"find_user_id_by_email(email)":                    "user",
				"return_delivered_order_items(payment_method_id)": "get_user_details.payment_methods[*].id",
			},
			map[string]string{"cancel_pending_order(reason)": "get_order_details.status"},
			[2]string{"get_user_details.orders[*]", "get_order_details(order_id)"},
		},
	} {
		t.Run(tc.file, func(t *testing.T) {
			list := read(t, recorded(t, tc.file))
			_, set := collected(list)
			verdicts := map[string]dataflow.Verdict{}
			for i := range set.Links {
				k := &set.Links[i]
				if at := k.To.String() + " <- " + k.From.String(); verdicts[at] != dataflow.Accepted {
					verdicts[at] = k.Verdict
				}
			}
			for to, from := range tc.accepted {
				if v := verdicts[to+" <- "+from]; v != dataflow.Accepted {
					t.Errorf("%s from %s: %q, want accepted", to, from, v)
				}
			}
			for to, from := range tc.refused {
				if v := verdicts[to+" <- "+from]; v == dataflow.Accepted {
					t.Errorf("%s from %s is accepted", to, from)
				}
			}
			j := dataflow.NewJudge(set)
			for _, one := range list {
				j.Add(j.Check(one))
			}
			for _, g := range j.Judgments() {
				if g.Link.From.String() == tc.fanOut[0] && g.Link.To.String() == tc.fanOut[1] && g.Choice.Kind == dataflow.Each {
					t.Logf("%s to %s: %d of %d uses, %+v", tc.fanOut[0], tc.fanOut[1], g.Agree, g.Uses, *g.FanOut)
					if !g.Reads() {
						t.Errorf("a read for each agrees in %d of %d uses", g.Agree, g.Uses)
					}
				}
			}
		})
	}
}

// solution is a reference solution of NESTFUL: calls whose arguments name the
// results of earlier ones.
type solution struct {
	Input  string
	Output []struct {
		Name      string
		Label     string
		Arguments map[string]any
	}
}

var reference = regexp.MustCompile(`^\$(\w+)((?:\.[^$]+)?)\$$`)

// enact makes a run of a solution: results hold what later calls ask of them,
// with values drawn by draw, beside values of no use. truth says, by call and
// parameter, which label and path the argument names.
func enact(s *solution, draw func(i, n int) int, runNumber int) (*script, map[string]string) {
	results := map[string]map[string]any{} // label -> result
	truth := map[string]string{}
	out := run(fmt.Sprint(runNumber)).user(s.Input)
	count := 0
	fresh := func() string {
		count++
		return fmt.Sprintf("v%d-%d", runNumber, 1000+draw(runNumber*997+count, 1_000_000))
	}
	for _, c := range s.Output {
		if c.Label != "" {
			results[c.Label] = map[string]any{
				"status": []string{"ok", "done"}[draw(runNumber, 2)], "count": 1 + draw(runNumber+len(results), 3), "page": 1,
			}
		}
	}
	// What is asked of each result is put in before any call is written.
	var fill func(v any) any
	fill = func(v any) any {
		switch v := v.(type) {
		case string:
			if m := reference.FindStringSubmatch(v); m != nil && results[m[1]] != nil {
				return place(results[m[1]], m[2], fresh)
			}
		case []any:
			for i := range v {
				fill(v[i])
			}
		case map[string]any:
			for _, k := range sortedKeys(v) {
				fill(v[k])
			}
		}
		return v
	}
	for _, c := range s.Output {
		fill(c.Arguments)
	}
	for i, c := range s.Output {
		args := map[string]any{}
		for _, k := range sortedKeys(c.Arguments) {
			args[k] = c.Arguments[k]
			text, _ := c.Arguments[k].(string)
			m := reference.FindStringSubmatch(text)
			if m == nil || results[m[1]] == nil {
				continue
			}
			args[k] = place(results[m[1]], m[2], fresh)
			truth[fmt.Sprintf("%d %s", i, k)] = m[1] + m[2]
		}
		a, _ := json.Marshal(args)
		r := ""
		if c.Label != "" {
			b, _ := json.Marshal(results[c.Label])
			r = string(b)
		}
		out.call(c.Name, string(a), r)
	}
	return out, truth
}

func sortedKeys(m map[string]any) []string {
	return slices.Sorted(maps.Keys(m))
}

// place returns what stands at a path such as ".a.b[1].c" in a result, making it
// where it is missing.
func place(root map[string]any, path string, fresh func() string) any {
	if path == "" {
		return root
	}
	steps := regexp.MustCompile(`\.([^.\[]+)|\[(\w+)\]`).FindAllStringSubmatch(path, -1)
	var at any = root
	for i, s := range steps {
		last := i == len(steps)-1
		name := s[1] + s[2]
		object, ok := at.(map[string]any)
		if !ok {
			return at
		}
		if object[name] == nil {
			if last {
				object[name] = fresh()
			} else {
				object[name] = map[string]any{"note": fresh()}
			}
		}
		if text, ok := object[name].(string); ok && !last {
			object[name] = map[string]any{"self": text}
		}
		at = object[name]
	}
	return at
}

func TestNestful(t *testing.T) {
	const runs = 6
	for _, file := range []string{"executable", "non-executable-glaive", "non-executable-sgd"} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(recorded(t, "nestful/"+file+"-data.json"))
			if err != nil {
				t.Fatal(err)
			}
			var solutions []solution
			if err := json.Unmarshal(data, &solutions); err != nil {
				t.Fatal(err)
			}
			var list []*trace.Trajectory
			var truths []map[string]string
			var labels [][]string
			for i := range solutions {
				for n := range runs {
					s, truth := enact(&solutions[i], dice, i*runs+n)
					list, truths = append(list, &s.t), append(truths, truth)
					var names []string
					for _, c := range solutions[i].Output {
						names = append(names, c.Label)
					}
					labels = append(labels, names)
				}
			}
			flows, set := collected(list)
			var claims, right, references, found int
			for i, f := range flows {
				for k := range f.Uses {
					u := &f.Uses[k]
					if len(u.Positions) > 0 {
						continue
					}
					want := truths[i][fmt.Sprintf("%d %s", u.Call, topName(f.Slots[u.Param]))]
					if want != "" && !topLevel(f.Slots[u.Param]) {
						continue // a leaf inside a whole result
					}
					source, k := set.Best(f, u, 0)
					// Only what comes from results is in the reference.
					isResult := source != nil && (k.From.Side == dataflow.Output || k.From.Side == dataflow.Input)
					ok := isResult && want != "" && sameAsReference(source, k, labels[i], truths[i], want)
					if isResult && (want != "" || k.From.Side == dataflow.Output) {
						claims++
						if ok {
							right++
						}
					}
					if want != "" {
						references++
						if ok {
							found++
						}
					}
				}
			}
			precision, recall := float64(right)/float64(claims), float64(found)/float64(references)
			t.Logf("%d solutions, %d runs each: precision %.4f (%d of %d), recall %.4f (%d of %d)",
				len(solutions), runs, precision, right, claims, recall, found, references)
			if precision < 0.99 || recall < 0.94 {
				t.Errorf("precision %.3f, recall %.3f", precision, recall)
			}
		})
	}
}

// topName returns the name of the argument that a parameter is or is in.
func topName(s dataflow.Slot) string {
	path, err := jsonpath.Parse(s.Path)
	if err != nil || len(path) == 0 {
		return ""
	}
	return path[0].Name
}

func topLevel(s dataflow.Slot) bool {
	path, err := jsonpath.Parse(s.Path)
	return err == nil && len(path) == 1
}

// sameAsReference reports whether a source is what the reference names: the
// same place, or an earlier argument that has its value from there.
func sameAsReference(s *dataflow.Source, k *dataflow.Link, labels []string, truth map[string]string, want string) bool {
	if k.From.Side == dataflow.Input {
		return truth[fmt.Sprintf("%d %s", s.Call, topName(k.From))] == want
	}
	label, path, _ := strings.Cut(want, ".")
	path = strings.NewReplacer("[", ".", "]", "").Replace(path)
	got := strings.NewReplacer("['", ".", "']", "").Replace(strings.TrimPrefix(k.From.Path, "$"))
	return labels[s.Call] == label && strings.TrimPrefix(got, ".") == path
}
