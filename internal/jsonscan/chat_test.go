package jsonscan_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var words = strings.Fields(`the of reservation flight customer please confirm your booking refund
	policy I can help with that economy cabin passengers baggage total price is now and to a in
	change order delivered item exchange gift card balance payment method would you like me proceed
	“quoted” it’s café — naïve`)

// prose is n bytes or a little more of what people and models write.
func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		switch r.IntN(40) {
		case 0:
			b.WriteString(".\n\n- ")
		case 1:
			b.WriteString(`, "as written", `)
		case 2:
			b.WriteString(".\n")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// chatLine is a line of a chat log of about 18 KB: messages, tool calls whose
// arguments are quoted JSON, results that are quoted JSON.
func chatLine(r *rand.Rand) []byte {
	type object = map[string]any
	quoted := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	messages := []object{
		{"role": "system", "content": prose(r, 6000)},
		{"role": "user", "content": prose(r, 300)},
	}
	for i := range 8 {
		id := fmt.Sprintf("call_%08x%08x", r.Uint32(), r.Uint32())
		args := quoted(object{"reservation_id": fmt.Sprintf("R%05d", r.IntN(99999)), "passengers": []object{{"first_name": "Mia", "dob": "1990-04-05"}}})
		result := quoted(object{"status": "ok", "flights": []object{{"number": "HAT001", "price": 121.5, "seats": object{"economy": 12, "business": 3}}, {"number": "HAT002", "price": 98}}, "note": prose(r, 500)})
		messages = append(messages,
			object{"role": "assistant", "content": nil, "tool_calls": []object{{"id": id, "type": "function", "function": object{"name": fmt.Sprintf("get_details_%d", i%5), "arguments": args}}}},
			object{"role": "tool", "tool_call_id": id, "content": result},
			object{"role": "assistant", "content": prose(r, 350)},
		)
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(object{"messages": messages}); err != nil {
		panic(err)
	}
	return []byte(strings.TrimSpace(b.String()))
}

// chatLines is a few different lines and their total length.
func chatLines() (lines [][]byte, bytes int) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 64 {
		lines = append(lines, chatLine(r))
		bytes += len(lines[len(lines)-1])
	}
	return lines, bytes
}

// recorded returns a file of the recorded traces kept beside the project, or
// skips the test.
func recorded(t testing.TB, path ...string) []byte {
	b, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", "shared", "data"}, path...)...))
	if err != nil {
		t.Skip("the recorded traces are not there")
	}
	return b
}
