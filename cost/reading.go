package cost

// Reading returns what it costs to have tokens more in the context from turn first to
// turn last, both included, without those that are removed (in rising order): the first
// turn that reads them pays the full price, or writes them to its cache where it writes,
// and a later one reads them from the cache where it has one. A context that shrinks was
// rebuilt, and holds them no longer.
func (a *Account) Reading(tokens int64, first, last int, removed []int) Totals {
	var sum Totals
	known := false
	for i := max(first, 0); i <= last && i < len(a.Turns); i++ {
		t := &a.Turns[i]
		if known && t.Input < a.Turns[i-1].Input {
			break
		}
		for len(removed) > 0 && removed[0] < i {
			removed = removed[1:]
		}
		if len(removed) > 0 && removed[0] == i {
			continue
		}
		one := Totals{Input: tokens}
		switch {
		case known && t.Cached > 0:
			one.Cached = tokens
		case t.Write > 0:
			one.Write = tokens
		}
		if p := a.Price(i); p != nil {
			one.USD = p.USD(one.Fresh(), one.Cached, one.Write, 0) + p.forAnHour(float64(one.Write)*float64(t.Hour))
		}
		sum.Add(one)
		known = true
	}
	return sum
}

// Writing returns what tokens cost that a turn says beyond what was recorded, and that the
// turns behind it read, but for those that are removed.
func (a *Account) Writing(tokens int64, turn int, removed []int) Totals {
	if turn < 0 || turn >= len(a.Turns) {
		return Totals{}
	}
	sum := Totals{Output: tokens}
	if p := a.Price(turn); p != nil {
		sum.USD = p.USD(0, 0, 0, tokens)
	}
	sum.Add(a.Reading(tokens, turn+1, len(a.Turns)-1, removed))
	return sum
}
