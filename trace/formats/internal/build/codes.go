package build

// CodeRecordShape is the problem of a record that is JSON but no trajectory of its
// format.
const CodeRecordShape = "record-shape"

// Anomalies of session files.
const (
	CodeBranchAbandoned   = "branch-abandoned"    // a line of a branch that was taken back: left out
	CodeLineCopied        = "line-copied"         // a line that stands twice: counted once
	CodeMessageSynthetic  = "message-synthetic"   // a message that the program wrote in the model's name: left out
	CodeParentCallUnknown = "parent-call-unknown" // a sub-agent whose starting call is not known
)

// Anomalies of rollout files.
const (
	CodeTurnAborted   = "turn-aborted"   // a turn that the user interrupted
	CodeUsageUnplaced = "usage-unplaced" // token counts of a response that is not recorded: left out
)

// Anomalies of streams.
const (
	CodeRequestMissing = "request-missing" // a response whose request is not in the trace
	CodeCallBroken     = "call-incomplete" // a call that was not complete when the stream broke off: left out
)

// Anomalies of what a trace states of itself.
const (
	CodeUsageSum     = "usage-sum"     // token counts that do not add up to the total beside them, or to that of the trajectory
	CodeStepsMissing = "steps-missing" // a trajectory says that it has more steps than there are
)

// CodeArgsStreamed is the anomaly of a call whose arguments came in pieces that
// were not put together: they are missing.
const CodeArgsStreamed = "args-streamed"

// Anomalies of sessions of Gemini CLI.
const (
	CodeMessageNotice = "message-notice" // what the program told the user: left out
	CodeCallCancelled = "call-cancelled" // a call that the user cancelled: it failed
)

// CodeResponseElsewhere is the anomaly of a model response that is in none of the
// trajectory's messages: left out.
const CodeResponseElsewhere = "response-elsewhere"

// CodeContentStored is the anomaly of a step whose input or output is kept
// elsewhere than in the trace.
const CodeContentStored = "content-stored-elsewhere"

// Anomalies of logs of responses.
const (
	CodeResponseFailed   = "response-failed"           // a request that gave no response
	CodeResponseCut      = "response-incomplete"       // a response that the interface broke off
	CodePreviousResponse = "previous-response-missing" // a request that goes on from a response that is not there
)

// CodeEventUnknown is the anomaly of an event of an unknown kind: left out.
const CodeEventUnknown = "event-unknown"

// Codes of anomalies: what is wrong in a trajectory, but readable. They are counted in
// Trajectory.Anomalies. See also CodeOrphanResult.
const (
	CodeArgsNotJSON    = "args-not-json"    // arguments that are no JSON
	CodeArgsNotObject  = "args-not-object"  // arguments that are JSON but no object
	CodeCallRepeatedID = "call-id-repeated" // a call with the id of an earlier one
	CodeCallUnnamed    = "call-unnamed"     // a call without the name of a tool: left out
	CodeCallsUnread    = "calls-unread"     // what looks like a call under a name that is not known: left out
	CodeKeyDuplicate   = "key-duplicate"    // a member that an object has twice: the last counts
	CodeLoneSurrogate  = "surrogate-lone"   // half a surrogate pair: read as U+FFFD
	CodeMessageShape   = "message-shape"    // a message, call or result that cannot be one: left out
	CodeMessageRole    = "message-role"     // a message from somebody unknown: left out
	CodeTimeInvalid    = "time-invalid"     // a time that cannot be read: left out
	CodeCopiedContext  = "context-copied"   // a step copied from another trajectory: left out
	CodeChoiceIgnored  = "choice-ignored"   // an answer of the model beside the first: left out
	CodeTurnAggregated = "turn-aggregated"  // model responses recorded as one turn, beside the first
	CodeResultDetached = "result-detached"  // output that the trace ascribes to no call: left out
)

// CodeRequestApart is the anomaly of a trajectory that ends with the model's answer
// in a file whose records repeat one another: it was not joined with them.
const CodeRequestApart = "request-apart"

// Anomalies of spans.
const (
	CodeSpanRepeated   = "span-repeated"     // a span that stands twice: the one that says more counts
	CodeSpanDoubled    = "span-doubled"      // a response or call that two instrumentations have a span of: counted once
	CodeHistoryChanged = "history-changed"   // a request that does not begin with what was said before: only its end is new
	CodeCachedApart    = "usage-cache-apart" // usage whose input leaves out the cached tokens: they were added
)

// Anomalies of logs that repeat what was said before in every record.
const (
	CodeHistoryForked  = "history-forked"  // a record goes on from the middle of a trajectory: one of its own begins
	CodeRecordRepeated = "record-repeated" // a record that stands twice: the last counts
)

// CodeContentUnknown is the anomaly of a message with content of a kind that is
// not known. It is compared by its JSON, so that it equals nothing else.
const CodeContentUnknown = "content-unknown"
