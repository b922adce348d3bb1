package sessions

// Agent is a coding agent, and where it keeps its sessions.
type Agent struct {
	Name   string // as --agent takes it
	Title  string // as people call it
	Source string // the page that documents the places

	// Moved are variables that move the sessions. One that is set stands for the folders
	// of Folders whose place it takes.
	Moved []Moved
	// Folders hold sessions. They begin with a base: ~ is the home folder, DATA the
	// user's folder for data of programs, CODE that of Visual Studio Code for users.
	Folders []string
	// Windows are the folders there, where they are not Folders; APPDATA is a base, too.
	Windows []string
	// Parts says that a session is several files, of which some may not change any more
	// while it goes on.
	Parts bool
	// Files are patterns of the session files in these folders: * stands for any characters
	// of a name, ** for any number of folders.
	Files []string

	// Databases are patterns of files that newer versions keep sessions in, and that are
	// not read; Export says how to get them.
	Databases []string
	Export    string
}

// Moved is a variable that names a folder, and the folders below it that hold sessions.
type Moved struct {
	Variable string
	Below    []string
}

const tasks = "*/api_conversation_history.json"

// Agents are the agents whose sessions are found, by name.
var Agents = []Agent{
	{
		Name: "claude-code", Title: "Claude Code", Source: "https://code.claude.com/docs/en/claude-directory",
		Moved:   []Moved{{"CLAUDE_CONFIG_DIR", []string{"projects"}}},
		Folders: []string{"~/.claude/projects", "~/.config/claude/projects"},
		Files:   []string{"*/*.jsonl", "*/*/subagents/**/agent-*.jsonl"},
	},
	{
		Name: "cline", Title: "Cline", Source: "https://docs.cline.bot/enterprise-solutions/monitoring/prompt-storage",
		Folders: []string{"~/.cline/data/tasks", "CODE/globalStorage/saoudrizwan.claude-dev/tasks"},
		Files:   []string{tasks},
	},
	{
		Name: "codex", Title: "Codex", Source: "https://github.com/openai/codex/tree/main/codex-rs/rollout",
		Moved:   []Moved{{"CODEX_HOME", []string{"sessions", "archived_sessions"}}},
		Folders: []string{"~/.codex/sessions", "~/.codex/archived_sessions"},
		Files:   []string{"**/rollout-*.jsonl", "**/rollout-*.jsonl.zst"},
	},
	{
		Name: "copilot-cli", Title: "GitHub Copilot CLI", Source: "https://docs.github.com/copilot/reference/copilot-cli-reference/cli-config-dir-reference",
		Moved:   []Moved{{"COPILOT_HOME", []string{"session-state"}}},
		Folders: []string{"~/.copilot/session-state"},
		Files:   []string{"*/events.jsonl", "*.jsonl"},
	},
	{
		Name: "craft", Title: "Craft Agents", Source: "https://github.com/lukilabs/craft-agents-oss",
		Folders: []string{"~/.craft-agent/workspaces"},
		Files:   []string{"*/sessions/*/session.jsonl"},
	},
	{
		Name: "cursor", Title: "Cursor", Source: "https://github.com/getagentseal/codeburn/blob/master/docs/providers/cursor-agent.md",
		Folders:   []string{"~/.cursor/projects", "~/.cursor/chats"},
		Files:     []string{"*/agent-transcripts/**/*.jsonl"},
		Databases: []string{"*/*/store.db"}, Export: "its chats in store.db cannot be exported",
	},
	{
		Name: "droid", Title: "Factory Droid", Source: "https://www.skills.sh/factory-ai/factory-plugins/session-navigation",
		Folders: []string{"~/.factory/sessions"},
		Files:   []string{"**/*.jsonl"},
	},
	{
		Name: "gemini-cli", Title: "Gemini CLI", Source: "https://geminicli.com/docs/cli/session-management",
		Moved:   []Moved{{"GEMINI_CLI_HOME", []string{".gemini/tmp"}}},
		Folders: []string{"~/.gemini/tmp"},
		Files:   []string{"*/chats/**/*.json", "*/chats/**/*.jsonl"},
	},
	{
		Name: "goose", Title: "goose", Source: "https://github.com/getagentseal/codeburn/blob/master/docs/providers/goose.md",
		Moved:     []Moved{{"GOOSE_PATH_ROOT", []string{"data/sessions"}}},
		Folders:   []string{"DATA/goose/sessions"},
		Windows:   []string{"APPDATA/Block/goose/sessions", "APPDATA/Block/goose/data/sessions"},
		Files:     []string{"*.jsonl"},
		Databases: []string{"sessions.db"}, Export: "`goose session export --format json` writes one to a file",
	},
	{
		Name: "kilo-code", Title: "Kilo Code", Source: "https://github.com/Kilo-Org/kilocode",
		Folders: []string{"CODE/globalStorage/kilocode.kilo-code/tasks"},
		Files:   []string{tasks},
	},
	{
		Name: "kimi", Title: "Kimi CLI", Source: "https://moonshotai.github.io/kimi-cli/en/configuration/data-locations.html",
		Moved:   []Moved{{"KIMI_SHARE_DIR", []string{"sessions"}}},
		Folders: []string{"~/.kimi/sessions"},
		Files:   []string{"*/*/wire.jsonl", "*/*/subagents/*/wire.jsonl"},
	},
	{
		Name: "openclaw", Title: "OpenClaw", Source: "https://docs.openclaw.ai/help/faq/where-things-live-on-disk",
		Moved:   []Moved{{"OPENCLAW_STATE_DIR", []string{"agents"}}},
		Folders: []string{"~/.openclaw/agents"},
		Files:   []string{"*/sessions/*.jsonl"},
	},
	{
		Name: "opencode", Title: "opencode", Source: "https://github.com/anomalyco/opencode/blob/dev/packages/opencode/src/storage/db.ts",
		Parts:     true,
		Folders:   []string{"DATA/opencode/storage", "DATA/opencode"},
		Files:     []string{"session/**/*.json", "message/**/*.json", "part/**/*.json"},
		Databases: []string{"opencode*.db"}, Export: "`opencode export SESSION` writes one to a file",
	},
	{
		Name: "openhands", Title: "OpenHands CLI", Source: "https://docs.openhands.dev/openhands/usage/cli/resume",
		Parts:   true,
		Folders: []string{"~/.openhands/conversations"},
		Files:   []string{"*/events/event-*.json"},
	},
	{
		Name: "pi", Title: "Pi", Source: "https://github.com/dnouri/pi-coding-agent/issues/205",
		Moved:   []Moved{{"PI_CODING_AGENT_DIR", []string{"sessions"}}},
		Folders: []string{"~/.pi/agent/sessions"},
		Files:   []string{"*/*.jsonl"},
	},
	{
		Name: "qwen-code", Title: "Qwen Code", Source: "https://docs.specstory.com/integrations/qwen-code",
		Moved:   []Moved{{"QWEN_RUNTIME_DIR", []string{"projects"}}, {"QWEN_HOME", []string{"projects"}}},
		Folders: []string{"~/.qwen/projects"},
		Files:   []string{"*/chats/*.jsonl", "*/subagents/*/agent-*.jsonl"},
	},
	{
		Name: "roo-code", Title: "Roo Code", Source: "https://github.com/RooCodeInc/Roo-Code",
		Folders: []string{"CODE/globalStorage/rooveterinaryinc.roo-cline/tasks"},
		Files:   []string{tasks},
	},
	{
		Name: "vscode-copilot", Title: "Copilot Chat in VS Code", Source: "https://code.visualstudio.com/docs/copilot/chat/chat-sessions",
		Folders: []string{"CODE/workspaceStorage"},
		Files:   []string{"*/chatSessions/*.json", "*/chatSessions/*.jsonl"},
	},
}
