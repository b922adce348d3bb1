// Package secret tells texts that look like credentials, by the name of what holds them or
// by their form.
//
// A name and a text come in, a yes or no goes out. It keeps nothing, and it cannot know a
// password that looks like a word.
package secret

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// secretName matches names of arguments that hold credentials.
var secretName = regexp.MustCompile(`(?i)((^|[_.-])pass$|(?-i:[a-z](?:Pass|Pin)$)|passwd|password|passcode|passphrase|pass[-_]?phrase|passkey|passwort|kennwort|contrase|mot[-_]?de[-_]?passe|senha|(^|[_.-])pwd|pwd$|secret|token|jwt|api[-_]?key|private[-_]?key|access[-_]?(key|code)|auth[-_]?(key|code|header)|authori[sz]ation|^auth$|cookie|credential|(^|[_.-])creds?($|[_.-])|session|bearer|signature|t?otp($|[_.-])|(^|[_.-])pin($|[_.-])|pin[-_]?code|(^|[_.-])(puk|tan)($|[_.-])|mfa[-_]?code|(verification|security|one[-_]?time)[-_]?code|cvv|cvc|ssn|iban|(card|account)[-_]?number)`)

// secretText matches texts that are credentials by their form.
var secretText = regexp.MustCompile(`(?i)^(bearer|basic) |^eyj[a-z0-9_-]{8,}\.|^(sk|pk|rk)[-_][a-z0-9_-]{8,}|^gh[oprsu]_[a-z0-9]{16,}|^github_pat_|^glpat-|^xox[abeprs]-|^(akia|asia)[a-z0-9]{12,}|^aiza[a-z0-9_-]{20,}|-----begin |^redacted-[0-9a-f]{16,}$|^[a-z][a-z0-9+.-]*://[^/ ]*:[^/ ]*@`)

// LooksLike reports whether a value should never be baked into or
// shown in an output, even if it is the same in all trajectories: its argument
// is named like a secret, it has the form of a known kind of key, or it is one
// long word of mixed characters that nobody would type. name is the name of the
// argument, or the last name of its path.
func LooksLike(name, text string) bool {
	return mayBeSecretName(name) && secretName.MatchString(name) || HasForm(text)
}

// nameParts are pieces one of which is in every name that secretName matches, if all of
// it is ASCII.
var nameParts = [...]string{
	"pass", "secret", "token", "key", "auth", "cookie", "credential", "session", "bearer", "signature", "otp", "pin",
	"cvv", "cvc", "code", "ssn", "iban", "number", "kennwort", "contrase", "mot", "senha", "pwd", "jwt", "cred", "puk", "tan",
}

// mayBeSecretName reports whether secretName has to be asked: it takes ten times as long.
func mayBeSecretName(name string) bool {
	const longest = 64
	var buffer [longest]byte
	if len(name) > longest {
		return true
	}
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return true // letters beyond ASCII may stand for others
		}
		buffer[i] = lower(name[i])
	}
	for _, part := range nameParts {
		if bytes.Contains(buffer[:len(name)], []byte(part)) {
			return true
		}
	}
	return false
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

// textBeginnings are what texts begin with, in small letters, that secretText matches by
// their beginning.
var textBeginnings = [...]string{
	"bearer ", "basic ", "eyj", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-",
	"xox", "akia", "asia", "aiza", "redacted-",
}

// mayBeSecretText reports whether secretText has to be asked.
func mayBeSecretText(text string) bool {
	const longest = len("github_pat_")
	var buffer [longest]byte
	begin := buffer[:min(len(text), longest)]
	for i := range begin {
		if text[i] >= utf8.RuneSelf {
			return true // letters beyond ASCII may stand for others
		}
		begin[i] = lower(text[i])
	}
	for _, with := range textBeginnings {
		if len(begin) >= len(with) && string(begin[:len(with)]) == with {
			return true
		}
	}
	return strings.Contains(text, "-----") || strings.Contains(text, "://")
}

// HasForm reports whether a text has the form of a credential, whatever it is called.
func HasForm(text string) bool {
	return mayBeSecretText(text) && secretText.MatchString(text) || len(text) >= 16 && looksRandom(text)
}

// looksRandom reports whether a text is one word in which letters and digits
// change places often: keys, hashes and UUIDs do, names, numbers, dates and
// paths do not.
func looksRandom(text string) bool {
	changes, digits, letters := 0, 0, 0
	last := 0
	for _, r := range text {
		class := 0
		switch {
		case unicode.IsDigit(r):
			class = 1
			digits++
		case unicode.IsUpper(r):
			class = 2
			letters++
		case unicode.IsLetter(r):
			class = 3
			letters++
		case !strings.ContainsRune("-_+/=.:", r):
			return false
		}
		if class != 0 {
			if last != 0 && class != last {
				changes++
			}
			last = class
		}
	}
	return digits > 0 && letters > 0 && 5*changes >= len(text) || digits == 0 && 3*changes >= len(text)
}
