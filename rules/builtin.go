package rules

import (
	"embed"
	"strings"
)

// builtinFiles are the built-in sets.
//
//go:embed builtin/*.yaml
var builtinFiles embed.FS

// schemaSource is the JSON Schema of the rule language.
//
//go:embed schema.json
var schemaSource []byte

// Schema returns the JSON Schema (draft 2020-12) of rule files, for editors. It
// knows fields and types; Check knows more.
func Schema() []byte { return append([]byte(nil), schemaSource...) }

// Builtin is a set of rules that comes with awo. `include: builtin:NAME` uses it.
type Builtin struct {
	Name   string
	Source []byte
}

// Builtins returns the built-in sets, sorted by name.
func Builtins() []Builtin {
	var sets []Builtin
	for _, name := range builtinNames() {
		src, _ := builtinSource(name)
		sets = append(sets, Builtin{Name: name, Source: src})
	}
	return sets
}

// File returns the name that positions in the set have.
func (b Builtin) File() string { return builtinPrefix + b.Name }

func builtinNames() []string {
	entries, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		panic(err) // it is embedded
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}

func builtinSource(name string) ([]byte, bool) {
	if strings.ContainsAny(name, `/\`) {
		return nil, false
	}
	src, err := builtinFiles.ReadFile("builtin/" + name + ".yaml")
	return src, err == nil
}
