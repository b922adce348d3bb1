package encode

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/truth"
)

// Truth writes a truth file, one trajectory a line, so that it need not be held
// in memory.
type Truth struct {
	w      *bufio.Writer
	office *office.Office
	tally  office.Tally
	n      int
}

// NewTruth writes the beginning of the document: all that is true of the corpus
// as a whole.
func NewTruth(w io.Writer, o *office.Office) (*Truth, error) {
	t := &Truth{w: bufio.NewWriter(w), office: o}
	facts := o.Facts()
	members := []struct {
		name  string
		value any
	}{
		{"schema", facts.Schema},
		{"corpus", facts.Corpus},
		{"tools", facts.Tools},
		{"commutation", facts.Commutation},
		{"interactions", facts.Interactions},
		{"observations", facts.Observations},
		{"chains", facts.Chains},
		{"coincidences", facts.Coincidences},
		{"drift", facts.Drift},
	}
	t.w.WriteString("{\n")
	for _, m := range members {
		if m.name == "drift" && facts.Drift == nil {
			continue
		}
		if err := t.member(m.name, m.value); err != nil {
			return nil, err
		}
		t.w.WriteString(",\n")
	}
	_, err := t.w.WriteString("\"trajectories\": [")
	return t, err
}

// member writes a member: a list with an element a line, anything else on one.
func (t *Truth) member(name string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var list []json.RawMessage
	t.w.WriteString("\"" + name + "\": ")
	if json.Unmarshal(b, &list) != nil {
		_, err = t.w.Write(b)
		return err
	}
	for i, item := range list {
		sep := ",\n  "
		if i == 0 {
			sep = "[\n  "
		}
		t.w.WriteString(sep)
		t.w.Write(item)
	}
	_, err = t.w.WriteString("\n]")
	return err
}

// Add writes a trajectory; line is what TruthLine gave for it.
func (t *Truth) Add(trajectory *truth.Trajectory, line []byte) error {
	sep := ",\n"
	if t.n == 0 {
		sep = "\n"
	}
	t.n++
	t.tally.Add(trajectory)
	t.w.WriteString(sep)
	_, err := t.w.Write(line)
	return err
}

// TruthLine encodes a trajectory. It is pure, so that it may run in parallel.
func TruthLine(t *truth.Trajectory) ([]byte, error) { return json.Marshal(t) }

// Close writes the totals and the end of the document.
func (t *Truth) Close() error {
	t.w.WriteString("\n],\n")
	if err := t.member("totals", t.tally.Totals(t.office.Options)); err != nil {
		return err
	}
	t.w.WriteString("\n}\n")
	return t.w.Flush()
}
