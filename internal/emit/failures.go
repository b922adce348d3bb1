package emit

// FailuresJSON says how often the calls of a candidate fail where agents make them
// one after the other, against how often such calls fail elsewhere.
type FailuresJSON struct {
	Begun    int        `json:"begun"`    // times that the second call followed on the first, which had not failed
	Failed   int        `json:"failed"`   // of them, in which a call after the first failed
	Ended    int        `json:"given_up"` // of these, in which the rest was not made then
	Observed *ShareJSON `json:"observed"` // null where such calls are made nowhere else
	Expected *ShareJSON `json:"expected"`
}

// ShareJSON is a share with its 95 % interval.
type ShareJSON struct {
	Share float64 `json:"share"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}
