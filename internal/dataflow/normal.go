package dataflow

import (
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// A person writes "May 20th" and "1,250 dollars" where an agent passes
// 2024-05-20 and 1250. Normal forms make both the same. They say that a value
// could be known, not that it is the same value: nothing is bound on them.

// seedDate keeps the hashes of dates apart from others.
const seedDate = 10

// date is a day of the calendar. Year 0 means that none is named.
type date struct{ year, month, day int }

func (d date) valid() bool {
	return d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31 && (d.year == 0 || d.year >= 1000)
}

// anyYear stands for the year of a date that has one, in keys that are
// compared with dates without.
const anyYear = -1

func (d date) key(year int) uint64 {
	return jsonvalue.Mix(seedDate, uint64((year+1)*10000+d.month*100+d.day))
}

// mentionKeys are the keys under which a date that is written somewhere is
// found.
func (d date) mentionKeys() [2]uint64 {
	if d.year == 0 {
		return [2]uint64{d.key(0), d.key(0)}
	}
	return [2]uint64{d.key(d.year), d.key(anyYear)}
}

// wantKeys are the keys that a value looks for: a full date is known from the same
// date or from its day and month without a year, a date without a year from
// any with that day and month.
func (d date) wantKeys() [2]uint64 {
	if d.year == 0 {
		return [2]uint64{d.key(0), d.key(anyYear)}
	}
	return [2]uint64{d.key(d.year), d.key(0)}
}

// appendDates appends the dates written in text, whose words are tokens:
// 2024-05-20 (and with / or .), 20/05/2024 in both readings, May 20th, 2024 and
// 20 May, with or without a year.
func appendDates(dates []date, text string, tokens []token) []date {
	for i := range tokens {
		c := text[tokens[i].start]
		if isDigit(c) {
			dates = appendNumericDate(dates, text, tokens[i:])
		} else if month, ok := monthOf(word3(text, tokens[i])); ok && isMonthWord(text, tokens[i]) {
			dates = appendNamedDate(dates, text, tokens, i, month)
		}
	}
	return dates
}

// appendNumericDate reads three numbers with the same separator between.
func appendNumericDate(dates []date, text string, tokens []token) []date {
	if len(tokens) < 3 {
		return dates
	}
	sep := text[tokens[0].end:tokens[1].start]
	if sep != "-" && sep != "/" && sep != "." || sep != text[tokens[1].end:tokens[2].start] {
		return dates
	}
	a, lenA := number(text, tokens[0])
	b, lenB := number(text, tokens[1])
	c, lenC := number(text, tokens[2])
	whole := tokens[0].len() == lenA && tokens[1].len() == lenB
	switch {
	case !whole || lenB > 2 || lenC == 0:
	case lenA == 4 && lenC <= 2 && (tokens[2].len() == lenC || text[tokens[2].start+int32(lenC)]|0x20 == 't'):
		dates = appendValid(dates, date{a, b, c})
	case lenA <= 2 && lenC == 4 && tokens[2].len() == lenC:
		dates = appendValid(dates, date{c, a, b})
		if a != b {
			dates = appendValid(dates, date{c, b, a})
		}
	}
	return dates
}

// appendNamedDate reads the day and year around the month word tokens[i].
func appendNamedDate(dates []date, text string, tokens []token, i, month int) []date {
	day, next := 0, i+1
	if next < len(tokens) && near(tokens[i], tokens[next]) {
		if day = ordinal(text, tokens[next]); day > 0 {
			next++
		}
	}
	if day == 0 {
		before := i - 1
		if before >= 0 && tokens[before].of(text) == "of" {
			before--
		}
		if before < 0 || tokens[i].start-tokens[before].end > 5 {
			return dates
		}
		if day = ordinal(text, tokens[before]); day == 0 {
			return dates
		}
	}
	year := 0
	if next < len(tokens) && near(tokens[next-1], tokens[next]) {
		if n, size := number(text, tokens[next]); size == 4 && tokens[next].len() == 4 {
			year = n
		}
	}
	return appendValid(dates, date{year, month, day})
}

func appendValid(dates []date, d date) []date {
	if d.valid() {
		dates = append(dates, d)
	}
	return dates
}

func (t token) len() int { return int(t.end - t.start) }

func (t token) of(text string) string { return text[t.start:t.end] }

// near reports whether at most a comma and a blank stand between two words.
func near(a, b token) bool { return b.start-a.end <= 2 }

// number reads the digits that a word begins with, at most nine.
func number(text string, t token) (n, size int) {
	for i := t.start; i < t.end && isDigit(text[i]) && size < 9; i++ {
		n = n*10 + int(text[i]-'0')
		size++
	}
	return n, size
}

// ordinal reads a day of the month: 5, 05, 5th. 0 if it is none.
func ordinal(text string, t token) int {
	n, size := number(text, t)
	if size == 0 || size > 2 || n > 31 {
		return 0
	}
	switch strings.ToLower(text[int(t.start)+size : t.end]) {
	case "", "st", "nd", "rd", "th":
		return n
	}
	return 0
}

// word3 returns the first three letters of a word that may be a month, in lower
// case.
func word3(text string, t token) string {
	if t.len() < 3 || t.len() > 9 || strings.IndexByte("jfmasond", text[t.start]|0x20) < 0 {
		return ""
	}
	return strings.ToLower(text[t.start : t.start+3])
}

func monthOf(word string) (int, bool) {
	const months = "janfebmaraprmayjunjulaugsepoctnovdec"
	i := strings.Index(months, word)
	return i/3 + 1, len(word) == 3 && i >= 0 && i%3 == 0
}

// isMonthWord reports whether the whole word is the name of the month that it
// begins like.
func isMonthWord(text string, t token) bool {
	switch strings.ToLower(t.of(text)) {
	case "jan", "january", "feb", "february", "mar", "march", "apr", "april", "may", "jun", "june", "jul", "july",
		"aug", "august", "sep", "sept", "september", "oct", "october", "nov", "november", "dec", "december":
		return true
	}
	return false
}

// dateOf reads a text that is nothing but a date.
func dateOf(text string) (date, bool) {
	if len(text) < 5 || len(text) > 30 {
		return date{}, false
	}
	text = strings.TrimSpace(text)
	tokens := appendTokens(nil, text)
	if len(tokens) < 2 || len(tokens) > 4 || tokens[0].start != 0 || int(tokens[len(tokens)-1].end) != len(text) {
		return date{}, false
	}
	months, days := 0, 0
	for _, t := range tokens {
		switch {
		case isMonthWord(text, t):
			months++
		case ordinal(text, t) > 0:
			days++
		case isDigits(text, t, 4), t.of(text) == "of", t.of(text) == "the":
		default:
			return date{}, false // something else is said, such as a time
		}
	}
	if months > 1 || months == 1 && days != 1 {
		return date{}, false
	}
	dates := appendDates(nil, text, tokens)
	if len(dates) == 0 {
		return date{}, false
	}
	return dates[0], true
}

// appendNumbers appends the canonical text of the numbers that are written in
// text with thousands separators or with zeros at the end of the fraction:
// what is written as JSON writes it is found as words.
func appendNumbers(numbers []string, text string, tokens []token) []string {
	between := func(j int) string { return text[tokens[j-1].end:tokens[j].start] }
	for i := 0; i < len(tokens); i++ {
		if !isDigits(text, tokens[i], 0) || i > 0 && between(i) == "." {
			continue // a part of a version or an address
		}
		digits, j := tokens[i].of(text), i+1
		for tokens[i].len() <= 3 && j < len(tokens) && between(j) == "," && isDigits(text, tokens[j], 3) {
			digits += tokens[j].of(text)
			j++
		}
		rewritten := j > i+1
		if j < len(tokens) && between(j) == "." && isDigits(text, tokens[j], 0) {
			digits += "." + tokens[j].of(text)
			rewritten = rewritten || digits[len(digits)-1] == '0'
			j++
		}
		if j < len(tokens) && between(j) == "." {
			continue
		}
		if canonical, ok := numberOf(digits); ok && rewritten {
			numbers = append(numbers, canonical)
		}
		i = j - 1
	}
	return numbers
}

// isDigits reports whether a word is digits only, n of them unless n is 0.
func isDigits(text string, t token, n int) bool {
	for i := t.start; i < t.end; i++ {
		if !isDigit(text[i]) {
			return false
		}
	}
	return n == 0 || t.len() == n
}

// numberOf returns what all spellings of a JSON number have in common.
func numberOf(text string) (string, bool) {
	if text == "" || len(text) > 40 || text[0] != '-' && !isDigit(text[0]) {
		return "", false
	}
	whole := strings.TrimRight(text, " \t\r\n")
	if digits := strings.TrimPrefix(whole, "-"); isWhole(digits) {
		if digits == "0" {
			return digits, true
		}
		return whole, true
	}
	if strings.Trim(whole, "0123456789+-.eE") != "" {
		return "", false
	}
	v, err := trace.ParseValue([]byte(text))
	if err != nil || v.Kind != trace.Number {
		return "", false
	}
	return jsonvalue.Number(v.Text), true
}

// isWhole reports whether a text is a whole number as JSON writes it.
func isWhole(text string) bool {
	if text == "" || text[0] == '0' && len(text) > 1 {
		return false
	}
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	return true
}
