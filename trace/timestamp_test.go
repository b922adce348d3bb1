package trace

import (
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	for _, test := range []struct{ text, want string }{ // in RFC 3339; empty: refused
		{"2025-12-02T14:04:06.448688", "2025-12-02T14:04:06.448688Z"},
		{"2025-12-02 14:04:06", "2025-12-02T14:04:06Z"},
		{"2025-12-02T14:04", "2025-12-02T14:04:00Z"},
		{"2025-12-02T14:04:06Z", "2025-12-02T14:04:06Z"},
		{"2025-12-02T14:04:06.1+02:00", "2025-12-02T12:04:06.1Z"},
		{"2025-12-02T00:04:06-0530", "2025-12-02T05:34:06Z"},
		{"2025-12-31T23:04:06-01", "2026-01-01T00:04:06Z"},
		{"2024-02-29T00:00:00.123456789123Z", "2024-02-29T00:00:00.123456789Z"},
		{"2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"},
		{"2025-12-02", ""},
		{"2025-02-29T00:00:00Z", ""},
		{"2025-13-01T00:00:00Z", ""},
		{"2025-00-10T00:00:00Z", ""},
		{"2025-12-00T00:00:00Z", ""},
		{"2025-12-02T24:00:00Z", ""},
		{"2025-12-02T14:60:06Z", ""},
		{"2025-12-02T14:04:61Z", ""},
		{"2025-12-02T14:04:06.Z", ""},
		{"2025-12-02T14:04:06Zulu", ""},
		{"2025-12-02T14:04:06+25:00", ""},
		{"2025-12-02T14:04:06+0", ""},
		{"20251202T140406Z", ""},
		{"yesterday", ""},
		{"", ""},
	} {
		got, ok := ParseTime(test.text)
		if ok != (test.want != "") || ok && got.Format(time.RFC3339Nano) != test.want {
			t.Errorf("%s: %v %v, want %s", test.text, got.Format(time.RFC3339Nano), ok, test.want)
		}
		fromBytes, okBytes := ParseTime([]byte(test.text))
		if fromBytes != got || okBytes != ok {
			t.Errorf("%s: %v from bytes", test.text, fromBytes)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	f.Add("2025-12-02T14:04:06.448688+02:00")
	f.Add("2025-12-02 14:04")
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := ParseTime(text)
		std, err := time.Parse(time.RFC3339Nano, text)
		if err == nil && len(text) > 0 && text[10] == 'T' && (!ok || !at.Equal(std)) {
			t.Fatalf("%q: %v %v, the standard library reads %v", text, at, ok, std)
		}
		if ok && at.Location() != time.UTC {
			t.Fatalf("%q: not in UTC", text)
		}
	})
}
