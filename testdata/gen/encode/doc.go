// Package encode writes the runs of package office as traces: ATIF, OpenAI chat
// messages, OpenAI request and response logs, and OpenTelemetry spans; and the
// truth file beside them.
//
// In go runs, out come bytes. The encoders of single runs are pure functions
// that append to a slice; OTLP, whose lines mix the spans of several runs, and
// Truth, which ends with totals, are small writers that hold a bounded number of
// runs. Nothing is read back, and nothing of awo is used: what is written here
// is a check on awo's readers.
package encode
