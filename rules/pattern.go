package rules

import (
	"errors"
	"regexp/syntax"
	"strings"
)

// patternProblem is what is wrong with a regular expression, at a byte offset.
type patternProblem struct {
	offset  int
	message string
}

// patternMessages are our words for the errors of package regexp/syntax.
var patternMessages = map[syntax.ErrorCode]string{
	syntax.ErrInvalidCharClass:      "this character class is not complete",
	syntax.ErrInvalidCharRange:      "this range of characters is empty or not known",
	syntax.ErrInvalidEscape:         "this escape means nothing in a regular expression (RE2 has no references such as \\1)",
	syntax.ErrInvalidNamedCapture:   "the name of this group is not closed, used twice, or not made of letters, digits and _",
	syntax.ErrInvalidPerlOp:         "RE2 knows no such group: it has no look-ahead and no look-behind",
	syntax.ErrInvalidRepeatOp:       "one repetition cannot follow another",
	syntax.ErrInvalidRepeatSize:     "a repetition has at most 1000 rounds, and its first number is not larger than its second",
	syntax.ErrInvalidUTF8:           "the regular expression is not UTF-8",
	syntax.ErrMissingBracket:        "this `[` is not closed",
	syntax.ErrMissingParen:          "a `(` is not closed",
	syntax.ErrMissingRepeatArgument: "nothing stands before this repetition",
	syntax.ErrTrailingBackslash:     "the regular expression ends with a backslash",
	syntax.ErrUnexpectedParen:       "this `)` closes nothing",
	syntax.ErrNestingDepth:          "the regular expression is nested too deeply",
	syntax.ErrLarge:                 "the regular expression is too large",
}

// patternSteps parses a regular expression and estimates how many steps its
// program has.
func patternSteps(text string) (int, *patternProblem) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err == nil {
		return treeSteps(tree), nil
	}
	problem := &patternProblem{message: "this is not a regular expression"}
	syntaxError, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return 0, problem
	}
	if message, known := patternMessages[syntaxError.Code]; known {
		problem.message = message
	}
	problem.offset = patternOffset(text, syntaxError)
	return 0, problem
}

// patternOffset finds the part of the text that an error is about.
func patternOffset(text string, err *syntax.Error) int {
	switch err.Code {
	case syntax.ErrTrailingBackslash:
		return len(text) - 1
	case syntax.ErrUnexpectedParen, syntax.ErrMissingParen:
		return unbalanced(text)
	}
	if at := strings.Index(text, err.Expr); err.Expr != "" && at >= 0 {
		return at
	}
	return 0
}

// unbalanced returns the offset of the parenthesis without a partner: the first
// closing one, or else the last opening one.
func unbalanced(text string) int {
	var open []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(text, i)
		case '(':
			open = append(open, i)
		case ')':
			if len(open) == 0 {
				return i
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

// classEnd returns the offset of the bracket that closes the class at i.
func classEnd(text string, i int) int {
	i++
	if strings.HasPrefix(text[i:], "^") {
		i++
	}
	for first := true; i < len(text); i, first = i+1, false {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], "[:"):
			if end := strings.Index(text[i:], ":]"); end >= 0 {
				i += end + 1
			}
		case text[i] == ']' && !first:
			return i
		}
	}
	return i
}

// treeSteps estimates the length of a program. Repetitions are written out in
// it, classes have a step for every few ranges.
func treeSteps(tree *syntax.Regexp) int {
	steps := 1 + len(tree.Rune)/2
	for _, sub := range tree.Sub {
		steps += treeSteps(sub)
		if steps > maxPatternSteps {
			return steps
		}
	}
	if tree.Op == syntax.OpRepeat {
		steps *= max(tree.Min, tree.Max, 1)
	}
	return steps
}
