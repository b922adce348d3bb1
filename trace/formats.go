package trace

// Formats are the trace formats that are known, in detection order: the first
// that claims the beginning of a file is its format, so those that can be told
// by one member stand before those that look like others.
var Formats = []Format{
	formatOTLP,
	formatATIF,
	formatMCP,
	formatLangSmith,
	formatLangfuse,
	formatInspect,
	formatSWEAgent,
	formatToolBench,
	formatTau2,
	formatTauBench,
	formatOpenHands,
	formatManagedAgents,
	formatCodex,
	formatGeminiCLI,
	formatClaudeCode,
	formatGemini,
	formatOpenAIAgents,
	formatPhoenix,
	formatEventStream,
	formatOpenAIResponses,
	formatAnthropic,
	formatOpenAIChat,
}
