// Command awo compiles recorded trajectories of agents into statistics, merged
// state graphs and meta-tools.
package main

import (
	"os"

	"github.com/awo-dev/awo/cmd"
)

func main() { os.Exit(cmd.Main()) }
