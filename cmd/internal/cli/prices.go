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
	AddPriceTable(f)
	f.Var(NewChoice("recorded", "on", "off"), "caching", "which input is read from a prompt cache: what is recorded; on: all that the turn before sent; off: none")
}

// AddPriceTable adds the flag of [Job.PriceTable].
func AddPriceTable(f *pflag.FlagSet) {
	f.String("prices", "", "price table in this YAML `FILE`; it goes before the prices that awo brings along")
}

// PriceTable returns the prices that awo brings along, behind those of a file if it is
// given.
func (j *Job) PriceTable(file string) (*cost.Table, error) {
	if file == "" {
		return cost.Default(), nil
	}
	src, err := j.ReadAs("prices", file)
	if err != nil {
		return nil, diag.List{FileProblem(file, err)}
	}
	own, err := cost.ParseTable(file, src)
	if err != nil {
		return nil, err
	}
	return own.With(cost.Default()), nil
}

// Meter returns a Meter with the prices and the caching asked for.
func (j *Job) Meter(o PriceOptions) (*cost.Meter, error) {
	table, err := j.PriceTable(o.Prices)
	if err != nil {
		return nil, err
	}
	caching := map[string]cost.Caching{"recorded": cost.CachingRecorded, "on": cost.CachingOn, "off": cost.CachingOff}
	return cost.NewMeter(cost.Options{Prices: table, Caching: caching[o.Caching]}), nil
}
