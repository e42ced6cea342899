// A proxy that adds the credential that MCP's conformance suite cannot send. Everything else is passed on unchanged,
// host and origin above all.
//
//   node mcp-forward.mjs
//
// Prints its port, reads one line, {"host", "port", "key"}: the target and the credential. Ends with its input.

import { createServer, request } from "node:http";
import { createInterface } from "node:readline";

let target;

const server = createServer((asked, answer) => {
  const headers = [...asked.rawHeaders, "Authorization", `Bearer ${target.key}`];
  const { method, url: path } = asked;
  const on = request({ host: target.host, port: target.port, method, path, headers }, (answered) => {
    answer.writeHead(answered.statusCode, answered.rawHeaders);
    answered.pipe(answer);
  });
  on.on("error", () => answer.destroy());
  asked.pipe(on);
});

server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
for await (const line of createInterface({ input: process.stdin })) target = JSON.parse(line);
process.exit();
