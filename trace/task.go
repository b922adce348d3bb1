package trace

import (
	"crypto/sha256"
	"encoding/hex"
)

// TaskKey returns what names the task of t, so that all trials of a task are
// known for the same: the recorded task id, else a hash of the first user
// message, else the trajectory's own ID.
func (t *Trajectory) TaskKey() string {
	if t.Task != "" {
		return t.Task
	}
	for i := range t.Messages {
		if m := &t.Messages[i]; m.Role == RoleUser && !m.Text.IsZero() {
			sum := sha256.Sum256(m.Text.Content())
			return "user:" + hex.EncodeToString(sum[:8])
		}
	}
	return t.ID
}
