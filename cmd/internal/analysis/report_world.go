package analysis

import "github.com/awo-dev/awo/internal/report"

var sectionWorld = reportSection{
	heading: "How tools depend on each other",
	about: "Tools depend on each other by what follows what and by what one gives and another takes; a click on a tool or a parameter shows its edges with their evidence. " +
		"Where there are many tools a task needs few of them, and `awo tools subset` writes the lists.",
	blocks: func(r *reportInput) []report.Block { return r.world },
}
