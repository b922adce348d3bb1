package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/awo-dev/awo/diag"
)

// splitSeeds are beginnings for the fuzzers: every container, whole and broken.
var splitSeeds = []string{
	"", " ", "\xef\xbb\xbf{}\n", "{\"a\":1}\n{\"a\":2}\r\n\n{\"a\":", "[{\"a\":[1,\"]\"]},2 ,\"x\\\"\\\\\"]", "[\n  {\"a\":\"b},\n  {\"a\":1}\n]",
	"{\n\"a\":1}\n{\"b\":2}{}", "[1,,2] [3", `{"info":{"x":"}"},"runs":[{"a":1}, 2],"rest":[]}`, `{"runs":{},"runs":[]}}`, `{"runs":[1]]`, "]]]", `"\`, `[tru`, "[{]\n{}]",
}

// FuzzSplitRecords holds, for any bytes: the records are slices of the input, in
// order, apart from each other, not over the limit, at the positions they
// claim; and neither they nor the problems depend on the blocks that were read.
func FuzzSplitRecords(f *testing.F) {
	for _, seed := range splitSeeds {
		for container := range uint8(3) {
			f.Add([]byte(seed), container, false, uint16(3), uint16(12))
			f.Add([]byte(seed), container, true, uint16(1), uint16(1000))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, container uint8, whole bool, block, limit uint16) {
		in := Input{File: "f", Container: Container(container % 3), Whole: whole, MaxRecord: int(limit) + 1}
		checkSplit(t, data, in, int(block), SplitRecords)
	})
}

// FuzzSplitMember holds the same for documents that hold the records in a member.
func FuzzSplitMember(f *testing.F) {
	for _, seed := range splitSeeds {
		f.Add([]byte(seed), uint16(3), uint16(12))
		f.Add([]byte(seed), uint16(1), uint16(1000))
	}
	f.Fuzz(func(t *testing.T, data []byte, block, limit uint16) {
		checkSplit(t, data, Input{File: "f", MaxRecord: int(limit) + 1}, int(block), SplitMember("runs", nil))
	})
}

func checkSplit(t *testing.T, data []byte, in Input, block int, split func(*Input) iter.Seq2[Record, error]) {
	t.Helper()
	records, problems := splitAll(data, in, 0, split)
	again, problemsAgain := splitAll(data, in, block+1, split)
	if len(records) != len(again) || !slices.Equal(problems, problemsAgain) {
		t.Fatalf("%d records and problems %v in one block, %d and %v in blocks of %d", len(records), problems, len(again), problemsAgain, block+1)
	}
	end := int64(0)
	for i, r := range records {
		if r.Offset < end || !bytes.Equal(r.Data, data[r.Offset:r.Offset+int64(len(r.Data))]) {
			t.Fatalf("record %d of %d bytes at %d is not there", i, len(r.Data), r.Offset)
		}
		if len(r.Data) == 0 || len(r.Data) > in.MaxRecord {
			t.Fatalf("record %d has %d bytes, the limit is %d", i, len(r.Data), in.MaxRecord)
		}
		if want := positionIn(data, r.Offset); want != r.Pos() {
			t.Fatalf("record %d claims to be at %v, is at %v", i, r.Pos(), want)
		}
		if !bytes.Equal(again[i].Data, r.Data) || again[i].Pos() != r.Pos() || again[i].Offset != r.Offset {
			t.Fatalf("record %d depends on the blocks", i)
		}
		end = r.Offset + int64(len(r.Data))
	}
	if in.Container == ContainerArray && !in.Whole && json.Valid(data) && data[0] == '[' && len(data) <= in.MaxRecord {
		checkElements(t, data, records, problems)
	}
}

// checkElements compares the records of a valid array with its elements.
func checkElements(t *testing.T, data []byte, records []Record, problems []string) {
	t.Helper()
	var elements []json.RawMessage
	if json.Unmarshal(data, &elements) != nil {
		return // deeper than encoding/json goes
	}
	if len(elements) != len(records) || len(problems) > 0 {
		t.Fatalf("%d records of %d elements, problems %v", len(records), len(elements), problems)
	}
	for i := range elements {
		if !bytes.Equal(elements[i], records[i].Data) {
			t.Fatalf("record %d is %q, the element %q", i, records[i].Data, elements[i])
		}
	}
}

func splitAll(data []byte, in Input, block int, split func(*Input) iter.Seq2[Record, error]) (records []Record, problems []string) {
	in.Reader = bytes.NewReader(data)
	in.block = block
	for r, err := range split(&in) {
		if err == nil {
			records = append(records, r)
			continue
		}
		if _, ok := errors.AsType[*diag.Error](err); !ok {
			panic(err)
		}
		problems = append(problems, err.Error())
	}
	return records, problems
}

// positionIn works out the position of an offset from the beginning.
func positionIn(data []byte, offset int64) diag.Pos {
	before := data[:offset]
	pos := diag.Pos{File: "f", Line: 1 + bytes.Count(before, newline), Col: int(offset) - bytes.LastIndexByte(before, '\n')}
	if pos.Line == 1 && bytes.HasPrefix(data, byteOrderMark) && offset >= int64(len(byteOrderMark)) {
		pos.Col -= len(byteOrderMark)
	}
	return pos
}

// FuzzNesting compares where a value ends with encoding/json, and that cutting
// the value into pieces anywhere makes no difference.
func FuzzNesting(f *testing.F) {
	for _, seed := range splitSeeds {
		f.Add([]byte(seed), uint8(1))
	}
	f.Add([]byte(`["\\\\\\\"]","\\"]x`), uint8(3))
	f.Add([]byte(`{"a":"`+"\\\"12345678\\\\\\\"12345678901234567890123456789012345678"+`"}`), uint8(8))
	f.Fuzz(func(t *testing.T, data []byte, piece uint8) {
		if len(data) == 0 || !startsValue(data[0]) {
			t.Skip()
		}
		nest := nestingOf(data[0])
		n, done := nest.skip(data)
		pieces := nestingOf(data[0])
		m, doneToo := 0, false
		for rest := data; len(rest) > 0 && !doneToo; rest = data[m:] {
			var k int
			k, doneToo = pieces.skip(rest[:min(len(rest), int(piece)+1)])
			m += k
		}
		if m != n || done != doneToo {
			t.Fatalf("%d, %v at once, %d, %v in pieces of %d", n, done, m, doneToo, piece+1)
		}
		if nest.scalar { // encoding/json reads 00 as two values
			return
		}
		var value json.RawMessage
		decoder := json.NewDecoder(bytes.NewReader(data))
		if decoder.Decode(&value) == nil && len(value) != n {
			t.Fatalf("the value has %d bytes, found %d", len(value), n)
		}
	})
}

// FuzzHead holds that no beginning of a file confuses its reading so that it
// panics, and that what it finds is part of the file.
func FuzzHead(f *testing.F) {
	for _, seed := range splitSeeds {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		h, _ := NewHead(data, whole)
		if len(h.Records) > MaxHeadRecords {
			t.Fatalf("%d records", len(h.Records))
		}
		for _, r := range h.Records {
			if !bytes.Contains(data, r.Raw) {
				t.Fatalf("%q is not in the file", r.Raw)
			}
			for _, k := range r.Keys {
				if v, ok := r.Members[k]; !ok || !bytes.Contains(r.Raw, v) {
					t.Fatalf("member %q is %q", k, v)
				}
			}
			var object map[string]json.RawMessage
			if json.Unmarshal(r.Raw, &object) != nil || r.Raw[0] != '{' {
				continue
			}
			for k, v := range object {
				if bytes.ContainsRune([]byte(k), '\ufffd') {
					continue
				}
				if !bytes.Equal(bytes.TrimSpace(v), r.Members[k]) {
					t.Fatalf("member %q is %q, want %q", k, r.Members[k], v)
				}
			}
		}
	})
}
