// What the Node peers have in common: the agents' keys come from a file, one line of JSON says where they listen, and
// they end when their input does.

import { readFileSync } from 'node:fs';

/** The thumbprints of the agents' keys. */
export const agents = JSON.parse(readFileSync(process.argv[2], 'utf8')).map((agent) => agent.jkt);

/** Says where it listens, what proofs are for, and the agents' tokens in the order of their keys. */
export function tell(port, path, tokens) {
  const address = `127.0.0.1:${port}`;
  process.stdout.write(`${JSON.stringify({ addresses: [address], origin: `http://${address}`, path, tokens })}\n`);
  process.stdin.on('end', () => process.exit(0)).resume();
}
