package learn

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/prefetch"
)

// kindsOfShape are up to how many shapes of one argument are kept; more are one.
const kindsOfShape = 3

// shapesOf returns the shapes of values: one for each of a few forms, else one of letters
// and digits, else none.
func shapesOf(values []string) []prefetch.Shape {
	distinct := slices.Compact(slices.Sorted(slices.Values(values)))
	if !slices.ContainsFunc(distinct, func(v string) bool { return strings.Count(v, "@") != 1 || !strings.Contains(v, ".") }) {
		return []prefetch.Shape{prefetch.ShapeEmail}
	}
	for _, mixed := range []bool{false, true} {
		forms := map[string][][]runOf{}
		for _, v := range distinct {
			runs := runsOf(v, mixed)
			var form strings.Builder
			for _, r := range runs {
				form.WriteRune(r.class)
			}
			forms[form.String()] = append(forms[form.String()], runs)
		}
		if len(forms) > kindsOfShape {
			// What stands in a few values only is left out; the others must be most of them.
			left := 0
			for form, list := range forms {
				if len(list) < minUses {
					delete(forms, form)
					left += len(list)
				}
			}
			if len(forms) == 0 || len(forms) > kindsOfShape || float64(left) > (1-mostly)*float64(len(distinct)) {
				continue
			}
		}
		var out []prefetch.Shape
		for _, form := range slices.Sorted(maps.Keys(forms)) {
			out = append(out, shapeOf(forms[form]))
		}
		return out
	}
	return nil
}

// runOf is a run of one class, or a character that stands for itself.
type runOf struct {
	class  rune
	length int // 0 for a character that stands for itself
}

// runsOf divides a value into runs. With mixed, letters and digits are one class: capitals
// and digits X, others w.
func runsOf(value string, mixed bool) []runOf {
	lower := strings.ContainsFunc(value, unicode.IsLower)
	var out []runOf
	for _, r := range value {
		class := rune(0)
		switch {
		case mixed && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if class = 'X'; lower {
				class = 'w'
			}
		case unicode.IsDigit(r):
			class = '9'
		case unicode.IsUpper(r):
			class = 'A'
		case unicode.IsLetter(r):
			class = 'a'
		}
		switch n := len(out); {
		case class == 0:
			out = append(out, runOf{r, 0})
		case n > 0 && out[n-1].class == class && out[n-1].length > 0:
			out[n-1].length++
		default:
			out = append(out, runOf{class, 1})
		}
	}
	return out
}

// shapeOf writes the shape of values of one form: the length of a run is kept where it is
// always the same.
func shapeOf(list [][]runOf) prefetch.Shape {
	var b strings.Builder
	for i, r := range list[0] {
		if r.length == 0 {
			if strings.ContainsRune(`aA9Xw{}+\`, r.class) {
				b.WriteByte('\\')
			}
			b.WriteRune(r.class)
			continue
		}
		b.WriteRune(r.class)
		same := !slices.ContainsFunc(list, func(o []runOf) bool { return o[i].length != r.length })
		switch {
		case !same || len(list) < minUses && r.length > 1:
			b.WriteByte('+')
		case r.length > 1:
			b.WriteString(prefetch.Times(r.length))
		}
	}
	return prefetch.Shape(b.String())
}
