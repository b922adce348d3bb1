package secret

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLooksLike(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"password", "x", true},
		{"user_password", "x", true},
		{"apiKey", "x", true},
		{"x-api-key", "x", true},
		{"access_token", "x", true},
		{"Authorization", "x", true},
		{"session_id", "x", true},
		{"a", "Bearer abc", true},
		{"a", "eyJhbGciOiJIUzI1NiJ9.e30.x", true},
		{"a", "ghp_0123456789abcdefghij", true},
		{"a", "AKIAIOSFODNN7EXAMPLE", true},
		{"a", "-----BEGIN RSA PRIVATE KEY-----", true},
		{"a", "postgres://user:pass@host/db", true},
		{"a", "d41d8cd98f00b204e9800998ecf8427e", true},
		{"a", "xK9mQ2vL8pR4tW7z", true},
		{"a", "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY", true},
		{"key", "name", false},
		{"passengers", "2", false},
		{"compass", "north", false},
		{"author", "x", false},
		{"a", "economy", false},
		{"a", "2024-05-15T10:00:00Z", false},
		{"a", "https://example.com/path/to/page", false},
		{"a", "get_reservation_details", false},
		{"a", "a long sentence with words and 12 numbers", false},
		{"a", "Europe/Berlin", false},
		{"a", "application/json", false},
		{"a", "gpt-4o-2024-08-06", false},
	} {
		if got := LooksLike(test.name, test.text); got != test.want {
			t.Errorf("%s=%s: %t", test.name, test.text, got)
		}
	}
}

// What is asked before the regular expressions leaves out nothing that they match.
func TestMayBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom(append(append([]string{
			"-----BEGIN ", "eyJhbGciOiJIUzI1NiJ9.", "sk-12345678", "pk_abcdefgh", "ghp_0123456789abcdef", "glpat-", "xoxb-", "AKIA0123456789ab",
			"aizaABCDEFGHIJKLMNOPQRST", "redacted-0123456789abcdef", "a://u:p@h", "Bearer x", "basic x", "\u212aey", "pa\u017f\u017f", "_", "-", ".", " ", "x",
		}, nameParts[:]...), textBeginnings[:]...))
		text := ""
		for range rapid.IntRange(1, 4).Draw(t, "pieces") {
			text += piece.Draw(t, "piece")
		}
		if rapid.Bool().Draw(t, "capitals") {
			text = strings.ToUpper(text)
		}
		if secretName.MatchString(text) && !mayBeSecretName(text) {
			t.Errorf("the name %q is not looked at", text)
		}
		if secretText.MatchString(text) && !mayBeSecretText(text) {
			t.Errorf("the text %q is not looked at", text)
		}
	})
}
