package world

import "time"

// Rand is a small generator of random numbers (splitmix64, Steele, Lea and
// Flood 2014). It is our own because committed files must not change with the
// version of Go. The zero value is a valid generator.
type Rand struct{ state uint64 }

// NewRand returns the generator of a seed and the parts that distinguish its
// streams, such as "task" and a number.
func NewRand(seed uint64, stream string, n int) *Rand {
	return &Rand{state: Mix(seed ^ Mix(hash(uint64(n), stream)))}
}

// Mix spreads the bits of x over the whole word (the finaliser of splitmix64).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 {
	x := Mix(r.state)
	r.state += 0x9e3779b97f4a7c15
	return x
}

// IntN returns a number in [0, n); n must be positive. The bias of the
// multiplication is below n / 2^32.
func (r *Rand) IntN(n int) int {
	return int(uint64(uint32(r.Uint64())) * uint64(n) >> 32)
}

// Between returns a number in [lo, hi].
func (r *Rand) Between(lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// Float returns a number in [0, 1).
func (r *Rand) Float() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// Chance reports true with probability p.
func (r *Rand) Chance(p float64) bool { return r.Float() < p }

// Spread returns median times a factor between 0.45 and 3.4 with a long right
// tail, as response times have.
//
// Note: whole numbers only. math.Exp and fused multiply-add differ between
// machines in the last bit, and committed time stamps must not.
func (r *Rand) Spread(median time.Duration) time.Duration {
	k := time.Duration(r.IntN(1000))
	return median * (450 + 900*k/(1300-k)) / 1000
}

// Shuffle permutes the first n items by swap.
func (r *Rand) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, r.IntN(i+1))
	}
}

// Pick returns one of the items.
func Pick[T any](r *Rand, items []T) T { return items[r.IntN(len(items))] }

// hash is FNV-1a over the parts with a separator, with its bits spread.
func hash(seed uint64, parts ...string) uint64 {
	h := seed ^ 14695981039346656037
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return Mix(h)
}

// Token returns n characters of an alphabet, decided by x.
func Token(x uint64, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		if i%8 == 0 {
			x = Mix(x)
		}
		b[i] = alphabet[x>>(8*(i%8))&0xff%uint64(len(alphabet))]
	}
	return string(b)
}

// The alphabets of ids, tokens and passwords.
const (
	Lower    = "abcdefghjkmnpqrstuvwxyz23456789"
	Digits   = "0123456789"
	Hex      = "0123456789abcdef"
	Base62   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	Password = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789!#%+-=?@"
)
