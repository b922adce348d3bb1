package dataflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"pgregory.net/rapid"
)

func TestDates(t *testing.T) {
	for text, want := range map[string][]date{
		"on 2024-05-20, please":              {{2024, 5, 20}},
		"2024/5/7":                           {{2024, 5, 7}},
		"2024.05.07":                         {{2024, 5, 7}},
		"at 2024-05-20T13:00:00Z":            {{2024, 5, 20}},
		"20/05/2024":                         {{2024, 5, 20}},
		"05/07/2024":                         {{2024, 5, 7}, {2024, 7, 5}},
		"07/07/2024":                         {{2024, 7, 7}},
		"May 20":                             {{0, 5, 20}},
		"may 20th, 2024":                     {{2024, 5, 20}},
		"the 3rd of June 2025":               {{2025, 6, 3}},
		"3 Sept":                             {{0, 9, 3}},
		"1 jan 2024 to 2 february 2024":      {{2024, 1, 1}, {2024, 2, 2}},
		"I may go, in March or on a marble":  nil,
		"version 1.2.3 of 10.20.30.40":       nil,
		"2024-13-01 2024-00-10 2024-05-32":   nil,
		"May 32, 31 foo":                     nil,
		"call 555-12-3456":                   nil,
		"":                                   nil,
		"in 2024":                            nil,
		"Mayor 5":                            nil,
		"2024-05/20":                         nil,
		"order 20240520":                     nil,
		"from May 1 until 2024-05-03 at Dec": {{0, 5, 1}, {2024, 5, 3}},
	} {
		if got := appendDates(nil, text, appendTokens(nil, text)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestDateOf(t *testing.T) {
	for text, want := range map[string]date{
		"2024-05-20": {2024, 5, 20}, "May 20, 2024": {2024, 5, 20}, " 20 May ": {0, 5, 20}, "5/13/2024": {2024, 5, 13},
		"2024-05-20T13:00": {}, "May": {}, "on May 20": {}, "2024": {}, "12-34": {}, "20 May 2024 or so, perhaps": {},
	} {
		got, ok := dateOf(text)
		if ok != (want != date{}) || ok && got != want {
			t.Errorf("%q: %v %v, want %v", text, got, ok, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string][]string{
		"pay 1,250 now":            {"1250"},
		"$1,234,567.80":            {"1234567.8"},
		"12.50 and 1250.00":        {"12.5", "1250"},
		"1250 and 12.5 are plain":  nil,
		"1,25 or 1,2345 or 12,345": {"12345"},
		"a, b, 100, 200":           nil, // a blank follows the comma
		"v1.2.30":                  nil,
	} {
		if got := appendNumbers(nil, text, appendTokens(nil, text)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		" .,- ":                  nil,
		"Order #W123 is late.":   {"Order", "W123", "is", "late"},
		"amy_li@x-y.org":         {"amy", "li", "x", "y", "org"},
		"Grüße, ÉCOLE":           {"Grüße", "ÉCOLE"},
		"東京3日":                   {"東", "京", "3", "日"},
		"abc東":                   {"abc", "東"},
		"a\xffb \xc3":            {"a", "b"},
		"e\u0301t":               {"e\u0301t"},
		"x\u200by":               {"x", "y"},
		"\U0001f600ok\U0001f600": {"ok"},
	} {
		var got []string
		for _, tok := range appendTokens(nil, text) {
			got = append(got, tok.of(text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTokensFoldCase(t *testing.T) {
	for _, pair := range [][2]string{{"ABC", "abc"}, {"École", "éCOLE"}, {"Ω", "ω"}, {"K", "\u212a"}, {"STRASSE1", "strasse1"}} {
		a, b := appendTokens(nil, pair[0]), appendTokens(nil, pair[1])
		if len(a) != 1 || len(b) != 1 || a[0].hash != b[0].hash {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
}

// TestTokensProperties: words do not overlap, cover every letter and digit, and
// the rolling hash finds every sequence of them.
func TestTokensProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9 .,#東京é\xff]{0,40}`)).Draw(t, "text")
		tokens := appendTokens(nil, text)
		end := int32(0)
		for _, tok := range tokens {
			if tok.start < end || tok.end <= tok.start {
				t.Fatalf("%q: %v", text, tokens)
			}
			if strings.IndexFunc(text[end:tok.start], isWord) >= 0 {
				t.Fatalf("%q: a word is left out between %d and %d", text, end, tok.start)
			}
			end = tok.end
		}
		if strings.IndexFunc(text[end:], isWord) >= 0 {
			t.Fatalf("%q: a word is left out at the end", text)
		}
		prefix := appendPrefixHashes(nil, tokens)
		i := rapid.IntRange(0, len(tokens)).Draw(t, "from")
		j := rapid.IntRange(i, len(tokens)).Draw(t, "to")
		power := uint64(1)
		for range j - i {
			power *= tokenBase
		}
		if prefix[j]-prefix[i]*power != phraseHash(tokens[i:j]) {
			t.Fatalf("words %d to %d of %q hash differently", i, j, text)
		}
	})
}

func TestMatchFolded(t *testing.T) {
	for _, tc := range []struct {
		text, value string
		size        int
		ok          bool
	}{
		{"New York!", "new york", 8, true},
		{"new  \n york", "new york", 11, true},
		{"newyork", "new york", 0, false},
		{"new-york", "new york", 0, false},
		{"ÉCOLE", "école", 6, true},
		{"abc", "abcd", 0, false},
		{"abcd", "abc", 3, true},
	} {
		if size, ok := matchFolded(tc.text, tc.value); size != tc.size || ok != tc.ok {
			t.Errorf("%q, %q: %d %v, want %d %v", tc.text, tc.value, size, ok, tc.size, tc.ok)
		}
	}
}

func TestNumberKey(t *testing.T) {
	for text, want := range map[string]string{
		"7": "7", "7.0": "7", "-0.0": "0", "12.5": "12.5", "1e16": "10000000000000000", "1.5e3": "1500", "1e-7": "1e-7",
		"1e300": "1e300", "9007199254740993": "9007199254740993",
	} {
		if got := jsonvalue.Number(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	text := strings.Repeat("Your order #W4521 was shipped to 12 Elm Street, Suite 640, and arrives on May 20th. ", 100)
	var tokens []token
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		tokens = appendTokens(tokens[:0], text)
	}
	if len(tokens) == 0 {
		b.Fatal(fmt.Sprint("no words in ", text))
	}
}
