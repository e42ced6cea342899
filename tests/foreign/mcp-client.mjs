// The client of MCP's authors, as published: npm's @modelcontextprotocol/client.
//
//   node mcp-client.mjs '{"url": "http://…/mcp", "key": "csk_…", "mode": "legacy"}'
//   node mcp-client.mjs '{"command": "countersign", "args": ["mcp"], "env": {…}, "mode": {"pin": "2026-07-28"}}'
//
// Output first: connected (the version, the server's name, its tools). Then one call a line, {"tool", "arguments"}, and
// one line each: the result of the tool, or thrown. It accepts every elicitation: a server must not take that for a
// person's decision. Ends with its input.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createInterface } from "node:readline";

const { url, key, command, args, env, mode } = JSON.parse(process.argv[2]);
const tell = (what) => console.log(JSON.stringify(what));

const headers = key ? { Authorization: `Bearer ${key}` } : {};
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  : new StdioClientTransport({ command, args, env, stderr: "inherit" });

const capabilities = { elicitation: {}, sampling: {} };
const client = new Client({ name: "a client", version: "1.0.0" }, { capabilities, versionNegotiation: { mode } });
client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { decision: "accept" } }));

try {
  await client.connect(transport);
  const { tools } = await client.listTools();
  tell({
    connected: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion()?.name,
    tools: tools.map((tool) => tool.name),
  });
  for await (const line of createInterface({ input: process.stdin })) {
    const { tool, arguments: given } = JSON.parse(line);
    try {
      tell(await client.callTool({ name: tool, arguments: given }));
    } catch (why) {
      tell({ thrown: why.message, code: why.code });
    }
  }
  await client.close();
} catch (why) {
  tell({ failed: why.message, code: why.code });
}
