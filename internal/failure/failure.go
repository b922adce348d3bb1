// Package failure knows the ways in which results of tools say that the call failed.
//
// The text of a result comes in, the pattern that it fits goes out. [Patterns] is the
// one table of them: traces are read by those of it that are sure, the built-in set of
// rules has a rule for each, and rules are drafted from all. It keeps nothing, and does
// not know whether a trace records the status of its calls.
package failure

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// Pattern is a way in which results say that a call failed.
type Pattern struct {
	Name string // stable, such as "error-text"
	Doc  string // what a result looks like

	// Sure patterns are narrow: a result that only speaks of errors does not fit them,
	// so they are read where no flag and no rule says anything. The others want somebody
	// who knows the tool, or results of it that bear them out.
	Sure bool

	text    *regexp.Regexp    // found in the beginning of a text; nil if texts never fit
	members map[string]member // or a member of a JSON object, by its name, for which this is true
}

// member reports whether the value that a cursor stands at says that a call failed.
type member func(c *jsonscan.Cursor) bool

// Patterns are all patterns, in the order in which they are tried.
var Patterns = []Pattern{
	{Name: "error-member", Doc: `JSON with a member "error" that says something`, Sure: true, members: map[string]member{"error": says, "Error": says}},
	{Name: "error-flag", Doc: `JSON with "isError" or "is_error" true`, Sure: true, members: map[string]member{"isError": isTrue, "is_error": isTrue}},
	{
		Name: "http-status", Doc: "a text that begins with an HTTP status from 400 on, or JSON with such a status_code", Sure: true, members: map[string]member{"status_code": isHTTPCode, "statusCode": isHTTPCode},
		text: regexp.MustCompile(`^\s*(?i:(?:HTTP(?:/[\d.]+)?|HTTP error|(?:(?:response |request failed with )?)status(?: code)?)\s*(?:is|:|=)?\s*[45]\d\d\b|[45]\d\d (?:Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Not Acceptable|Request Timeout|Conflict|Gone|Unprocessable|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Timeout|Client Error|Server Error))`),
	},
	{
		Name: "exit-code", Doc: "a text that begins with an exit code other than 0, or JSON with one", Sure: true, members: map[string]member{"exit_code": isNotZero, "exitCode": isNotZero, "returncode": isNotZero},
		text: regexp.MustCompile(`^\s*(?i:(?:command |process )?(?:failed with |exited with |returned )?(?:exit(?:ed)?(?: with)?(?: code| status)?|return code)[ :=]+-?0*[1-9]\d*\b)`),
	},
	{
		Name: "traceback", Doc: "a Python traceback", Sure: true,
		text: regexp.MustCompile(`^\s*(?:Execution failed\. )?Traceback(?: \(most recent call last\)|:)`),
	},
	{
		Name: "error-text", Doc: "a text that begins with Error: or the like", Sure: true,
		text: regexp.MustCompile(`^[\s<\[(*]*(?:(?:[A-Za-z_][\w.]*)?(?:Error|Exception)|ERROR|error|Failure|FAILED)[\]>)*]*(?:\s*[:!]|\(['"]|\s+(?:\d{3}\b|[Ee]xecuting|[Ww]hile|[Ii]n |[Cc]alling|[Rr]unning|[Rr]eading|[Ff]etching|[Oo]ccurred|[Cc]ode)|\s*$)`),
	},
	{
		Name: "failure-member", Doc: `JSON with "success" or "ok" false, a status that is an error, or members such as "errors" and "exception" that say something`,
		members: map[string]member{
			"success": isFalse, "ok": isFalse, "status": isBadStatus, "code": isHTTPCode,
			"errors": says, "error_message": says, "errorMessage": says, "exception": says,
		},
	},
	{Name: "failed-to", Doc: "a text that begins with what could not be done", text: regexp.MustCompile(`^\s*(?:Failed|Unable) to [a-z]`)},
	{
		Name: "shell-message", Doc: "what a shell says of a command that it could not run, or an exit code other than 0 at the end",
		text: regexp.MustCompile(`^(?:/bin/)?(?:bash|sh|zsh)(?:: line \d+)?: .{1,200}: (?:command not found|No such file or directory|Permission denied)|(?i:exit(?:ed with)? (?:code|status))[:=]?\s*[1-9]\d*\)?\s*$`),
	},
}

// byMember is the pattern that a member of an object is of, by its name: it is of one only.
var byMember = func() map[string]memberOf {
	all := map[string]memberOf{}
	for i := range Patterns {
		for name, fits := range Patterns[i].members {
			all[name] = memberOf{&Patterns[i], fits}
		}
	}
	return all
}()

type memberOf struct {
	*Pattern
	fits member
}

// headLen is how much of a text is looked at: what says that it failed begins so.
const headLen = 400

// Named returns the pattern of a name, nil if there is none.
func Named(name string) *Pattern {
	for i := range Patterns {
		if Patterns[i].Name == name {
			return &Patterns[i]
		}
	}
	return nil
}

// Names returns the names of all patterns.
func Names() []string {
	names := make([]string, len(Patterns))
	for i := range Patterns {
		names[i] = Patterns[i].Name
	}
	return names
}

// Sure returns the first sure pattern that the text of a result fits, nil if none.
func Sure(text []byte) *Pattern { return find(text, true) }

// Find returns the first pattern that the text of a result fits, nil if none.
func Find(text []byte) *Pattern { return find(text, false) }

// In reports whether the text of a result fits the pattern.
func (p *Pattern) In(text []byte) bool {
	if text = content(text); len(text) == 0 {
		return false
	}
	if text[0] == '{' {
		return p.inObject(text)
	}
	return p.text != nil && p.text.Match(text[:min(len(text), headLen)])
}

func find(text []byte, sure bool) *Pattern {
	text = content(text)
	if len(text) == 0 {
		return nil
	}
	if text[0] == '{' {
		return findMember(text, sure)
	}
	head := text[:min(len(text), headLen)]
	for i := range Patterns {
		if p := &Patterns[i]; p.text != nil && (p.Sure || !sure) && p.text.Match(head) {
			return p
		}
	}
	return nil
}

// content is the text without space before it, and without the quotes of a text that was
// written as JSON.
func content(text []byte) []byte {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) > 0 && text[0] == '"' {
		c := jsonscan.New(text)
		if inner, ok := c.Text(); ok {
			text = bytes.TrimLeft(inner, " \t\r\n")
		}
	}
	return text
}

// findMember returns the pattern of the first member of an object that fits a sure one;
// if there is none, and all are asked for, that of the first that fits any.
func findMember(text []byte, sure bool) *Pattern {
	var found *Pattern
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		if found != nil && found.Sure {
			continue
		}
		m, ok := byMember[string(c.Key())]
		if ok && (m.Sure || !sure && found == nil) && m.fits(&c) {
			found = m.Pattern
		}
	}
	if c.Err() != nil {
		return nil
	}
	return found
}

// inObject reports whether a member of an object fits the pattern.
func (p *Pattern) inObject(text []byte) bool {
	found := false
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		if fits := p.members[string(c.Key())]; fits != nil && !found {
			found = fits(&c)
		}
	}
	return found && c.Err() == nil
}

func isTrue(c *jsonscan.Cursor) bool {
	v, ok := c.Bool()
	return ok && v
}

func isFalse(c *jsonscan.Cursor) bool {
	v, ok := c.Bool()
	return ok && !v
}

func isNotZero(c *jsonscan.Cursor) bool {
	n, ok := c.Int()
	return ok && n != 0
}

func isHTTPCode(c *jsonscan.Cursor) bool { return httpCode(c) != 0 }

// isBadStatus is of a status in words or as a code of HTTP.
func isBadStatus(c *jsonscan.Cursor) bool {
	if c.Kind() != jsonscan.String {
		return isHTTPCode(c)
	}
	word, _ := c.Text()
	return slices.Contains(badStatuses, strings.ToLower(string(word)))
}

var badStatuses = []string{"error", "failed", "failure"}

// httpCode is a number that is a code of HTTP which says that a request failed, else 0.
func httpCode(c *jsonscan.Cursor) int {
	if c.Kind() != jsonscan.Number {
		return 0
	}
	if n, ok := c.Int(); ok && n >= 400 && n <= 599 {
		return int(n)
	}
	return 0
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

// codes are the places in a text that says that its call failed where a code of
// HTTP stands.
var codes = []*regexp.Regexp{
	regexp.MustCompile(`^[\s<\[(*]*(?i:(?:[a-z_][\w.]*)?(?:error|exception)|failure|failed)[\]>)*]*[\s:]*(?i:(?:HTTP(?:/[\d.]+)?|status|code|error)[\s:=]*){0,3}([45]\d\d)\b`),
	regexp.MustCompile(`^\s*(?i:HTTP(?:/[\d.]+)?|(?:response |request failed with )?status(?: code)?)\s*(?i:status|error|code|is|:|=|\s)*([45]\d\d)\b`),
	regexp.MustCompile(`^\s*([45]\d\d) [A-Z][a-z]`),
}

// Code returns the code of HTTP, from 400 to 599, that a text begins with, or that a
// member of an object holds; 0 if there is none. A text that fits no sure pattern has none.
func Code(text []byte) int {
	if Sure(text) == nil {
		return 0
	}
	text = content(text)
	if text[0] == '{' {
		return memberCode(text)
	}
	head := text[:min(len(text), headLen)]
	for _, pattern := range codes {
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
			if code == 0 {
				code = httpCode(&c)
			}
		}
	}
	return code
}
