package spantree

import (
	"slices"

	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// goesOn reports whether a request goes on with what was said here: it repeats what
// the model has said or was answered, tells it again, or answers a call that waits.
func (r *reader) goesOn(said *spanSaid) bool {
	for i := range said.input {
		it := &said.input[i]
		if it.Copied && len(r.turns) > 0 {
			return true
		}
		if it.Kind != build.ItemResult && !it.Kind.OfModel() {
			continue
		}
		if it.Kind == build.ItemResult && len(it.ID) > 0 && len(r.byID[string(it.ID)]) > 0 {
			return true
		}
		if h, ok := it.Next(build.ItemHash{}); ok && r.model[h] {
			return true
		}
	}
	return false
}

// news returns what a request says that was not said before; changed is true if
// it does not go on from what was.
func (r *reader) news(input []build.Item) (news []build.Item, changed bool) {
	if len(r.views) == 0 {
		return input, false
	}
	var hashes []build.ItemHash
	var at []int // the item of a hash
	for i := range input {
		if h, ok := input[i].Next(build.ItemHash{}); ok {
			hashes, at = append(hashes, h), append(at, i)
		} else if input[i].Kind == build.ItemSystem {
			news = append(news, input[i])
		}
	}
	best, length := 0, -1
	for i, view := range r.views {
		n := 0
		for n < len(view) && n < len(hashes) && view[n] == hashes[n] {
			n++
		}
		if n >= length {
			best, length = i, n
		}
	}
	view := r.views[best]
	r.views = append(slices.Delete(r.views, best, best+1), view)
	behind := func(n int) []build.Item { // from the n-th hash
		if n >= len(hashes) {
			return news
		}
		for _, it := range input[at[n]:] {
			if it.Kind != build.ItemSystem {
				news = append(news, it)
			}
		}
		return news
	}
	switch {
	case len(hashes) == 0:
		return news, false
	case length == len(view) || length == len(hashes):
		return behind(length), false
	case r.onlyNew(input):
		return behind(0), false
	}
	// The last that both have; what the model said right behind it is what it
	// said there, in other words.
	where := map[build.ItemHash]int{}
	for i, h := range hashes {
		where[h] = i
	}
	for back := 1; back <= min(len(view), deepest); back++ {
		i, ok := where[view[len(view)-back]]
		if !ok {
			continue
		}
		for i++; i < len(hashes) && back > 1 && input[at[i]].Kind.OfModel(); i++ {
		}
		return behind(i), true
	}
	// Nothing: a request of its own, or one that has lost its beginning.
	last := -1
	for i := range hashes {
		switch it := &input[at[i]]; {
		case it.Kind == build.ItemResult:
			if list := r.waits[string(it.ID)]; len(list) > 0 && !list[len(list)-1].resulted {
				r.result(it)
			}
			last = i
		case it.Kind.OfModel():
			last = i
		}
	}
	return behind(last + 1), last >= 0
}

// onlyNew reports whether a request holds only what is new: it begins with the
// result of a call that waits.
func (r *reader) onlyNew(input []build.Item) bool {
	for i := range input {
		switch it := &input[i]; {
		case it.Kind == build.ItemSystem:
		case it.Kind == build.ItemResult && len(it.ID) > 0:
			list := r.waits[string(it.ID)]
			return len(list) > 0 && !list[len(list)-1].resulted
		default:
			return false
		}
	}
	return false
}

// remember keeps what was said in a request and its response, in place of the
// request that it goes on from.
func (r *reader) remember(input, output []build.Item) {
	var view []build.ItemHash
	for _, items := range [][]build.Item{input, output} {
		for i := range items {
			if h, ok := items[i].Next(build.ItemHash{}); ok {
				view = append(view, h)
				if items[i].Kind == build.ItemResult || items[i].Kind.OfModel() {
					r.model[h] = true
				}
			}
		}
	}
	if len(view) == 0 {
		return
	}
	if n := len(r.views); n > 0 && r.views[n-1][0] == view[0] {
		r.views[n-1] = view
		return
	}
	if r.views = append(r.views, view); len(r.views) > maxViews {
		r.views = slices.Delete(r.views, 0, 1)
	}
}
