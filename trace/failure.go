package trace

import (
	"bytes"
	"cmp"
	"maps"
	"regexp"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// FailurePattern is a way in which results say that a call failed, for traces whose
// format has no flag for it.
type FailurePattern struct {
	Name string // stable, such as "error-text"
	Doc  string // what a result looks like
}

// ByRule is Call.StatusFrom of a status that a rule read from the result.
const ByRule = "rule"

// FailurePatterns are the built-in patterns, in the order in which they are tried.
// They are narrow: a result that only speaks of errors is no failure.
var FailurePatterns = []FailurePattern{
	{"error-member", `JSON with a member "error" that says something`},
	{"error-flag", `JSON with "isError" or "is_error" true`},
	{"http-status", "a text that begins with an HTTP status from 400 on, or JSON with such a status_code"},
	{"exit-code", "a text that begins with an exit code other than 0, or JSON with one"},
	{"traceback", "a Python traceback"},
	{"error-text", "a text that begins with Error: or the like"},
}

// headLen is how much of a text is looked at: what says that it failed begins so.
const headLen = 400

var failureTexts = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"http-status", regexp.MustCompile(`^\s*(?i:(?:HTTP(?:/[\d.]+)?|HTTP error|(?:response )?status(?: code)?)\s*(?:is|:|=)?\s*[45]\d\d\b|[45]\d\d (?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Not Acceptable|Request Timeout|Conflict|Gone|Unprocessable|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Timeout|Client Error|Server Error))`)},
	{"exit-code", regexp.MustCompile(`^\s*(?i:(?:command |process )?(?:failed with |exited with )?exit(?:ed)?(?: with)?(?: code| status)?[ :=]+-?0*[1-9]\d*\b)`)},
	{"traceback", regexp.MustCompile(`^\s*Traceback \(most recent call last\)`)},
	{"error-text", regexp.MustCompile(`^[\s<\[(*]*(?:(?:[A-Za-z_][\w.]*)?(?:Error|Exception)|ERROR|error|Failure|FAILED)[\]>)*]*(?:\s*:|\s+(?:\d{3}\b|[Ee]xecuting|[Ww]hile|[Ii]n |[Cc]alling|[Rr]unning|[Rr]eading|[Ff]etching|[Oo]ccurred|[Cc]ode)|\s*$)`)},
}

// FailureIn returns the name of the built-in pattern by which a result says that its
// call failed, "" if none does. Text is JSON where it is an object, quoted or not.
func FailureIn(result Raw) string {
	var room []byte
	return failureIn(result, &room)
}

// failureIn is FailureIn with room to unquote in, which grows.
func failureIn(result Raw, room *[]byte) string {
	if cap(*room) < len(result.Data) && result.isQuoted() {
		*room = make([]byte, 0, len(result.Data))
	}
	text := bytes.TrimLeft(result.contentIn(*room), " \t\r\n")
	if len(text) > 0 && text[0] == '"' { // a text that was written as JSON
		c := jsonscan.New(text)
		if inner, ok := c.Text(); ok {
			text = bytes.TrimLeft(inner, " \t\r\n")
		}
	}
	if len(text) == 0 {
		return ""
	}
	if text[0] == '{' {
		return failureMember(text)
	}
	head := text[:min(len(text), headLen)]
	for i := range failureTexts {
		if failureTexts[i].pattern.Match(head) {
			return failureTexts[i].name
		}
	}
	return ""
}

// failureCodes are the places in a text that says that its call failed where a code of
// HTTP stands.
var failureCodes = []*regexp.Regexp{
	regexp.MustCompile(`^[\s<\[(*]*(?i:(?:[a-z_][\w.]*)?(?:error|exception)|failure|failed)[\]>)*]*[\s:]*(?i:(?:HTTP(?:/[\d.]+)?|status|code|error)[\s:=]*){0,3}([45]\d\d)\b`),
	regexp.MustCompile(`^\s*(?i:HTTP(?:/[\d.]+)?|(?:response )?status(?: code)?)\s*(?i:status|error|code|is|:|=|\s)*([45]\d\d)\b`),
	regexp.MustCompile(`^\s*([45]\d\d) [A-Z][a-z]`),
}

// FailureCode returns the code of HTTP, from 400 to 599, that the result of a failed call
// begins with, or that a member of it holds; 0 if there is none. A result for which
// FailureIn finds nothing has none.
func FailureCode(result Raw) int {
	if FailureIn(result) == "" {
		return 0
	}
	text := bytes.TrimLeft(result.Content(), " \t\r\n")
	if len(text) > 0 && text[0] == '"' {
		c := jsonscan.New(text)
		if inner, ok := c.Text(); ok {
			text = bytes.TrimLeft(inner, " \t\r\n")
		}
	}
	if len(text) > 0 && text[0] == '{' {
		return memberCode(text)
	}
	head := text[:min(len(text), headLen)]
	for _, pattern := range failureCodes {
		if m := pattern.FindSubmatch(head); m != nil {
			return int(m[1][0]-'0')*100 + int(m[1][1]-'0')*10 + int(m[1][2]-'0')
		}
	}
	return 0
}

// memberCode returns the first member of an object that is a code of HTTP.
func memberCode(text []byte) int {
	code := 0
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "status_code", "statusCode", "status", "code":
			if c.Kind() != jsonscan.Number {
				continue
			}
			if n, ok := c.Int(); ok && n >= 400 && n <= 599 && code == 0 {
				code = int(n)
			}
		}
	}
	return code
}

// failureMember reads the members of an object that say how a call ended.
func failureMember(text []byte) string {
	found := ""
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "error", "Error":
			if says(&c) && found == "" {
				found = "error-member"
			}
		case "isError", "is_error":
			if v, _ := c.Bool(); v && found == "" {
				found = "error-flag"
			}
		case "status_code", "statusCode":
			if n, ok := c.Int(); ok && n >= 400 && n <= 599 && found == "" {
				found = "http-status"
			}
		case "exit_code", "exitCode", "returncode":
			if n, ok := c.Int(); ok && n != 0 && found == "" {
				found = "exit-code"
			}
		}
	}
	if c.Err() != nil {
		return ""
	}
	return found
}

// says reports whether a value is more than null, false, 0 or nothing.
func says(c *jsonscan.Cursor) bool {
	switch c.Kind() {
	case jsonscan.String, jsonscan.Object, jsonscan.Array:
		raw := bytes.TrimSpace(c.Raw())
		return len(raw) > 2 && len(bytes.TrimSpace(raw[1:len(raw)-1])) > 0
	case jsonscan.Bool:
		v, _ := c.Bool()
		return v
	case jsonscan.Number:
		n, ok := c.Int()
		return ok && n != 0
	}
	return false
}

// ReadFailures gives the calls of t whose status is unknown, and whose results say by
// a built-in pattern that they failed, the status failed.
func (t *Trajectory) ReadFailures() {
	var room []byte
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Status != StatusUnknown || !c.HasResult {
			continue
		}
		if name := failureIn(c.Result, &room); name != "" {
			c.Status, c.StatusFrom = StatusFailed, name
		}
	}
}

// guessed reports whether the status rests on a built-in pattern.
func (c *Call) guessed() bool { return c.StatusFrom != "" && c.StatusFrom != ByRule }

// StatusReading is how many calls have a status because something was read in their
// result: a rule (ByRule) or a built-in pattern.
type StatusReading struct {
	By    string `json:"by"`
	Calls int    `json:"failed_calls"`
}

// StatusReadings returns what the failed calls were read from, where no flag says so:
// the most frequent first.
func (y *Tally) StatusReadings() []StatusReading {
	var out []StatusReading
	for _, by := range slices.Sorted(maps.Keys(y.failedBy)) {
		out = append(out, StatusReading{by, y.failedBy[by]})
	}
	slices.SortStableFunc(out, func(a, b StatusReading) int { return cmp.Compare(b.Calls, a.Calls) })
	return out
}
