// Package secret tells texts that look like credentials, by the name of what holds them or
// by their form.
//
// A name and a text come in, a yes or no goes out. It keeps nothing, and it cannot know a
// password that looks like a word.
package secret

import (
	"regexp"
	"strings"
	"unicode"
)

// secretName matches names of arguments that hold credentials.
var secretName = regexp.MustCompile(`(?i)((^|[_.-])pass$|passwd|password|passcode|passphrase|passkey|secret|token|api[-_]?key|private[-_]?key|access[-_]?key|authori[sz]ation|^auth$|cookie|credential|session|bearer|signature|otp$|\bpin$|^pin$|cvv|cvc|security[-_]?code|ssn|iban|card[-_]?number)`)

// secretText matches texts that are credentials by their form.
var secretText = regexp.MustCompile(`(?i)^(bearer|basic) |^eyj[a-z0-9_-]{8,}\.|^(sk|pk|rk)[-_][a-z0-9_-]{8,}|^gh[oprsu]_[a-z0-9]{16,}|^github_pat_|^glpat-|^xox[abeprs]-|^(akia|asia)[a-z0-9]{12,}|^aiza[a-z0-9_-]{20,}|-----begin |^redacted-[0-9a-f]{16,}$|^[a-z][a-z0-9+.-]*://[^/ ]*:[^/ ]*@`)

// LooksLike reports whether a value should never be baked into or
// shown in an output, even if it is the same in all trajectories: its argument
// is named like a secret, it has the form of a known kind of key, or it is one
// long word of mixed characters that nobody would type. name is the name of the
// argument, or the last name of its path.
func LooksLike(name, text string) bool {
	return secretName.MatchString(name) || HasForm(text)
}

// HasForm reports whether a text has the form of a credential, whatever it is called.
func HasForm(text string) bool {
	return secretText.MatchString(text) || len(text) >= 16 && looksRandom(text)
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
