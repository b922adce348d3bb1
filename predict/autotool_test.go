package predict

import (
	"math"
	"testing"
)

func candidate(t *testing.T, m *Model, tool string, calls ...string) Candidate {
	t.Helper()
	for _, c := range m.Candidates(names(calls...), DefaultAlpha, nil) {
		if m.tools[c.Symbol].Name.Value() == tool {
			return c
		}
	}
	return Candidate{}
}

// Three trajectories go a, b, c and one goes a, b, d: W = 4, and by hand
// 1 - 1.1^-4 = 1 - 1/1.4641 = 0.316986544...
func TestICSByHand(t *testing.T) {
	m := graphOf(3,
		trajectoryOf("1", "a", "b", "c"), trajectoryOf("2", "a", "b", "c"),
		trajectoryOf("3", "a", "b", "c", "."), trajectoryOf("4", "x", "a", "b", "d"),
	).Model(ModelOptions{})
	factor := 1 - 1/1.4641
	near(t, "ICS of c", candidate(t, m, "c", "a", "b").ICS, 0.75*factor)
	near(t, "ICS of d", candidate(t, m, "d", "a", "b").ICS, 0.25*factor)
	near(t, "CIPS of c without a thought", candidate(t, m, "c", "a", "b").CIPS, 0.5*0.75*factor)
	near(t, "CIPS", CIPS(0.2, 0.6, 0.25), 0.75*0.2+0.25*0.6)
	if found := m.Candidates(names("b"), DefaultAlpha, nil); found != nil {
		t.Errorf("one call gives candidates: %v", found)
	}
}

// What goes wrong in the published program, each as a test of ours.
func TestTrapsOfThePublishedProgram(t *testing.T) {
	t.Run("a new path that failed", func(t *testing.T) {
		m := graphOf(3, trajectoryOf("1", "a", "b", "c!")).Model(ModelOptions{})
		c := candidate(t, m, "c", "a", "b")
		near(t, "weight", c.Weight, 0)
		near(t, "ICS", c.ICS, 0)
	})
	t.Run("total 0", func(t *testing.T) {
		near(t, "ICS of nothing", ICS(0, 0), 0)
		m := graphOf(3, trajectoryOf("1", "a", "b", "c!", "x", "a", "b", "d!")).Model(ModelOptions{})
		for _, c := range m.Candidates(names("a", "b"), DefaultAlpha, nil) {
			if c.CIPS != 0 {
				t.Errorf("a candidate that has only failed scores %g", c.CIPS)
			}
		}
	})
	t.Run("mixed signs", func(t *testing.T) {
		// c was right twice, d failed once: one signed sum would be 1, and the
		// share of c would be 2.
		m := graphOf(3,
			trajectoryOf("1", "a", "b", "c"), trajectoryOf("2", "a", "b", "c"), trajectoryOf("3", "a", "b", "d!"),
		).Model(ModelOptions{})
		near(t, "ICS of c", candidate(t, m, "c", "a", "b").ICS, 1-math.Pow(1.1, -2))
		near(t, "ICS of d", candidate(t, m, "d", "a", "b").ICS, 0)
	})
	t.Run("success and failure of one path", func(t *testing.T) {
		m := graphOf(3,
			trajectoryOf("1", "a", "b", "c"), trajectoryOf("2", "a", "b", "c!"), trajectoryOf("3", "a", "b", "c"),
		).Model(ModelOptions{})
		near(t, "weight", candidate(t, m, "c", "a", "b").Weight, 1)
	})
	t.Run("second occurrence of the window", func(t *testing.T) {
		m := graphOf(3, trajectoryOf("1", "a", "b", "c", "a", "b", "d")).Model(ModelOptions{})
		factor := 1 - math.Pow(1.1, -2)
		near(t, "ICS of c", candidate(t, m, "c", "a", "b").ICS, factor/2)
		near(t, "ICS of d", candidate(t, m, "d", "a", "b").ICS, factor/2)
	})
	t.Run("windows across tasks", func(t *testing.T) {
		m := graphOf(3, trajectoryOf("1", "x", "a"), trajectoryOf("2", "b", "c")).Model(ModelOptions{})
		if found := m.Candidates(names("a", "b"), DefaultAlpha, nil); len(found) != 0 {
			t.Errorf("a window spans two trajectories: %v", found)
		}
	})
	t.Run("the window with a gap", func(t *testing.T) {
		m := graphOf(3, trajectoryOf("1", "a", "x", "b", "c")).Model(ModelOptions{})
		if found := m.Candidates(names("a", "b"), DefaultAlpha, nil); len(found) != 0 {
			t.Errorf("a window with a gap counts: %v", found)
		}
	})
}

// States, messages and parallel calls do not hide a window.
func TestCandidatesSumStates(t *testing.T) {
	m := graphOf(3,
		trajectoryOf("1", ">hello", "a", "b", ">go on", "c"), trajectoryOf("2", "a", "b!", "c"),
		trajectoryOf("3", "a", "b+c"), trajectoryOf("4", "a", "b", "c"),
	).Model(ModelOptions{})
	near(t, "weight", candidate(t, m, "c", "a", "b").Weight, 4)
}

// BM25 by hand: two documents of two words, the query holds a word of the first.
// idf = ln(1 + (2-1+0.5)/(1+0.5)) = ln 2, the length is the mean, so the factor is
// 2.2/2.2 = 1.
func TestLexicalByHand(t *testing.T) {
	g := NewGraph(2)
	g.Define(ToolInfo{Name: trace1("find_user")})
	g.Define(ToolInfo{Name: trace1("sendMail")})
	m := g.Model(ModelOptions{})
	l := NewLexical(m)
	near(t, "score", l.Score("I must find somebody", m.Symbol(trace1("find_user"))), math.Ln2/(math.Ln2+1))
	near(t, "another tool", l.Score("I must find somebody", m.Symbol(trace1("sendMail"))), 0)
	near(t, "a name in camel case", l.Score("mail", m.Symbol(trace1("sendMail"))), math.Ln2/(math.Ln2+1))
	near(t, "no thought", l.Score("", m.Symbol(trace1("find_user"))), 0)
}
