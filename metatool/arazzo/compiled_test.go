package arazzo_test

import (
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/rules"
)

// compiledSets are traces from which meta-tools come, recorded ones beside the
// project.
var compiledSets = []struct{ traces, rules string }{
	{"../../testdata/office/trajectories.jsonl.gz", "../../testdata/office/rules.yaml"},
	{"../../../shared/data/tau2/airline_azure-gpt-4o.json", "../../../shared/oracle/airline.rules.json"},
	{"../../../shared/data/tau2/airline_gpt-oss-120b.json", "../../../shared/oracle/airline.rules.json"},
	{"../../../shared/data/taubench/gpt-4o-airline.json", "../../../shared/oracle/airline.rules.json"},
	{"../../../shared/data/tau2/retail_gpt-4.1.json", ""},
	{"../../../shared/data/tau2/retail_toolorchestra-gpt-5.json", ""},
}

// TestCompiled: what is made of real traces keeps to the schema of the Arazzo
// Initiative, and is read back as it was.
func TestCompiled(t *testing.T) {
	schema := arazzoSchema(t)
	if schema == nil {
		t.Skip("the schema of Arazzo 1.1 is not here")
	}
	for _, in := range compiledSets {
		for _, algorithm := range []compile.Algorithm{compile.AWO, compile.Patterns} {
			t.Run(filepath.Base(in.traces)+"/"+string(algorithm), func(t *testing.T) {
				offered := compiled(t, in.traces, in.rules, algorithm)
				t.Logf("%d meta-tools", len(offered))
				if len(offered) == 0 {
					return // then there is no file
				}
				src := arazzo.Append(nil, offered)
				if err := schema.Validate(jsonOf(t, src)); err != nil {
					t.Error(err)
				}
				read, err := arazzo.Parse(arazzo.File, src)
				if err != nil {
					t.Fatal(err)
				}
				if diff := equal(offered, read); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// compiled returns the meta-tools that are offered for traces.
func compiled(t *testing.T, traces, ruleFile string, algorithm compile.Algorithm) []*metatool.Tool {
	t.Helper()
	list := recordings.Read(t, traces)
	var set *rules.Set
	if ruleFile != "" {
		set = recordings.Rules(t, ruleFile)
	}
	c := compile.Run(corpus.Filled(list, corpus.Options{Rules: set}), set, compile.Options{Algorithm: algorithm})
	var offered []*metatool.Tool
	for _, d := range c.Definitions {
		if d.Refusals == nil {
			offered = append(offered, &d.Tool)
		}
	}
	return offered
}
