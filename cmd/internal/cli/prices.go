package cli

import (
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/diag"
)

// PriceOptions say what tokens cost. Every command that counts money has them.
type PriceOptions struct {
	Prices  string `mapstructure:"prices"`
	Caching string `mapstructure:"caching"`
}

// AddPrices adds the flags of PriceOptions.
func AddPrices(f *pflag.FlagSet) {
	f.String("prices", "", "price table in this YAML `FILE`; it goes before the prices that awo brings along")
	f.Var(NewChoice("recorded", "on", "off"), "caching", "which input is read from a prompt cache: what is recorded; on: all that the turn before sent; off: none")
}

// Meter returns a Meter with the prices and the caching asked for.
func (j *Job) Meter(o PriceOptions) (*cost.Meter, error) {
	table := cost.Default()
	if o.Prices != "" {
		src, err := j.ReadAs("prices", o.Prices)
		if err != nil {
			return nil, diag.List{FileProblem(o.Prices, err)}
		}
		own, err := cost.ParseTable(o.Prices, src)
		if err != nil {
			return nil, err
		}
		table = own.With(table)
	}
	caching := map[string]cost.Caching{"recorded": cost.CachingRecorded, "on": cost.CachingOn, "off": cost.CachingOff}
	return cost.NewMeter(cost.Options{Prices: table, Caching: caching[o.Caching]}), nil
}
