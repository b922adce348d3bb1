package gateway

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// Unit is what is put into one arm of an experiment as a whole.
type Unit string

// The units.
const (
	UnitSession Unit = "session"
	UnitToken   Unit = "token" // who sends it; over HTTP with tokens
	UnitDay     Unit = "day"   // in UTC
)

// The arms.
const (
	ArmTreated = "treated"
	ArmControl = "control" // the gateway without its layer
)

// Experiment says which sessions get the gateway without its layer. The zero value is
// none.
type Experiment struct {
	Share float64 // of units, from 0 to 1
	Unit  Unit    // "" is UnitSession
	Seed  uint64
}

// arm returns the arm of a unit: that share of the numbers that hashes of seed and unit
// are is control. Who knows the seed can tell it; nobody can choose it.
func (e Experiment) arm(unit string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "awo %d %s %s", e.Seed, e.Unit, unit))
	if e.Share > 0 && (e.Share >= 1 || float64(binary.BigEndian.Uint64(sum[:8]))/(1<<64) < e.Share) {
		return ArmControl
	}
	return ArmTreated
}

// Identified is an Agent that says on whose behalf it speaks.
type Identified interface{ Identity() string }

// assign puts the session into an arm.
func (s *session) assign(now time.Time) {
	e := &s.g.options.Experiment
	switch e.Unit {
	case UnitToken:
		if a, ok := s.agent.(Identified); ok {
			s.unit = a.Identity()
		}
	case UnitDay:
		s.unit = now.UTC().Format(time.DateOnly)
	default:
		s.unit = s.id
	}
	s.arm = e.arm(s.unit)
}
