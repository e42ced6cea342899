// oidc-provider's userinfo with DPoP. Its own memory adapter keeps a thousand rows and would push the tokens out, so
// rows stay in a Map here, which costs it less than any database.

import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { agents, tell } from './told.mjs';

const rows = new Map();
// It would have them expire, which nothing here lives to see.
class Rows {
  constructor(model) { this.model = model; }
  async upsert(id, payload) { rows.set(`${this.model}:${id}`, payload); }
  async find(id) { return rows.get(`${this.model}:${id}`); }
  async findByUid() {}
  async findByUserCode() {}
  async consume() {}
  async destroy(id) { rows.delete(`${this.model}:${id}`); }
  async revokeByGrantId() {}
}

const server = createServer();
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const { port } = server.address();

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const provider = new Provider(`http://127.0.0.1:${port}`, {
  adapter: Rows,
  clients: [{
    client_id: 'agent', client_secret: 'a-secret-of-the-benchmark', redirect_uris: ['https://agent.example.test/cb'],
    dpop_bound_access_tokens: true,
  }],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  cookies: { keys: ['a-key-of-the-benchmark'] },
  features: { dPoP: { enabled: true }, devInteractions: { enabled: false } },
  findAccount: async (_, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
  ttl: { AccessToken: 86400, Grant: 86400 },
});
server.on('request', provider.callback());

const client = await provider.Client.find('agent');
const grant = new provider.Grant({ accountId: 'alice', clientId: 'agent' });
grant.addOIDCScope('openid');
const grantId = await grant.save();
const tokens = [];
for (const jkt of agents) {
  const token = new provider.AccessToken({ accountId: 'alice', client, grantId, gty: 'authorization_code', scope: 'openid' });
  token.jkt = jkt;
  tokens.push(await token.save());
}
tell(port, '/me', tokens);
