package toolgraph

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/lexical"
)

var (
	readVerbs  = strings.Fields("get list search find fetch read show view retrieve lookup query check count describe inspect")
	writeVerbs = strings.Fields("add insert create post put patch delete remove update set modify change edit send cancel book buy pay make run execute start stop submit write save transfer reset drop")
)

func readsByName(name string) bool {
	w := lexical.Words(name)
	return len(w) > 0 && slices.Contains(readVerbs, w[0])
}

func writesByName(name string) bool {
	w := lexical.Words(name)
	return len(w) > 0 && slices.Contains(writeVerbs, w[0])
}
