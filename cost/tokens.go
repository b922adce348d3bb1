package cost

import (
	"cmp"
	"crypto/sha256"
	"math"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/tiktoken-go/tokenizer"

	"github.com/awo-dev/awo/trace"
)

// vocabulary loads o200k when the first text is counted: it takes some 15 ms and
// traces with usage need it for definitions only.
var vocabulary = sync.OnceValue(func() tokenizer.Codec {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic("cost: the embedded vocabulary o200k cannot be read: " + err.Error())
	}
	return codec
})

// The limits of a counter. A text is counted in pieces, so that the tokenizer
// holds little at a time; a cut adds a token at most.
const (
	maxPiece   = 64 << 10
	maxCached  = 4 << 10  // bytes of a text that counts against knownTexts
	knownTexts = 32 << 20 // bytes of all such texts whose count is remembered

	// maxCounted is how many bytes are counted, half a minute or so. From then on
	// new texts are taken to have as many bytes a token as those before them.
	maxCounted = 96 << 20

	// maxText is how many bytes of one text are counted. What follows is taken to have
	// as many bytes a token as they have.
	maxText = 1 << 20
	// maxLarge is how many texts over maxCached are remembered: tool definitions come
	// again with every trajectory.
	maxLarge = 1 << 14
)

// counter counts the o200k tokens of texts, some 3 MB/s, and remembers those of
// texts that are likely to come again, by half of their SHA-256.
type counter struct {
	known map[textKey]int64
	bytes int // of the texts known up to maxCached
	large int // texts known beyond

	limit   int64 // bytes that are counted; 0 means maxCounted
	counted int64 // bytes that were
	tokens  int64 // in them
	guessed int64 // bytes of texts that were not

	room []byte // for the text that is looked up
}

type textKey [sha256.Size / 2]byte

func keyOf(text []byte) textKey {
	sum := sha256.Sum256(text)
	return textKey(sum[:])
}

// maxRoom is how large a room for texts is kept.
const maxRoom = 1 << 20

// count returns the number of tokens of s.
func (c *counter) count(s string) int64 {
	return c.countBytes(unsafe.Slice(unsafe.StringData(s), len(s))) // which does not change them
}

// countBytes is count of bytes, which are not kept.
func (c *counter) countBytes(text []byte) int64 {
	if len(text) == 0 {
		return 0
	}
	key := keyOf(text)
	if n, ok := c.known[key]; ok {
		return n
	}
	exact := c.counted < cmp.Or(c.limit, maxCounted)
	n := c.fresh(string(text))
	if !exact {
		return n
	}
	switch {
	case len(text) > maxCached:
		if c.large == maxLarge {
			return n
		}
		c.large++
	case c.bytes+len(text) > knownTexts:
		return n
	default:
		c.bytes += len(text)
	}
	if c.known == nil {
		c.known = map[textKey]int64{}
	}
	c.known[key] = n
	return n
}

// fresh counts a text that is not known, or guesses once enough was counted.
func (c *counter) fresh(s string) int64 {
	if c.counted >= cmp.Or(c.limit, maxCounted) {
		c.guessed += int64(len(s))
		return int64(math.Round(float64(len(s)) * float64(c.tokens) / float64(c.counted)))
	}
	counted := s
	if len(s) > maxText {
		end := maxText
		for !utf8.RuneStart(s[end]) && end > maxText-utf8.UTFMax {
			end--
		}
		counted = s[:end]
	}
	n := countPieces(counted)
	c.counted += int64(len(counted))
	c.tokens += n
	if rest := len(s) - len(counted); rest > 0 {
		c.guessed += int64(rest)
		n += int64(math.Round(float64(rest) * float64(n) / float64(len(counted))))
	}
	return n
}

// raw is count of what a piece of a record says.
func (c *counter) raw(r trace.Raw) int64 {
	if r.IsZero() {
		return 0
	}
	text := r.AppendText(c.room[:0])
	if cap(text) <= maxRoom {
		c.room = text
	}
	return c.countBytes(text)
}

func countPieces(s string) int64 {
	codec, total := vocabulary(), int64(0)
	for len(s) > 0 {
		end := min(len(s), maxPiece)
		if end < len(s) {
			if space := strings.LastIndexAny(s[:end], " \n"); space > end/2 {
				end = space
			} else {
				for end > maxPiece-utf8.UTFMax && !utf8.RuneStart(s[end]) {
					end--
				}
			}
		}
		n, err := codec.Count(s[:end])
		if err != nil { // the codec knows no error for o200k; bytes are the worst that a text can cost
			n = end
		}
		total += int64(n)
		s = s[end:]
	}
	return total
}

// Definition is the o200k tokens of one tool's definition, by its parts.
type Definition struct {
	Name        int64
	Description int64
	Parameters  int64 // the JSON Schema of the arguments, as recorded
}

// Tokens returns the tokens of the whole definition.
func (d Definition) Tokens() int64 { return d.Name + d.Description + d.Parameters }

// Definition counts the parts of a tool's definition. The words that a provider
// puts around them are not counted: nobody publishes them.
func (m *Meter) Definition(d *trace.ToolDef) Definition {
	return Definition{Name: m.counter.count(d.Name.Value()), Description: m.counter.raw(d.Description), Parameters: m.counter.raw(d.Input)}
}

// Guessed returns of how many bytes of text the tokens were guessed from the
// length: counting is slow, 3 MB/s, so after 96 MiB of texts that differ the mean
// bytes a token of these stand in, and of one text those of its first MiB. It also
// returns the mean.
func (m *Meter) Guessed() (bytes int64, perToken float64) {
	if m.counter.tokens == 0 {
		return 0, 0
	}
	return m.counter.guessed, float64(m.counter.counted) / float64(m.counter.tokens)
}

// Text counts the o200k tokens of a text.
func (m *Meter) Text(s string) int64 { return m.counter.count(s) }

// Raw counts the o200k tokens of what a piece of a record says.
func (m *Meter) Raw(r trace.Raw) int64 { return m.counter.raw(r) }
