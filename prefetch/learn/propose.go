package learn

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

const (
	// minWordTasks is in how many tasks a word must stand to be kept: it is text of a user.
	minWordTasks = 5
	// mostly is the share of uses that words before a value must cover, or of values that
	// shapes must.
	mostly = 0.8
)

// maxValues is how many different values of an argument its shapes are made of.
const maxValues = 4096

// valuesOf are the different values that arguments have in calls of reads, by tool and
// argument: there are more of them than stand in messages.
type valuesOf map[[2]string]map[string]bool

func (v valuesOf) add(r *run) {
	for i := range r.calls {
		c := &r.calls[i]
		if !c.model || !c.answered {
			continue
		}
		for _, m := range c.Arguments.Members {
			key := [2]string{c.Tool, m.Name}
			if m.Value.Kind != trace.String && m.Value.Kind != trace.Number || len(v[key]) == maxValues {
				continue
			}
			if v[key] == nil {
				v[key] = map[string]bool{}
			}
			v[key][m.Value.Text] = true
		}
	}
}

// messageWords are the words of ASCII letters in the messages of users, in small letters, with
// the tasks in which they stand, the first few.
type messageWords map[string]map[string]bool

// maxWords is how many different words are looked at.
const maxWords = 1 << 16

func (w messageWords) add(t *trace.Trajectory) {
	task := t.TaskKey()
	for m := range t.UserMessages() {
		for _, word := range strings.FieldsFunc(m.Text.Text(), func(r rune) bool { return !isWord(r) }) {
			word = strings.ToLower(word)
			if len(word) > 16 || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
				continue
			}
			tasks := w[word]
			if tasks == nil {
				if len(w) == maxWords {
					continue
				}
				tasks = map[string]bool{}
				w[word] = tasks
			}
			if len(tasks) < 64 {
				tasks[task] = true
			}
		}
	}
}

// besides returns the words of several tasks that are none of the values, if these are words
// of letters themselves: those of most tasks, in order.
func (w messageWords) besides(values map[string]bool) []string {
	small := map[string]bool{}
	for v := range values {
		if strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsLetter(r) }) {
			return nil
		}
		small[strings.ToLower(v)] = true
	}
	var out []string
	for word, tasks := range w {
		if len(tasks) >= minWordTasks && !small[word] {
			out = append(out, word)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(w[b])-len(w[a]), strings.Compare(a, b)) })
	out = out[:min(len(out), prefetch.MaxNot)]
	slices.Sort(out)
	return out
}

// proposeSaid adds candidates for reads whose arguments the user gave, or that need none.
func (s *Survey) proposeSaid(runs []*corpus.Run, workers int) {
	type look struct {
		run  *run
		said []saying
	}
	groups, values, words := map[string][]saying{}, valuesOf{}, messageWords{}
	for found := range par.Map(workers, slices.Values(runs), func(r *corpus.Run) look {
		one := read(r.Trajectory, s.isRead)
		return look{one, sayings(one)}
	}) {
		values.add(found.run)
		words.add(found.run.t)
		for _, one := range found.said {
			key := one.form()
			groups[key] = append(groups[key], one)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		list := groups[key]
		if len(list) < minUses || len(s.candidates) >= maxCandidates || !named(&list[0]) {
			continue
		}
		if len(list[0].slots) == 0 {
			s.proposeNone(list)
			continue
		}
		s.proposeSlots(list, values, words)
	}
}

// named reports whether all names are such as may be written down.
func named(one *saying) bool {
	if len(one.tool) > maxName {
		return false
	}
	return !slices.ContainsFunc(one.slots, func(s saidSlot) bool { return s.argument == "" || len(s.argument) > maxName })
}

// proposeSlots makes candidates of calls of one form: with and without the words that stand
// before their values, and with values far from each other or as near as most are.
func (s *Survey) proposeSlots(list []saying, values valuesOf, all messageWords) {
	others, ok := s.constantsOf(list)
	if !ok {
		return
	}
	n := len(list[0].slots)
	plain, worded := make([]prefetch.Slot, n), make([]prefetch.Slot, n)
	words := false
	for k := range n {
		argument := list[0].slots[k].argument
		numbers, near := 0, 0
		before, count := map[string]map[string]bool{}, map[string]int{} // word -> tasks, uses
		for i := range list {
			slot := &list[i].slots[k]
			if slot.number {
				numbers++
			}
			if slot.near {
				near++
			}
			if slot.word != "" {
				if before[slot.word] == nil {
					before[slot.word] = map[string]bool{}
				}
				before[slot.word][list[i].task] = true
				count[slot.word]++
			}
		}
		known := values[[2]string{list[0].tool, argument}]
		shapes := shapesOf(slices.Collect(maps.Keys(known)))
		if len(shapes) == 0 {
			return
		}
		plain[k] = prefetch.Slot{Argument: argument, Shapes: shapes, Number: 2*numbers > len(list), Near: k > 0 && 2*near >= len(list), Not: all.besides(known)}
		worded[k] = plain[k]
		if plain[k].Near {
			continue
		}
		var kept []string
		covered := 0
		for word, tasks := range before {
			if len(tasks) >= minWordTasks {
				kept = append(kept, word)
				covered += count[word]
			}
		}
		if float64(covered) >= mostly*float64(len(list)) {
			slices.Sort(kept)
			worded[k].After, words = kept[:min(len(kept), 16)], true
		}
	}
	s.groups++
	for _, slots := range [][]prefetch.Slot{plain, worded} {
		far := slices.Clone(slots)
		for k := range far {
			far[k].Near = false
		}
		s.addSaid(list[0].tool, far, others)
		if slices.ContainsFunc(slots, func(slot prefetch.Slot) bool { return slot.Near }) {
			s.addSaid(list[0].tool, slots, others)
		}
		if !words {
			break
		}
	}
}

// form is what calls have in common that one pattern finds: the tool, and the slots as they
// stand in the message.
func (one *saying) form() string {
	var b strings.Builder
	b.WriteString(one.tool)
	for _, s := range one.slots {
		b.WriteString("\x00" + s.argument)
	}
	return b.String()
}

func (s *Survey) addSaid(tool string, slots []prefetch.Slot, others []prefetch.Other) {
	if _, err := prefetch.Pattern(slots); err != nil {
		return
	}
	c := &candidate{same: s.groups, rule: prefetch.Rule{
		Source: prefetch.Source{Kind: prefetch.KindUser, Slots: slots}, Target: prefetch.Target{Tool: tool, Others: others}, Depth: 1,
	}}
	c.matcher = prefetch.NewMatcher(&c.rule)
	s.candidates = append(s.candidates, c)
}

// proposeNone makes candidates of reads of which all arguments are constants: at the
// beginning, and after the tools that came right before most often.
func (s *Survey) proposeNone(list []saying) {
	byKey := map[string][]saying{}
	for i := range list {
		byKey[list[i].key] = append(byKey[list[i].key], list[i])
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		same := byKey[key]
		others, ok := s.constantsOf(same)
		if !ok || len(same) < minUses || len(others) < len(same[0].others) {
			continue
		}
		after := map[string]int{"": 1}
		for i := range same {
			if tool := same[i].before; tool != same[i].tool {
				after[tool]++
			}
		}
		tools := slices.SortedFunc(maps.Keys(after), func(a, b string) int {
			return cmp.Or(cmp.Compare(after[b], after[a]), strings.Compare(a, b))
		})
		for i, tool := range tools {
			if (i < 3 || tool == "") && len(tool) <= maxName {
				s.candidates = append(s.candidates, &candidate{rule: prefetch.Rule{
					Source: prefetch.Source{Kind: prefetch.KindNone, Tool: tool}, Target: prefetch.Target{Tool: same[0].tool, Others: others}, Depth: 1,
				}})
			}
		}
	}
}

// constantsOf returns the arguments beside those of slots that are the same in most of the
// calls and may be written down, false if one that most calls give is not.
func (s *Survey) constantsOf(list []saying) ([]prefetch.Other, bool) {
	byName := map[string]map[string]*seen{}
	given := map[string]int{}
	for i := range list {
		for _, m := range list[i].others {
			if byName[m.Name] == nil {
				byName[m.Name] = map[string]*seen{}
			}
			text := string(m.Value.AppendCanonical(nil))
			x := byName[m.Name][text]
			if x == nil {
				x = &seen{value: m.Value, tasks: map[string]bool{}}
				byName[m.Name][text] = x
			}
			given[m.Name]++
			x.runs++
			x.tasks[list[i].task] = true
		}
	}
	var out []prefetch.Other
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if 2*given[name] <= len(list) {
			continue // mostly it is left out
		}
		var best *seen
		for _, text := range slices.Sorted(maps.Keys(byName[name])) {
			if x := byName[name][text]; best == nil || x.runs > best.runs {
				best = x
			}
		}
		if 2*best.runs <= len(list) || len(name) > maxName || !s.mayShow(list[0].tool, name, best) {
			return nil, false
		}
		out = append(out, prefetch.Other{Argument: name, Origin: prefetch.FromConstant, Constant: best.value})
	}
	return out, true
}
