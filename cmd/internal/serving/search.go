package serving

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/gateway/compiled"
	"github.com/awo-dev/awo/toolgraph"
	"github.com/awo-dev/awo/toolgraph/catalog"
	"github.com/awo-dev/awo/toolgraph/toolrank"
)

// searcher finds tools by words and, if there is one, by a ranker that learned from
// tasks. It is a compiled.Searcher.
type searcher struct{ ranker *toolrank.Ranker }

// newSearcher reads the ranker in a file, none if there is no file.
func newSearcher(file string) (*searcher, error) {
	if file == "" {
		return &searcher{}, nil
	}
	data, err := cli.ReadSmall(file)
	if err != nil {
		return nil, cli.FileProblem(file, err)
	}
	r, err := toolrank.Decode(file, data)
	return &searcher{r}, err
}

// What an answer has: tools that fit, and others that these need first.
const (
	mostFound = 5
	mostFirst = 3
)

// Index implements compiled.Searcher. Tools that the ranker knows stand where it puts them,
// others where their words do.
//
// Note: adding both orders up (reciprocal ranks) finds less than the ranker alone.
func (s *searcher) Index(definitions []json.RawMessage, traced func(name string) (shown string)) func(query string) compiled.Hits {
	list, err := json.Marshal(map[string]any{"tools": definitions})
	if err != nil {
		return func(string) compiled.Hits { return compiled.Hits{} } // a definition is not JSON
	}
	tools, _ := catalog.Parse("tools", list) // what cannot be read cannot be found
	c, _ := catalog.New(tools)
	g := toolgraph.Build(toolgraph.Input{Catalog: c, NoEvaluation: true})
	retriever := toolgraph.NewRetriever(toolgraph.NewNavigator(g))
	return func(query string) (out compiled.Hits) {
		places := map[string]int{}
		for place, f := range retriever.Match(query) {
			places[g.Tools[f.Tool].Name] = place
		}
		if s.ranker != nil {
			for place, r := range s.ranker.Rank(query) {
				if name := traced(r.Tool); name != "" {
					places[name] = place // words are among what it goes by
				}
			}
		}
		out.Found = slices.SortedFunc(maps.Keys(places), func(a, b string) int { return cmp.Or(cmp.Compare(places[a], places[b]), cmp.Compare(a, b)) })
		out.Found = out.Found[:min(mostFound, len(out.Found))]
		for _, f := range retriever.Needed(query, nil) {
			if name := g.Tools[f.Tool].Name; len(out.First) < mostFirst && !slices.Contains(out.Found, name) {
				out.First = append(out.First, name)
			}
		}
		return out
	}
}
