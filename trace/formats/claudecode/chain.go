package claudecode

import (
	"cmp"
	"slices"
)

// claudeChain is the lines of one agent.
type claudeChain struct {
	agent string // "" for the main one
	lines []*claudeLine
}

// claudeChains divides lines among agents, the main one first, the others in
// order of their first line. Older files give sub-agents no id: there each tree
// of sidechain lines is one.
func claudeChains(lines []*claudeLine) []claudeChain {
	chains := []claudeChain{{}}
	index := map[string]int{}
	byUUID := map[string]*claudeLine{}
	for _, l := range lines {
		byUUID[l.uuid] = l
	}
	for _, l := range lines {
		agent := l.agent
		switch {
		case l.kind == "result": // about the session
			continue
		case agent != "" && l.sidechain:
		case l.toolParent != "":
			agent = l.toolParent
		case l.sidechain:
			agent = "sidechain-" + claudeRoot(l, byUUID, false).uuid
		default:
			agent = ""
		}
		if agent == "" {
			chains[0].lines = append(chains[0].lines, l)
			continue
		}
		i, ok := index[agent]
		if !ok {
			i = len(chains)
			index[agent] = i
			chains = append(chains, claudeChain{agent: agent})
		}
		chains[i].lines = append(chains[i].lines, l)
	}
	if len(chains[0].lines) == 0 { // a file of a sub-agent alone
		chains = chains[1:]
	}
	return chains
}

// claudeRoot follows the parents of a line to the first that is known, over the seams of
// compactions too if seams says so.
func claudeRoot(l *claudeLine, byUUID map[string]*claudeLine, seams bool) *claudeLine {
	for range len(byUUID) { // a chain that closes on itself ends here too
		id := l.parent
		if seams {
			id = cmp.Or(id, l.logicalParent)
		}
		parent := byUUID[id]
		if parent == nil || id == "" {
			break
		}
		l = parent
	}
	return l
}

// activeLines returns the lines with messages that are part of the conversation
// in the end, by time, and how many were left out as taken back.
//
// The last line of each tree leads back to its root; that path counts. So do
// lines of the same model responses, and results of calls on the path: of
// parallel calls all but one result hang beside it.
func activeLines(lines []*claudeLine) (active []*claudeLine, abandoned int) {
	byUUID := map[string]*claudeLine{}
	linked := false
	for _, l := range lines {
		byUUID[l.uuid] = l
		linked = linked || l.hasParent && l.parent != ""
	}
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b *claudeLine) int {
		return cmp.Or(cmp.Compare(string(a.timestamp), string(b.timestamp)), cmp.Compare(a.order, b.order))
	})
	if !linked {
		for _, l := range lines {
			if l.message != nil {
				active = append(active, l)
			}
		}
		return active, 0
	}
	on := map[*claudeLine]bool{}
	last := map[*claudeLine]*claudeLine{} // the last line of the tree of a root
	var roots []*claudeLine
	for _, l := range sorted {
		if l.message == nil {
			continue
		}
		root := claudeRoot(l, byUUID, true)
		if last[root] == nil {
			roots = append(roots, root)
		}
		last[root] = l
	}
	for _, root := range roots {
		l := last[root]
		for range len(lines) + 1 {
			on[l] = true
			next, ok := byUUID[cmp.Or(l.parent, l.logicalParent)]
			if !ok {
				break
			}
			l = next
		}
	}
	widenActive(sorted, on)
	for _, l := range sorted {
		switch {
		case l.message == nil:
		case on[l]:
			active = append(active, l)
		default:
			abandoned++
		}
	}
	return active, abandoned
}

// widenActive adds lines of responses that are on the path, and results of their
// calls.
func widenActive(sorted []*claudeLine, on map[*claudeLine]bool) {
	responses := map[string]bool{}
	for _, l := range sorted {
		if on[l] && l.kind == "assistant" {
			responses[responseID(l)] = true
		}
	}
	calls := map[string]bool{}
	for _, l := range sorted {
		if l.kind != "assistant" || l.message == nil {
			continue
		}
		if on[l] || responses[responseID(l)] {
			on[l] = true
			for _, id := range blockIDs(l.message, "id") {
				calls[id] = true
			}
		}
	}
	for _, l := range sorted {
		if l.kind != "user" || l.message == nil || on[l] {
			continue
		}
		for _, id := range blockIDs(l.message, "tool_use_id") {
			if calls[id] {
				on[l] = true
				break
			}
		}
	}
}
