package formats_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/atif"
	"github.com/awo-dev/awo/trace/formats/openai"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// chatWords are what prose is made of.
var chatWords = strings.Fields(`the of reservation flight customer please confirm your booking refund
	policy I can help with that economy cabin passengers baggage total price is now and to a in
	change order delivered item exchange gift card balance payment method would you like me proceed`)

// prose is n bytes or a little more of what people and models write.
func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(chatWords[r.IntN(len(chatWords))])
		b.WriteString([]string{" ", " ", " ", " ", " ", " ", " ", " ", ".\n\n- ", ", \"as said\", ", "’s "}[r.IntN(11)])
	}
	return b.String()
}

// generatedChat is a record of an openai-chat log of about 18 KB.
func generatedChat(r *rand.Rand) []byte {
	type object = map[string]any
	messages := []object{{"role": "system", "content": prose(r, 6000)}, {"role": "user", "content": prose(r, 300)}}
	for i := range 8 {
		id := fmt.Sprintf("call_%08x%08x", r.Uint32(), r.Uint32())
		args := string(formattest.JSONToken(prose(r, 10)))
		messages = append(messages,
			object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function", "function": object{
				"name": fmt.Sprintf("get_details_%d", i%5), "arguments": fmt.Sprintf(`{"reservation_id": "R%05d", "note": %s}`, r.IntN(99999), args),
			}}}},
			object{"role": "tool", "tool_call_id": id, "content": `{"status": "ok", "note": ` + string(formattest.JSONToken(prose(r, 600))) + `}`},
			object{"role": "assistant", "content": prose(r, 350)},
			object{"role": "user", "content": prose(r, 80)},
		)
	}
	b, err := json.Marshal(object{"messages": messages})
	if err != nil {
		panic(err)
	}
	return b
}

func benchmarkDecode(b *testing.B, f *trace.Format, records []trace.Record) {
	size := 0
	for i := range records {
		size += len(records[i].Data)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	calls := 0
	for b.Loop() {
		for i := range records {
			fragments, err := f.Decode(records[i])
			if err != nil {
				b.Fatal(err)
			}
			calls += len(fragments[0].Trajectory.Calls)
		}
	}
	if calls == 0 {
		b.Fatal("no calls")
	}
}

func BenchmarkDecode(b *testing.B) {
	b.Run("openai-chat", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 2))
		var records []trace.Record
		for range 64 {
			records = append(records, trace.Record{Data: generatedChat(r), Line: 1, Col: 1})
		}
		benchmarkDecode(b, &openai.Chat, records)
	})
	for _, set := range recordedSets {
		b.Run(set.format.Name+"/"+set.name, func(b *testing.B) {
			records := formattest.RecordsOf(b, set.format, recordings.Bytes(b, recordings.Recorded(b, set.path)), set.container)
			benchmarkDecode(b, set.format, records)
		})
	}
	b.Run("atif/gpt-4o-airline", func(b *testing.B) {
		set := recordedSets[0]
		var lines []byte
		for _, t := range formattest.DecodeAll(b, set.format, recordings.Bytes(b, recordings.Recorded(b, set.path)), set.container) {
			var err error
			if lines, err = atif.Append(lines, t); err != nil {
				b.Fatal(err)
			}
		}
		benchmarkDecode(b, &atif.Format, formattest.RecordsOf(b, &atif.Format, lines, trace.ContainerLines))
	})
}

func BenchmarkAppend(b *testing.B) {
	set := recordedSets[0]
	trajectories := formattest.DecodeAll(b, set.format, recordings.Bytes(b, recordings.Recorded(b, set.path)), set.container)
	var lines []byte
	b.ReportAllocs()
	for b.Loop() {
		lines = lines[:0]
		for _, t := range trajectories {
			var err error
			if lines, err = atif.Append(lines, t); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.SetBytes(int64(len(lines)))
}
