package jsonscan

// Codes of the problems that a text can have. They are stable.
const (
	CodeSyntax    = "json-syntax"    // a byte stands where none like it may
	CodeTruncated = "json-truncated" // the text ends inside a value
	CodeUTF8      = "json-utf8"      // a string is no valid UTF-8
	CodeControl   = "json-control"   // a raw control character in a string
	CodeEscape    = "json-escape"    // a backslash before what it may not escape
	CodeNumber    = "json-number"    // a number that JSON does not write so
	CodeDepth     = "json-depth"     // nested deeper than MaxDepth
	CodeTrailing  = "json-trailing"  // something stands behind the value
)

// Error is why a text is not accepted. Msg says it in words and holds nothing
// of the text.
type Error struct {
	Code   string
	Offset int // of the first byte that is wrong; the length of the text if it ends too early
	Msg    string
}

// Error returns "code: message".
func (e *Error) Error() string { return e.Code + ": " + e.Msg }

// Sentences that several places use.
const (
	msgValue     = "a value is expected here"
	msgKey       = "the name of a member, in quotes, is expected here"
	msgColon     = "a colon is expected after the name of a member"
	msgObjectEnd = "a comma or a closing brace is expected here"
	msgArrayEnd  = "a comma or a closing bracket is expected here"
	msgComma     = "a comma with nothing behind it"
	msgEnds      = "the text ends inside a value"
	msgString    = "the text ends inside a string"
	msgUTF8      = "these bytes are no valid UTF-8"
	msgControl   = "a control character in a string has to be written as an escape"
	msgEscape    = "a backslash stands before a character that it cannot escape"
	msgHex       = "an escape \\u needs four hexadecimal digits"
	msgLiteral   = "only true, false and null are written without quotes"
	msgNumber    = "a digit is expected here"
	msgZero      = "a number has no leading zero"
	msgDepth     = "the value is nested too deeply: at most 1,000 objects and arrays may be open at once"
	msgTrailing  = "nothing but white space may follow the value"
)
