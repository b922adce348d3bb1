package analysis

import "github.com/awo-dev/awo/internal/report"

// The sections that show what `awo analyze` finds.

var sectionOrders = reportSection{
	heading: "How predictable is the next call?",
	about: "An agent that does the same things in the same order can be helped by tools that do several of them at once; one that does something else each time cannot. " +
		"The figure is how many yes-or-no questions (bits) are left open about the next call by somebody who knows the calls before it, so lower is more habitual; the orange line counts, because it was measured on tasks that the predictor had not seen.",
	figures: []string{"entropy"},
	blocks:  func(r *reportInput) []report.Block { return []report.Block{orderTable(r.found)} },
}

var sectionTests = reportSection{
	heading: "Does one more call of memory help?",
	about: "Each row asks whether looking one call further back says more about the next call, or whether what it seems to say is chance. " +
		"A small p is not chance; the percentage says how much it helps, which is what matters when there are many calls.",
	blocks: func(r *reportInput) []report.Block {
		if len(r.found.analysis.Tests) == 0 || r.found.analysis.Distinct < 2 {
			return nil
		}
		return []report.Block{testTable("tests", r.found.analysis.Tests, r.o)}
	},
}

var sectionSuccessors = reportSection{
	heading: "What follows what",
	about: "Each row of the map is a tool, and the darker a cell, the more often the tool of its column came next; dark runs beside the diagonal are routines. " +
		"The curve says how often the next tool is among the few commonest after what came before: high on the left means that a guess is usually right.",
	figures: []string{"transitions", "top-m"},
	blocks: func(r *reportInput) []report.Block {
		if r.o.Order < 1 || r.found.analysis.Distinct < 2 {
			return nil
		}
		return []report.Block{successorTable(r.found, r.o), topTable(r.found)}
	},
}

var sectionTools = reportSection{
	heading: "Tools",
	about: "How often each tool was called, how often a call failed and what calls took, as far as the traces say so. " +
		"A tool that is called often and leaves little open about what comes next is where a routine begins.",
	blocks: func(r *reportInput) []report.Block {
		return append(toolTables(r.found), habitTables(r.found)...)
	},
}

var sectionTrajectories = reportSection{
	heading: "Whole trajectories",
	about: "A trajectory is one run of an agent on one task. Each row is a run of a sample, each block a call, in the colour of its tool; hatched calls failed, and a bar is a user message. " +
		"The blue line is the largest share of all runs that are at the same point after so many calls: while it is high most runs begin alike, and a tool that does these calls at once would serve them all.",
	figures: []string{"convergence"},
	blocks: func(r *reportInput) []report.Block {
		return append([]report.Block{r.app(report.AppTimelines, timelines(r.process.Timelines())), variantTable(r.in, r.found)}, convergenceBlocks(r.found)...)
	},
}

var sectionSources = reportSection{
	heading: "Where arguments come from",
	about: "To make a call without the model a program must know its arguments: from the result of an earlier call, from an earlier argument, or from what the user said. " +
		"Each bar is one argument of one tool, divided by where its values stood before; grey is what the model made up or what could be coincidence.",
	figures: []string{"parameter-sources"},
	blocks: func(r *reportInput) []report.Block {
		if r.found.sources == nil {
			return nil
		}
		return sourceTables(r.found.sources, r.o)
	},
}

var sectionGroups = reportSection{
	heading: "Groups",
	about: "The runs are divided into groups, and each group is compared with the largest. " +
		"A small permutation p says that the two follow different habits, so that what was learned from one may not serve the other.",
	blocks: func(r *reportInput) []report.Block {
		if len(r.found.groups) == 0 {
			return nil
		}
		return []report.Block{groupTable(r.found), testTable("tests_within_groups", r.found.within, r.o), shiftTable(r.found)}
	},
}
