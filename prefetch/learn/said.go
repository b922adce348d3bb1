package learn

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

const (
	// minSaid is how long a value must be, in bytes, to be looked for in a message: shorter
	// ones stand everywhere.
	minSaid = 3
	// maxSaid is how many slots a read has at most.
	maxSaidSlots = 4
	// minWordTasks is in how many tasks a word must stand before the values of an argument to
	// be kept: it is text of a user.
	minWordTasks = 5
	// mostly is the share of uses that a word, an order or a distance must have.
	mostly = 0.8
	// kindsOfShape are up to how many shapes of one argument are kept; more are one.
	kindsOfShape = 3
)

// saying is a call whose arguments stood in a message, or are constants.
type saying struct {
	tool   string
	task   string
	slots  []saidSlot // in the order of the message; none of a call without arguments from there
	others []trace.Member
	before string // the tool of the call before, "" at the beginning
	key    string
}

// saidSlot is where one argument stood.
type saidSlot struct {
	argument, value string
	number          bool
	near            bool   // right behind the slot before
	word            string // before it, in small letters; "" for none
}

// sayings returns the first calls of each read whose arguments, as far as they are no constants, stood
// in one message. It is pure.
func sayings(r *run) []saying {
	var out []saying
	task := r.t.TaskKey()
	var texts []string
	var calls []int // that came before
	for i := range r.t.Messages {
		if m := &r.t.Messages[i]; m.Role == trace.RoleUser {
			texts, calls = append(texts, m.Text.Text()), append(calls, m.Call)
		}
	}
	before := ""
	for i := range r.calls {
		c := &r.calls[i]
		if c.model && c.answered && c.key != "" && r.first[c.key] == i {
			one := saying{tool: c.Tool, task: task, before: before, key: c.key}
			best := -1
			for k := len(texts) - 1; k >= 0; k-- {
				if calls[k] > i {
					continue
				}
				if slots := slotsIn(texts[k], c.Arguments); len(slots) > len(one.slots) {
					one.slots, best = slots, k
				}
			}
			for _, m := range c.Arguments.Members {
				if best < 0 || !slices.ContainsFunc(one.slots, func(s saidSlot) bool { return s.argument == m.Name }) {
					one.others = append(one.others, m)
				}
			}
			if len(one.slots) <= maxSaidSlots {
				out = append(out, one)
			}
		}
		if c.model && c.Tool != "" {
			before = c.Tool
		}
	}
	return out
}

// slotsIn returns the arguments that stand in a message as words of it, in its order.
func slotsIn(text string, arguments trace.Value) []saidSlot {
	type place struct {
		saidSlot
		begin, end int
	}
	var places []place
	for _, m := range arguments.Members {
		v := m.Value
		if v.Kind != trace.String && v.Kind != trace.Number || len(v.Text) < minSaid || len(v.Text) > prefetch.MaxText || strings.ContainsFunc(v.Text, unicode.IsSpace) {
			continue
		}
		if at := wordAt(text, v.Text); at >= 0 {
			places = append(places, place{saidSlot{argument: m.Name, value: v.Text, number: v.Kind == trace.Number, word: wordBefore(text[:at])}, at, at + len(v.Text)})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(a.begin-b.begin, a.end-b.end) })
	var out []saidSlot
	for i, p := range places {
		if i > 0 {
			gap := places[i].begin - places[i-1].end
			if gap < 0 {
				return nil // one word is two arguments: nothing says which
			}
			p.near = gap <= 3 && !strings.ContainsFunc(text[places[i-1].end:p.begin], isWord)
		}
		out = append(out, p.saidSlot)
	}
	return out
}

// wordAt returns where a value stands in a text with no letter or digit right before or
// behind it, -1 for nowhere.
func wordAt(text, value string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], value)
		if at < 0 {
			return -1
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		behind, _ := utf8.DecodeRuneInString(text[at+len(value):])
		if !isWord(before) && !isWord(behind) {
			return at
		}
		from = at + 1
	}
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// wordBefore returns the last word of a text if little stands behind it and it is of small
// ASCII letters, as which other ones count.
func wordBefore(text string) string {
	end := len(strings.TrimRightFunc(text, func(r rune) bool { return !isWord(r) }))
	if len(text)-end > 4 || end == len(text) {
		return ""
	}
	begin := end
	for begin > 0 && isLetter(text[begin-1]) {
		begin--
	}
	if begin == end || end-begin > 16 || begin > 0 && isWord(rune(text[begin-1])) {
		return ""
	}
	return strings.ToLower(text[begin:end])
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

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
	for i := range t.Messages {
		if t.Messages[i].Role != trace.RoleUser {
			continue
		}
		for _, word := range strings.FieldsFunc(t.Messages[i].Text.Text(), func(r rune) bool { return !isWord(r) }) {
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
	others, ok := constantsOf(list)
	if !ok || len(list) < minUses {
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
		others, ok := constantsOf(same)
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
func constantsOf(list []saying) ([]prefetch.Other, bool) {
	type value struct {
		v     trace.Value
		runs  int
		tasks map[string]bool
	}
	byName := map[string]map[string]*value{}
	given := map[string]int{}
	for i := range list {
		for _, m := range list[i].others {
			text := string(m.Value.AppendCanonical(nil))
			if byName[m.Name] == nil {
				byName[m.Name] = map[string]*value{}
			}
			if byName[m.Name][text] == nil {
				byName[m.Name][text] = &value{v: m.Value, tasks: map[string]bool{}}
			}
			given[m.Name]++
			x := byName[m.Name][text]
			x.runs++
			x.tasks[list[i].task] = true
		}
	}
	var out []prefetch.Other
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if 2*given[name] <= len(list) {
			continue // mostly it is left out
		}
		var best *value
		for _, text := range slices.Sorted(maps.Keys(byName[name])) {
			if x := byName[name][text]; best == nil || x.runs > best.runs {
				best = x
			}
		}
		known := seen{value: best.v, runs: best.runs, tasks: best.tasks}
		if 2*best.runs <= len(list) || len(name) > maxName || !known.mayShow(name) {
			return nil, false
		}
		out = append(out, prefetch.Other{Argument: name, Origin: prefetch.FromConstant, Constant: best.v})
	}
	return out, true
}

// shapesOf returns the shapes of values: one for each of a few forms, else one of letters
// and digits, else none.
func shapesOf(values []string) []prefetch.Shape {
	distinct := slices.Compact(slices.Sorted(slices.Values(values)))
	if !slices.ContainsFunc(distinct, func(v string) bool { return strings.Count(v, "@") != 1 || !strings.Contains(v, ".") }) {
		return []prefetch.Shape{prefetch.ShapeEmail}
	}
	for _, mixed := range []bool{false, true} {
		forms := map[string][][]runOf{}
		for _, v := range distinct {
			runs := runsOf(v, mixed)
			var form strings.Builder
			for _, r := range runs {
				form.WriteRune(r.class)
			}
			forms[form.String()] = append(forms[form.String()], runs)
		}
		if len(forms) > kindsOfShape {
			// What stands in a few values only is left out; the others must be most of them.
			left := 0
			for form, list := range forms {
				if len(list) < minUses {
					delete(forms, form)
					left += len(list)
				}
			}
			if len(forms) == 0 || len(forms) > kindsOfShape || float64(left) > (1-mostly)*float64(len(distinct)) {
				continue
			}
		}
		var out []prefetch.Shape
		for _, form := range slices.Sorted(maps.Keys(forms)) {
			out = append(out, shapeOf(forms[form]))
		}
		return out
	}
	return nil
}

// runOf is a run of one class, or a character that stands for itself.
type runOf struct {
	class  rune
	length int // 0 for a character that stands for itself
}

// runsOf divides a value into runs. With mixed, letters and digits are one class: capitals
// and digits X, others w.
func runsOf(value string, mixed bool) []runOf {
	lower := strings.ContainsFunc(value, unicode.IsLower)
	var out []runOf
	for _, r := range value {
		class := rune(0)
		switch {
		case mixed && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if class = 'X'; lower {
				class = 'w'
			}
		case unicode.IsDigit(r):
			class = '9'
		case unicode.IsUpper(r):
			class = 'A'
		case unicode.IsLetter(r):
			class = 'a'
		}
		switch n := len(out); {
		case class == 0:
			out = append(out, runOf{r, 0})
		case n > 0 && out[n-1].class == class && out[n-1].length > 0:
			out[n-1].length++
		default:
			out = append(out, runOf{class, 1})
		}
	}
	return out
}

// shapeOf writes the shape of values of one form: the length of a run is kept where it is
// always the same.
func shapeOf(list [][]runOf) prefetch.Shape {
	var b strings.Builder
	for i, r := range list[0] {
		if r.length == 0 {
			if strings.ContainsRune(`aA9Xw{}+\`, r.class) {
				b.WriteByte('\\')
			}
			b.WriteRune(r.class)
			continue
		}
		b.WriteRune(r.class)
		same := !slices.ContainsFunc(list, func(o []runOf) bool { return o[i].length != r.length })
		switch {
		case !same || len(list) < minUses && r.length > 1:
			b.WriteByte('+')
		case r.length > 1:
			b.WriteString(prefetch.Times(r.length))
		}
	}
	return prefetch.Shape(b.String())
}
