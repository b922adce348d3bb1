package toolname

// The words that names are judged by. A word that is in no list says nothing.
var (
	// fetching are verbs of reading that are no nouns: they read wherever they stand.
	fetching = []string{"describe", "fetch", "find", "get", "inspect", "lookup", "retrieve"}

	// looking are verbs of reading that are nouns as well, or parts of other words:
	// they read where the name begins with them. In purge_list, the verb is the other.
	looking = []string{
		"calculate", "cat", "check", "count", "glob", "grep", "has", "head", "is", "list", "look", "ls", "query", "read", "search", "show", "stat", "tail", "view",
	}

	// turning are words that give the verb before them another meaning: check_out.
	turning = []string{"down", "in", "into", "off", "on", "out", "to"}

	// joining are words that another verb follows.
	joining = []string{"and", "or", "then"}

	// writing are words of which one makes a name that of a tool that writes.
	writing = []string{
		"activate", "add", "append", "apply", "approve", "assign", "buy", "cancel", "clear", "complete", "confirm", "create", "deactivate", "delete",
		"destroy", "disable", "drop", "edit", "enable", "erase", "exec", "execute", "insert", "install", "kill", "login", "logout", "mark", "modify", "move",
		"pay", "purge", "push", "put", "register", "reject", "remove", "rename", "replace", "reset", "restart", "revoke", "save", "send",
		"signup", "submit", "terminate", "toggle", "uninstall", "unset", "update", "upload", "upsert", "wipe", "withdraw", "write",
	}

	// doubtful are words of writing that are nouns in as many names, and languages in
	// which one may write: no name that has them is known to read.
	doubtful = []string{
		"book", "change", "command", "commit", "cypher", "graphql", "log", "merge", "patch", "post", "run", "script", "set", "shell", "sql", "start", "stop", "transfer",
	}

	// nounOrWriting are words of writing that are mostly nouns where they do not stand
	// in the place of the verb: get_order_details.
	nounOrWriting = []string{
		"archive", "book", "change", "click", "close", "comment", "commit", "copy", "deposit", "do", "download", "exchange", "follow", "invite", "like", "log", "make", "merge",
		"open", "order", "patch", "pause", "place", "play", "pop", "post", "press", "purchase", "refund", "reply", "return", "run", "schedule", "set", "share", "start", "stop", "transfer", "type",
	}

	// noting are verbs and nouns for what a model writes for itself.
	noting = []string{"note", "plan", "reason", "reflect", "scratchpad", "think", "thinking", "thought"}
)
