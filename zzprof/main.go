package main

import (
	"os"
	"runtime/pprof"

	"github.com/awo-dev/awo/cmd"
)

func main() {
	if p := os.Getenv("MEMP"); p != "" {
		defer func() { f, _ := os.Create(p); pprof.Lookup("allocs").WriteTo(f, 0); f.Close() }()
	}
	f, _ := os.Create(os.Getenv("PROF"))
	pprof.StartCPUProfile(f)
	c := cmd.Main()
	pprof.StopCPUProfile()
	_ = c
}
