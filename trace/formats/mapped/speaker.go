package mapped

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// who returns who speaks in an event: the map says it by the role, else a usual role or a call does.
func (r *reading) who(m *rule, e []byte) speaker {
	if m.at[fRole] != nil {
		role := r.text(m.at[fRole], e)
		if m.at[fRole][0].constant != nil {
			return speakerNames[role]
		}
		if who, ok := m.roles[role]; ok {
			return who
		}
		if who, ok := m.roles["*"]; ok { // any other
			return who
		}
		if who := guess(role); who != speakerUnknown {
			return who
		}
	}
	switch {
	case m.at[fCalls] == nil && r.first(m.at[fTool], e) != nil, m.at[fCalls] != nil && len(r.all(m.at[fCalls], e)) > 0:
		return speakerModel
	case m.at[fMessages] != nil:
		return speakerNobody
	}
	return speakerUnknown
}

// usualRoles are words in the names of roles, the more telling first.
var usualRoles = []struct {
	who   speaker
	words []string
}{
	{speakerTool, []string{"result", "results", "observation", "response", "output", "environment", "env"}},
	{speakerModel, []string{"assistant", "agent", "model", "bot", "gpt", "llm", "ai", "call", "action", "invocation"}},
	{speakerUser, []string{"user", "human", "customer", "client", "question"}},
	{speakerSystem, []string{"system", "developer", "instruction", "instructions"}},
	{speakerTool, []string{"tool", "function"}},
}

// guess returns whose an event with a role is, by the words in it. A response that is
// the model's and not a tool's says so.
func guess(role string) speaker {
	found := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(camel.ReplaceAllString(role, "${1}_${2}")), func(r rune) bool { return !unicode.IsLetter(r) }) {
		found[word] = true
	}
	if (found["response"] || found["output"]) && (found["assistant"] || found["model"] || found["agent"] || found["llm"] || found["ai"] || found["bot"]) {
		return speakerModel
	}
	for _, usual := range usualRoles {
		if slices.ContainsFunc(usual.words, func(word string) bool { return found[word] }) {
			return usual.who
		}
	}
	return speakerUnknown
}

// camel is where a word begins inside of a name.
var camel = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
