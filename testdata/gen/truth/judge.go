package truth

// Claim is what somebody says about the source of an argument. The place must
// hold a value equal to the argument's, or, for a template, one that is in it.
type Claim struct {
	From string // Result, Task, User or Model ("not known before"), or Argument
	Call int    // Result, Argument: the earlier call
	Path string // Result, Argument: where in its result or arguments; indices may be given or left out as []
}

// Argument is the value of Claim.From for an argument of an earlier call.
const Argument = "argument"

// Judge reports whether a claim about the argument arg of the call is right:
// whether the place holds the same fact, and not only the same value. It is
// false for an argument or a call that does not exist.
func (t *Trajectory) Judge(call int, arg string, c Claim) bool {
	if call < 0 || call >= len(t.Calls) {
		return false
	}
	s, ok := t.Calls[call].Args[arg]
	if !ok {
		return false
	}
	switch c.From {
	case Model, Constant:
		return s.From == Model || s.From == Constant
	case Task, User:
		return s.From == Task || s.From == User || s.Told || s.fromParts(func(p Source) bool { return p.From == Task || p.From == User })
	case Result:
		return s.holds(c) || s.fromParts(func(p Source) bool { return p.holds(c) })
	case Argument:
		return t.sameArgument(s, c)
	}
	return false
}

// holds reports whether a result that has the value shows the fact.
func (s Source) holds(c Claim) bool {
	if s.From == Model || s.From == Constant || s.From == Template {
		return false
	}
	for _, p := range s.Not {
		if p.Call == c.Call && p.Path == pattern(c.Path) {
			return false
		}
	}
	return true
}

func (s Source) fromParts(right func(Source) bool) bool {
	for _, p := range s.Parts {
		if p.Source != nil && right(*p.Source) {
			return true
		}
	}
	return false
}

// sameArgument reports whether an earlier argument has the value from the same
// place: the same kind of place, and the same call and path if it is a result.
// A value without lookalikes is the same fact wherever it was used.
func (t *Trajectory) sameArgument(s Source, c Claim) bool {
	if c.Call < 0 || c.Call >= len(t.Calls) {
		return false
	}
	for path, earlier := range t.Calls[c.Call].Args {
		if path != c.Path && pattern(path) != pattern(c.Path) {
			continue
		}
		switch {
		case earlier.From != s.From:
			return s.From != Model && s.From != Constant && earlier.From != Model && earlier.From != Constant && len(s.Not) == 0
		case s.From == Result:
			return len(s.Not) == 0 || earlier.Call == s.Call && earlier.Path == s.Path
		}
		return true
	}
	return false
}

// pattern returns a path with [] for every index.
func pattern(path string) string {
	b := make([]byte, 0, len(path))
	inside := false
	for i := range len(path) {
		if path[i] == ']' {
			inside = false
		}
		if !inside {
			b = append(b, path[i])
		}
		if path[i] == '[' {
			inside = true
		}
	}
	return string(b)
}
