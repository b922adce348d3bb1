package merge

// Values is what a place in the arguments of a tool was seen to hold.
type Values struct{ node *observed }

// Types returns the JSON Schema types seen, in the order null, boolean,
// integer, number, string, array, object; number includes integers.
func (v Values) Types() []string {
	var types []string
	for i, name := range [...]string{"null", "boolean", "integer", "number", "string", "array", "object"} {
		if v.node.kinds&(1<<i) == 0 {
			continue
		}
		if name == "integer" && v.node.kinds&sawNumber != 0 {
			continue
		}
		types = append(types, name)
	}
	return types
}

// Elements returns what the elements of lists here were seen to be; false if
// there were none.
func (v Values) Elements() (Values, bool) {
	return Values{v.node.elems}, v.node.elems != nil
}

// Members returns the names of the members of objects here, in order, and
// whether that are all: objects that are maps of data have too many to keep.
func (v Values) Members() (names []string, all bool) {
	return v.node.names, !v.node.crowded
}

// Member returns what a member of objects here was seen to hold, and whether
// every object had it.
func (v Values) Member(name string) (values Values, always bool) {
	node := v.node.member(name)
	return Values{node}, node != nil && node.seen == v.node.objects
}
