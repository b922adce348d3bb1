package main

// A fault is a piece of code and what takes its place.
type fault struct {
	name     string
	file     string
	old, new string
	tests    string // the package whose tests find it; "" is that of the file
}

var faults = []fault{
	// Statistics.
	{name: "an interval of half the width", file: "internal/stat/stat.go", old: "i.Lo = max(0, (center-half)/scale)", new: "i.Lo = max(0, (center-half/2)/scale)"},
	{name: "a sequential interval that is too short", file: "internal/stat/sequence.go", old: "Lo: s.mean - width, Hi", new: "Lo: s.mean - width/2, Hi"},
	{name: "a standard error without the correction for few tasks", file: "internal/stat/cluster.go", old: "math.Sqrt(squares*n/(n-1)) / math.Abs(s.b)", new: "math.Sqrt(squares) / math.Abs(s.b)"},
	{name: "the other tail of a binomial", file: "internal/stat/binomial.go", old: "if float64(k) > float64(n)*p {", new: "if float64(k) < float64(n)*p {"},
	{name: "expected counts that are called small when they are large", file: "entropy/ordertest.go", old: "if expected < minExpected {", new: "if expected > minExpected {"},
	{name: "a warning of optimism the wrong way round", file: "entropy/heldout.go", old: "gap > optimism {", new: "gap < -optimism {"},
	{name: "chance is allowed more", file: "internal/dataflow/set.go", old: "significance = 1e-3", new: "significance = 0.5"},

	// Folds.
	{name: "folds are tested on what they learned", file: "entropy/ngram/heldout.go", old: "if foldOf[i] != fold {", new: "if foldOf[i] == fold {"},
	{name: "one task too many is tested on", file: "trace/holdout/holdout.go", old: "if i < tests {", new: "if i <= tests {"},

	// Reading and joining.
	{name: "the first of equal members counts", file: "trace/canonical.go", old: "if i+1 == len(members) || compareNames(dst, m, members[i+1]) != 0 {", new: "if i == 0 || compareNames(dst, m, members[i-1]) != 0 {"},
	{name: "a session may be twice as large", file: "trace/assemble.go", old: "if g.size > a.limit {\n\t\treturn nil", new: "if g.size > 2*a.limit {\n\t\treturn nil"},
	{name: "a span's length is not read", file: "trace/formats/otel/flat_span.go", old: "f.duration > 0 && !s.Start.IsZero()", new: "f.duration < 0 && !s.Start.IsZero()"},
	{name: "messages may nest a thousand times deeper", file: "trace/formats/internal/message/part.go", old: "p.nested > messageNesting", new: "p.nested > 1000*messageNesting"},

	// Merging, extraction, binding.
	{name: "writes of domains forget their order", file: "merge/history.go", old: "} else if p.last <= h.none.last {", new: "} else if p.last < h.none.last {"},
	{name: "reads after writes are those before", file: "merge/walker.go", old: "if w.reads == rules.ReadsAfterWrite {", new: "if w.reads != rules.ReadsAfterWrite {"},
	{name: "seeds are not taken by weight", file: "metatool/candidate/seeds.go", old: "if a.weight != b.weight {", new: "if a.weight == b.weight {"},
	{name: "walks that read too much are taken", file: "metatool/bind/choose.go", old: "p95 > c.b.options.maxExtra()", new: "p95 < c.b.options.maxExtra()"},

	// Replay.
	{name: "repeats are steps", file: "metatool/replay/occurrence.go", old: "if !ghosts && repeats[i] >= 0 {", new: "if ghosts && repeats[i] >= 0 {"},
	{name: "a place across a turn that is not exact counts", file: "metatool/replay/place.go", old: "if across && !replay.Exact {", new: "if across && replay.Exact {"},
	{name: "half of the extra reads are the 95th percentile", file: "metatool/replay/verify.go", old: "below*100 >= t.Exact*95", new: "below*100 >= t.Exact*50"},
	{name: "results of writes are left out of what is handed back", file: "metatool/execute/answer.go", old: "(f == nil || step.ReadOnly) {", new: "(f == nil || !step.ReadOnly) {"},

	// Money and comparisons.
	{name: "money: a removed turn leaves its context", file: "cost/without.go", old: "if i == 0 || t.Input < a.Turns[i-1].Input {", new: "if i == 0 || t.Input > a.Turns[i-1].Input {"},
	{name: "money: cache writes are for free", file: "cost/account.go", old: "if u.CacheWrite > 0 {", new: "if u.CacheWrite < 0 {"},
	{name: "money: registered tools are registered again", file: "cost/lazy.go", old: "if s == registered {", new: "if s != registered {"},
	{name: "prefetch rules that are used too seldom", file: "prefetch/learn/choose.go", old: "case e.Use() < threshold:", new: "case e.Use() < 0:"},

	// Escaping, redaction, bounds, order, atomic writes.
	{name: "a formula in a table for spreadsheets", file: "internal/report/escape.go", old: "if start && strings.ContainsRune(\"=+-@＝＋－＠\", r) {", new: "if start && strings.ContainsRune(\"+-@＝＋－＠\", r) {"},
	{name: "control characters on a terminal", file: "internal/report/escape.go", old: "(!unicode.IsPrint(r) && !(lines", new: "(!unicode.IsPrint(r) && r > 31 && !(lines"},
	{name: "words stay in what is redacted", file: "internal/redact/redact.go", old: "if r.kept[name] || isIdentifier(name) {", new: "if r.kept[name] || len(name) > 0 {"},
	{name: "a sample keeps the highest", file: "internal/filter/filter.go", old: "if d.key < kept[0].key {", new: "if d.key > kept[0].key {"},
	{name: "an answer may have a thousand times as many elements", file: "prefetch/rule.go", old: "if len(elements) > maxNodes {", new: "if len(elements) > 1000*maxNodes {"},
	{name: "a name leaves the folder", file: "internal/emit/write.go", old: "!fs.ValidPath(name) || name == \".\" || strings.ContainsAny(name, `/\\`)", new: "name == \".\" || strings.ContainsAny(name, \"?\")"},
	{name: "what was begun stays behind", file: "internal/emit/write.go", old: `if !f.published && f.temporary != "" {`, new: `if f.published && f.temporary != "" {`},
}
