// A hook of Claude Code for prompts that are submitted: looks up what the prompt names, and
// prints it, which adds it to the context. In .claude/settings.json:
//
//	{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "node out/claude-code-hook.js .mcp.json"}]}]}}
//
// The file of servers is Claude Code's own. Each prompt is a run of its own here, so that
// rules that wait for another tool to succeed first are not followed.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { withPrefetch, type Json } from "./prefetch.js";

const { prompt } = JSON.parse(readFileSync(0, "utf8")) as { prompt: string };
const { mcpServers } = JSON.parse(readFileSync(process.argv[2] ?? ".mcp.json", "utf8")) as {
  mcpServers: { [name: string]: { command?: string; args?: string[]; env?: { [name: string]: string } } };
};
const servers: { [tool: string]: Client } = {};
const clients: Client[] = [];
for (const { command, args, env } of Object.values(mcpServers)) {
  if (command === undefined) continue; // a server over HTTP
  const client = new Client({ name: "prefetch-hook", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, env }));
  clients.push(client);
  for (const tool of (await client.listTools()).tools) servers[tool.name] = client;
}

const callTool = withPrefetch(async (name, args) => {
  if (!(name in servers)) throw new Error(`no server has the tool ${name}`);
  const { structuredContent, content, isError } = await servers[name].callTool({ name, arguments: args });
  return (isError ? { isError, content } : structuredContent ?? content) as Json;
});
const told = await callTool.onUserMessage(prompt);
if (told.length > 0) console.log(`Looked up already, need not be asked for: ${JSON.stringify(told)}`);
await Promise.all(clients.map((client) => client.close()));
