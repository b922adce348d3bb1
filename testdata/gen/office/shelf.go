package office

import (
	"sync"

	"github.com/awo-dev/awo/testdata/gen/world"
)

// shelf keeps the offices that were made last: the tasks and trials that are
// under way at one time are about a dozen of them.
type shelf struct {
	seed  uint64
	mutex sync.Mutex
	kept  [32]struct {
		persona int
		office  *world.World // not to be changed
	}
}

// fresh returns a persona's office as it was in the beginning.
func (s *shelf) fresh(persona int) *world.World {
	s.mutex.Lock()
	place := &s.kept[persona%len(s.kept)]
	if place.office == nil || place.persona != persona {
		place.persona, place.office = persona, world.New(s.seed, persona)
	}
	office := place.office
	s.mutex.Unlock()
	return office.Clone()
}
