// The shop as an MCP server on standard input and output, to try the hook with.
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const server = new McpServer({ name: "shop", version: "1" });
server.registerTool("get_order", { description: "Show an order.", inputSchema: z.object({ order_id: z.string() }) }, ({ order_id }) => {
  const structuredContent = { order_id, status: "sent" };
  return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
});
await server.connect(new StdioServerTransport());
