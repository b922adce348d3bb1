package cli

import (
	"strings"
)

// filesNamed is how many files a suggested command repeats.
const filesNamed = 3

// Then returns the next command to type, for the same traces and rules: words are the
// command and its flags, {} stands for the traces.
func (j *Job) Then(files []string, reason string, words ...string) string {
	var out []string
	for _, word := range append([]string{"awo"}, words...) {
		if word != "{}" {
			out = append(out, word)
			continue
		}
		if len(files) > filesNamed {
			out = append(out, "TRACES...")
		} else {
			for _, file := range files {
				out = append(out, shellWord(file))
			}
		}
		if j.rulesFile != "" && j.rulesFile != "-" {
			out = append(out, "--rules", shellWord(j.rulesFile))
		}
	}
	return strings.Join(out, " ") + " # " + reason
}

// shellWord quotes what a shell would not take as one word.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+=") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
