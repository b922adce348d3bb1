package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/golden"
	"github.com/awo-dev/awo/internal/report"
)

// printed are commands on the bundled traces that print every figure and table there is.
// $TOOLS, $SNAPSHOT and $SERVERS are made once, $WORK is a folder of the command's own.
var printed = []string{
	"formats",
	"help config analyze",
	"formats --where",
	"inspect office/trajectories.jsonl.gz",
	"show office/trajectories.jsonl.gz run-000003 --rules office/rules.yaml",
	"show office/trajectories.jsonl.gz --find status==\"failed\"",
	"show office/trajectories.jsonl.gz --sample 20",
	"graph office/trajectories.jsonl.gz --sample 60 --rules office/rules.yaml",
	"convert office/trajectories.jsonl.gz --out $WORK/all.jsonl",
	"tools graph office/trajectories.jsonl.gz --sample 60",
	"tools graph office/trajectories.jsonl.gz --sample 30 --out $WORK/a && tools graph office/trajectories.jsonl.gz --sample 60 --diff $WORK/a/graph.json",
	"tools graph office/trajectories.jsonl.gz --sample 30 --out $WORK/a && tools graph office/trajectories.jsonl.gz --add-to $WORK/a/graph.json",
	"tools graph --catalog shop/tools.json --out $WORK/w && tools graph --check $WORK/w/graph.json --catalog shop/tools.json",
	"tools path mail_send office/trajectories.jsonl.gz --sample 60",
	"tools path mail_list office/trajectories.jsonl.gz --sample 60 --substitutes",
	"tools path --recover shop/path.json --failed find_customer --catalog shop/tools.json --task mail",
	"tools subset office/trajectories.jsonl.gz --sample 60 --folds 2",
	"tools subset office/trajectories.jsonl.gz --sample 60 --folds 2 --out $WORK/s && tools subset --from $WORK/s/subset.json --task mail",
	"replay office/trajectories.jsonl.gz --rules office/rules.yaml --sample 60 --kfold 3",
	"snapshot build office/trajectories.jsonl.gz --sample 60 --rules office/rules.yaml --out $WORK/inertia.awo",
	"snapshot show $SNAPSHOT",
	"predict $SNAPSHOT --fire any <one.jsonl",
	"rules check office/rules.yaml",
	"rules check office/rules.yaml office/trajectories.jsonl.gz",
	"rules check office/rules.yaml office/trajectories.jsonl.gz --explain run-000003 --call 2",
	"rules check office/wrong/ids-erased.yaml office/trajectories.jsonl.gz --diff office/rules.yaml --sample 60",
	"rules test office/rules.yaml office/cases.yaml",
	"rules verify office/rules.yaml office/trajectories.jsonl.gz --min-tested 0",
	"rules suggest office/trajectories.jsonl.gz --sample 60",
	"rules discover office/trajectories.jsonl.gz --sample 60 --command cat --rounds 1",
	"analyze office/trajectories.jsonl.gz --sample 100 --by model --sources",
	"analyze office/trajectories.jsonl.gz --rules office/rules.yaml",
	"summarize office/trajectories.jsonl.gz --out $WORK/part.awosum && analyze $WORK/part.awosum",
	"summarize office/trajectories.jsonl.gz --out $WORK/part.awosum",
	"report office/trajectories.jsonl.gz --rules office/rules.yaml --sample 60",
	"summary office/trajectories.jsonl.gz",
	"sessions",
	"sessions --agent openhands",
	"findings office/trajectories.jsonl.gz --rules office/rules.yaml",
	"cost office/trajectories.jsonl.gz --sample 100 --lazy --by project",
	"cost office/trajectories.jsonl.gz --by week --budget 9USD/week",
	"summarize office/trajectories.jsonl.gz --out $WORK/part.awosum && cost $WORK/part.awosum",
	"register office/trajectories.jsonl.gz --out $WORK/register",
	"compare office/trajectories.jsonl.gz office/trajectories.jsonl.gz --sample 60",
	"compare served/recordings.jsonl --look",
	"serve --servers $SERVERS --check",
	"extract office/trajectories.jsonl.gz --sample 60 --threshold 5 --rules office/rules.yaml --out $WORK/tools",
	"extract office/trajectories.jsonl.gz --sample 60 --rules office/rules.yaml --check $TOOLS",
	"extract office/trajectories.jsonl.gz --sample 60 --rules office/rules.yaml --threshold 12 --out $WORK/fewer && diff $TOOLS $WORK/fewer",
	"run $TOOLS#tickets_login_then_tickets_get --input {\"username\":\"ana\",\"password\":\"none\",\"ticket_id\":\"1\"} --recordings office/trajectories.jsonl.gz --trajectory run-000003",
	"backtest office/trajectories.jsonl.gz --rules office/rules.yaml --sample 60",
	"why $TOOLS",
	"why $TOOLS mail_read mail_send office/trajectories.jsonl.gz --sample 60 --rules office/rules.yaml",
	"verify $TOOLS office/trajectories.jsonl.gz --sample 60 --rules office/rules.yaml --min-agreement 0.5",
	"version",
}

// form is what the results of a command are made of.
type form struct {
	figures []reflect.Type
	tables  map[string][]reflect.Type // the types of their rows; nil for rows of cells
	columns map[string][]string       // of rows of cells
}

// TestResults holds the JSON of every command to docs/schemas/awo.v2.schema.json, that to the Go
// types, and the names in docs/artefacts.md to both. AWO_UPDATE=1 rewrites schema and names.
func TestResults(t *testing.T) {
	names := artefacts(t)
	homeOfAgents(t)
	t.Chdir(filepath.Join("..", "testdata"))
	forms, outputs := map[string]*form{}, make([][]byte, len(printed))
	for i, line := range printed {
		var d *report.Document
		for part := range strings.SplitSeq(strings.ReplaceAll(names.Replace(line), "$WORK", t.TempDir()), "&&") {
			d, outputs[i] = result(t, part)
		}
		f := forms[d.Command]
		if f == nil {
			f = &form{tables: map[string][]reflect.Type{}, columns: map[string][]string{}}
			forms[d.Command] = f
		}
		f.add(t, d)
	}
	schema := resultSchema(t, forms)
	recorded(t, filepath.Join("..", "docs", "schemas", "awo.v2.schema.json"), schema)
	for i, line := range printed {
		t.Run(line, func(t *testing.T) { validate(t, schema, outputs[i]) })
	}
	page := filepath.Join("..", "docs", "artefacts.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- names -->\n", "<!-- /names -->\n"
	before, rest, _ := strings.Cut(string(text), begin)
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("%s has no place for the names", page)
	}
	recorded(t, page, []byte(before+begin+nameTable(forms)+end+after))
}

// recorded holds a file to what it should be, or rewrites it.
func recorded(t *testing.T, file string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(got, want):
	case !golden.Update():
		t.Errorf("%s is not what the code gives; AWO_UPDATE=1 accepts the change", file)
	default:
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// result runs a command in this process and returns what it printed.
func result(t *testing.T, line string) (*report.Document, []byte) {
	t.Helper()
	line, fromInput := strings.CutSuffix(line, " <one.jsonl")
	var out, complaint bytes.Buffer
	a := &cli.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &complaint}
	if fromInput {
		a.Stdin = io.Reader(strings.NewReader(oneRequest))
	}
	if code := a.Run(t.Context(), newRoot, append(strings.Fields(line), "--format", "json", "--quiet")); code > cli.ExitProblems || a.Printed == nil {
		t.Fatalf("awo %s: exit status %d\n%s", line, code, &complaint)
	}
	return a.Printed, out.Bytes()
}

// add notes what a result is made of.
func (f *form) add(t *testing.T, d *report.Document) {
	t.Helper()
	if of := reflect.TypeOf(d.Figures); of != nil && !slices.Contains(f.figures, of) {
		f.figures = append(f.figures, of)
	}
	for _, table := range d.DataTables() {
		header := slices.Sorted(slices.Values(table.Header()))
		if len(slices.Compact(slices.Clone(header))) < len(header) {
			t.Errorf("awo %s: two columns of the table %s have one name: %s", d.Command, table.ID, header)
		}
		if of := table.Of(); !slices.Contains(f.tables[table.ID], of) {
			f.tables[table.ID] = append(f.tables[table.ID], of)
		}
		if table.Of() == nil {
			f.columns[table.ID] = table.Header()
		}
	}
}

// resultSchema returns the JSON Schema of all results.
func resultSchema(t *testing.T, forms map[string]*form) []byte {
	t.Helper()
	texts := func(members ...string) *jsonschema.Schema {
		s := &jsonschema.Schema{Type: "object", Required: members, Properties: map[string]*jsonschema.Schema{}}
		for _, m := range members {
			s.Properties[m] = &jsonschema.Schema{Type: "string"}
		}
		return &jsonschema.Schema{Type: "array", Items: s}
	}
	list := func(rows *jsonschema.Schema) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", Required: []string{"rows"}, Properties: map[string]*jsonschema.Schema{"rows": {Type: "array", Items: rows}}}
	}
	input := reflect.TypeFor[cli.InputJSON]()
	known := map[reflect.Type]*jsonschema.Schema{input: {Ref: "#/$defs/input"}}
	either := func(types []reflect.Type) *jsonschema.Schema {
		s := &jsonschema.Schema{}
		for _, of := range types {
			if of == nil {
				s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: "object"})
			} else {
				s.AnyOf = append(s.AnyOf, typeSchema(t, of, known))
			}
		}
		if len(s.AnyOf) == 1 {
			return s.AnyOf[0]
		}
		return s
	}
	s := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema", ID: "https://awo.dev/schemas/" + report.Schema, Title: report.Schema,
		Type: "object", Required: []string{"schema", "command", "answer", "figures", "tables", "notes", "next"},
		Properties: map[string]*jsonschema.Schema{
			"schema": {Const: jsonschema.Ptr[any](report.Schema)}, "command": {Type: "string"}, "answer": {Type: "string"}, "figures": {Type: "object"},
			"tables": {Type: "object", AdditionalProperties: list(&jsonschema.Schema{Type: "object"})},
			"notes":  texts("about", "text"), "next": texts("command", "why"),
		},
		Defs: map[string]*jsonschema.Schema{"input": typeSchema(t, input, nil)},
	}
	for _, command := range slices.Sorted(maps.Keys(forms)) {
		f := forms[command]
		tables := &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{}}
		for id, types := range f.tables {
			tables.Properties[id] = list(either(types))
		}
		then := &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"tables": tables}}
		if len(f.figures) > 0 {
			then.Properties["figures"] = either(f.figures)
		}
		s.AllOf = append(s.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"command": {Const: jsonschema.Ptr[any](command)}}},
			Then: then,
		})
	}
	out, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// nameTable returns the members of figures and the tables of each command, in Markdown.
func nameTable(forms map[string]*form) string {
	var b strings.Builder
	b.WriteString("\n| command | member | names |\n|---|---|---|\n")
	known := map[string]string{} // the command that has a table first
	for _, command := range slices.Sorted(maps.Keys(forms)) {
		f := forms[command]
		shown := "`awo " + command + "`"
		row := func(member string, names []string) {
			list := strings.Join(names, ", ")
			if first := known[member+" "+list]; first != "" {
				list = "as of `awo " + first + "`"
			} else {
				known[member+" "+list] = command
			}
			if len(names) > 0 {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", shown, member, list)
				shown = ""
			}
		}
		row("figures", memberNames(f.figures))
		for _, id := range slices.Sorted(maps.Keys(f.tables)) {
			names := memberNames(f.tables[id])
			if slices.Contains(f.tables[id], nil) {
				names = append(names, f.columns[id]...)
			}
			row("tables."+id, names)
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// memberNames returns the names of the members of types, each once.
func memberNames(types []reflect.Type) (names []string) {
	for _, of := range types {
		if of == nil {
			continue
		}
		for of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		for _, field := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if field.IsExported() && name != "" && name != "-" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
