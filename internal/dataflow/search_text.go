package dataflow

// readText looks for the words of wants in a text.
func (c *collection) readText(text string, slot int32) {
	if c.isKnowing && len(c.lengths) == 0 {
		c.tokens = c.tokens[:0]
		return
	}
	c.tokens = appendTokens(c.tokens[:0], text)
	tokens := c.tokens
	// A value of one word is no text, only perhaps the same word in other case.
	seenOnly := c.source.seenOnly || !c.source.side.text() && len(tokens) == 1 && tokens[0].len() == len(text)
	if !seenOnly && !c.isKnowing {
		for _, t := range tokens {
			c.keep(&c.words, &c.flow.words, slot, t.hash)
		}
	}
	if len(c.lengths) == 0 {
		return
	}
	c.prefixes = appendPrefixHashes(c.prefixes[:0], tokens)
	for _, n := range c.lengths {
		if n > len(tokens) {
			break
		}
		power := c.power(n)
		for i := 0; i+n <= len(tokens); i++ {
			h := c.prefixes[i+n] - c.prefixes[i]*power
			for w := c.phrases.Find(h); w >= 0; w = c.wants[w].nextPhrase {
				c.matchText(w, text, tokens[i], slot, seenOnly)
			}
		}
	}
}

// power returns tokenBase^n.
func (c *collection) power(n int) uint64 {
	if len(c.powers) == 0 {
		c.powers = append(c.powers, 1)
	}
	for len(c.powers) <= n {
		c.powers = append(c.powers, c.powers[len(c.powers)-1]*tokenBase)
	}
	return c.powers[n]
}

// matchText notes a want whose first word stands at a word of a text, if the
// text agrees. seenOnly says that the text is no source.
func (c *collection) matchText(w int32, text string, at token, slot int32, seenOnly bool) {
	want := &c.wants[w]
	first, last := want.phrase[0], want.phrase[len(want.phrase)-1]
	start := int(at.start - first.start)
	end := start + len(want.text)
	if len(want.text) < minText && (seenOnly || !c.source.side.text() || !standsAlone(text, start, end)) {
		return
	}
	relation := Substring
	if start < 0 || end > len(text) || text[start:end] != want.text {
		size, ok := matchFolded(text[at.start:], want.text[first.start:last.end])
		if !ok {
			return
		}
		relation, start, end = Folded, int(at.start), int(at.start)+size
	} else if end-start == len(text) && !c.source.side.text() {
		return // an equal value, which was found as such
	}
	if seenOnly {
		c.see(w)
		return
	}
	c.note(w, found{
		slot: slot, relation: relation, levels: [2]int32{-1, -1},
		before: tail(text[:start], maxAround), after: head(text[end:], maxAround),
	})
}

// maxAround is how many bytes of text around a match are kept.
const maxAround = 32

func tail(s string, n int) string { return s[max(0, len(s)-n):] }
func head(s string, n int) string { return s[:min(len(s), n)] }
