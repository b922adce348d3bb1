package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/trace"
)

// Registrable is a tool whose definition is handed out when it is registered.
type Registrable struct {
	Name        string
	Description string
	Input       trace.Raw // JSON Schema of the arguments, as recorded
	Tokens      int64     // of the whole definition
	NameTokens  int64
}

// Registry makes the files of lazy registration (EcoAct, section 2.2): the
// definition of the tool that registers others, the names of tools, a file with the
// definition of each, and what a prompt says about them. Files stand in the order of tools; Registry returns
// the names of the definition files in that order too. A schema that is no JSON is
// left out of its definition.
func Registry(tools []Registrable) (files []File, definitions []string, err error) {
	add := func(name string, v any) error {
		f, err := jsonFile(name, v)
		files = append(files, f)
		return err
	}
	register := functionJSON{Name: cost.RegisterName, Description: cost.RegisterDescription, Parameters: json.RawMessage(cost.RegisterSchema)}
	if err := add(cost.RegisterName+".json", register); err != nil {
		return nil, nil, err
	}
	names, taken := toolNamesJSON{Schema: "awo.tool-names/v1", Register: cost.RegisterName, Tools: []toolNameJSON{}}, map[string]bool{}
	for _, t := range tools {
		file := "definitions/" + definitionFile(t.Name, taken) + ".json"
		definitions = append(definitions, file)
		names.Tools = append(names.Tools, toolNameJSON{t.Name, file, t.NameTokens, t.Tokens})
	}
	if err := add("names.json", names); err != nil {
		return nil, nil, err
	}
	for i, t := range tools {
		f := functionJSON{Name: t.Name, Description: t.Description}
		if schema, err := trace.ParseValue([]byte(t.Input.Text())); err == nil && !t.Input.IsZero() {
			f.Parameters = schema.AppendCanonical(nil)
		}
		if err := add(definitions[i], f); err != nil {
			return nil, nil, err
		}
	}
	return append(files, File{Name: "prompt.md", Data: registerPrompt(tools)}), definitions, nil
}

type toolNamesJSON struct {
	Schema   string         `json:"schema"`
	Register string         `json:"register"`
	Tools    []toolNameJSON `json:"tools"`
}

type toolNameJSON struct {
	Name       string `json:"name"`
	File       string `json:"file"`
	NameTokens int64  `json:"name_tokens"` // o200k
	Tokens     int64  `json:"definition_tokens"`
}

// functionJSON is a definition as the chat interfaces take it.
type functionJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// definitionFile returns a name for the file of a tool that every file system
// takes and no other tool has, whatever the tool is called.
func definitionFile(tool string, taken map[string]bool) string {
	stem := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-':
			return r
		}
		return '_'
	}, tool)
	stem = stem[:min(len(stem), 80)]
	if stem == "" || reserved[strings.ToLower(stem)] {
		stem = "tool_" + stem
	}
	name := stem
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s-%d", stem, n)
	}
	taken[strings.ToLower(name)] = true
	return name
}

// registerPrompt is what a system prompt needs to say about tools that are registered on
// demand (EcoAct, table 5).
func registerPrompt(tools []Registrable) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `You begin without the definitions of your tools. Below are the names of all of them.

- Before you use a tool for the first time, call %s with its name. You are then given its
  definition, and can call it in every later turn.
- Register what the next step needs, one tool at a time. Every definition is read again in
  each turn, so a tool that you do not use costs something until the end.
- If a tool turns out not to be what its name promised, register another and go on.
- Where no tool is needed, answer.

Tools:
`, cost.RegisterName)
	for _, t := range tools {
		fmt.Fprintf(&b, "- %s\n", strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, t.Name))
	}
	return b.Bytes()
}
