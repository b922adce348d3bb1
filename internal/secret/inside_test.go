package secret

import (
	"testing"
)

// TestHolds has 85 kinds of credentials as an argument may hold them, 45 by their name and 40
// by their form, and ordinary constants. None of the credentials was ever valid.
func TestHolds(t *testing.T) {
	names := []string{
		"pwd", "userPass", "pin_code", "user_pin", "userPin", "access_code", "jwt", "auth_header", "passwort", "creds", "otp", "totp", "db_pwd", "login_pwd",
		"kennwort", "mot_de_passe", "auth_code", "verification_code", "one_time_code", "credentials", "client_secret", "refresh_token", "set-cookie", "tan", "account_number",
		"password", "passwd", "passphrase", "api_key", "X-Api-Key", "access_token", "private_key", "accessKey", "bearer", "authorization", "session_id", "cookie",
		"signature", "mfa_code", "security_code", "cvv", "card_number", "iban", "ssn", "puk",
	}
	for _, name := range names {
		if !Holds(name, "x") {
			t.Errorf("the name %s is not seen", name)
		}
	}
	texts := []string{
		`curl -H 'Authorization: Bearer abcdef123456' https://api.example.com`,
		`curl -u alice:hunter22 https://api.example.com`,
		`psql postgres://app:hunter22@db.example.com/shop`,
		`https://api.example.com/v1?user=7&api_key=q7w8e9r0`,
		`{"user":"alice","password":"hunter22"}`,
		`export DB_PASSWORD=hunter22`,
		`hf_` + "abcdefghijklmnopqrstuvwxyzabcdefgh",
		`npm_` + "a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8",
		`ya29.` + "a0AfH6SMBx1y2z3A4B5C6D7E8F9G0H1I2J3K4L5M6N7",
		`shpat_` + "0123456789abcdef0123456789abcdef",
		`https://hooks.slack.com/services/` + "T00000000/B00000000/abcdefghijklmnopqrstuvwx",
		"4111 1111 1111 1111", "4111111111111111", "DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432",
		"Bearer abcdef123456", "Basic YWxpY2U6aHVudGVyMjI=", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "sk-" + "proj-a1b2c3d4e5f6g7h8", "pk_" + "live_a1b2c3d4e5f6",
		"ghp_" + "0123456789abcdefghijklmnopqrstuvwxyz", "github_pat_" + "11ABCDEFG0abcdefghijkl", "glpat-" + "a1B2c3D4e5F6g7H8i9J0", "xoxb-" + "123456789012-abcdefghijkl",
		"AKIA" + "IOSFODNN7EXAMPLE", "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "-----BEGIN RSA PRIVATE KEY-----", "mysql://root:hunter22@localhost:3306/shop",
		"mongodb+srv://app:hunter22@cluster.example.com/shop", "amqp://app:hunter22@queue.example.com", "https://alice:hunter22@git.example.com/a.git",
		"d41d8cd98f00b204e9800998ecf8427e", "xK9mQ2vL8pR4tW7z", "550e8400-e29b-41d4-a716-446655440000", "wJalrXUtnFEMIbPxRfiCYEXAMPLEKEY", `password: hunter22`, `AWS_SECRET_ACCESS_KEY=hunter22hunter`,
		`{"headers":{"Authorization":"Bearer abcdef123456"}}`, `wget --password=hunter22 https://x.example`,
		"MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aozN3tihPmUODnrznL8AbFNJFq\nHDoiAhEAx",
	}
	if n := len(names) + len(texts); n != 85 {
		t.Errorf("%d kinds", n)
	}
	for _, text := range texts {
		if !Holds("text", text) {
			t.Errorf("nothing is seen in %.40s", text)
		}
	}
	for _, text := range []string{
		"economy", "one_way", "USD", "en-US", "2026-03-25", "gift_card_1234567", "#W1234567", "user_1234", "San Francisco", "select * from orders where id = 7",
		"https://api.example.com/v1/orders?status=open&limit=10", "ls -la /tmp", "status: open", "application/json", "Europe/Berlin", "sort=asc",
		"1234567890", "the user wants to know what the session is about", "Order 12: two keys and a lock", "https://example.com:8080/path", "git log -u", "grep -u alice:", "compass",
	} {
		if Holds("text", text) {
			t.Errorf("%q is taken for a credential, at %v", text, Spans(text))
		}
	}
}

// TestSpans: what is found is the credential, and not what stands around it.
func TestSpans(t *testing.T) {
	for text, want := range map[string]string{
		`curl -u alice:hunter22 https://x.example`: "alice:hunter22",
		`a://b:hunter22@c and ?token=abc123&x=1`:   "hunter22|abc123",
		`{"password": "hunter22", "n": 1}`:         "hunter22",
	} {
		got := ""
		for _, s := range Spans(text) {
			if got != "" {
				got += "|"
			}
			got += text[s[0]:s[1]]
		}
		if got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}

func FuzzSpans(f *testing.F) {
	f.Add("curl -u a:bcd -H 'Authorization: Bearer x' https://a:b@c/?api_key=1 hooks.slack.com ey.q~ \xff")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, s := range Spans(text) {
			if s[0] < last || s[1] <= s[0] || s[1] > len(text) {
				t.Fatalf("%v in %q", s, text)
			}
			last = s[1]
		}
	})
}

func BenchmarkSpans(b *testing.B) {
	text := "The order #W1234567 of 2026-03-25 has two items, and its status is open. https://example.com/orders?limit=10 "
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Spans(text)
	}
}
