// A resource server as one would write it: fastify, `jose` for the proof, tokens and spent proofs in memory.

import { createHash, randomBytes } from 'node:crypto';
import Fastify from 'fastify';
import { EmbeddedJWK, calculateJwkThumbprint, jwtVerify } from 'jose';
import { agents, tell } from './told.mjs';

const WINDOW_S = 300;
const path = '/accounts';
const tokens = new Map(agents.map((jkt) => [randomBytes(32).toString('base64url'), { jkt, scope: 'bank.read' }]));

/** Spent proofs. A proof can be good for twice the window, so none is dropped sooner. */
let [older, newer] = [new Set(), new Set()];
setInterval(() => { [older, newer] = [newer, new Set()]; }, 2 * WINDOW_S * 1000).unref();

function spend(jkt, jti) {
  const id = `${jkt}.${jti}`;
  if (newer.has(id) || older.has(id)) return false;
  newer.add(id);
  return true;
}

let htu;
const app = Fastify();

app.addHook('onRequest', async (request, reply) => {
  const refuse = (why) => reply.code(401).header('www-authenticate', `DPoP error="${why}"`).send({ error: why });
  const [scheme, token] = (request.headers.authorization ?? '').split(' ');
  const known = scheme === 'DPoP' ? tokens.get(token) : undefined;
  if (!known) return refuse('invalid_token');
  try {
    const { payload, protectedHeader } = await jwtVerify(request.headers.dpop, EmbeddedJWK, {
      algorithms: ['ES256', 'PS256'], typ: 'dpop+jwt', requiredClaims: ['iat', 'jti', 'htm', 'htu', 'ath'],
    });
    if (Math.abs(Date.now() / 1000 - payload.iat) > WINDOW_S) return refuse('invalid_dpop_proof');
    if (payload.htm !== request.method || payload.htu !== htu) return refuse('invalid_dpop_proof');
    if (payload.ath !== createHash('sha256').update(token).digest('base64url')) return refuse('invalid_dpop_proof');
    if (await calculateJwkThumbprint(protectedHeader.jwk) !== known.jkt) return refuse('invalid_token');
    if (!spend(known.jkt, payload.jti)) return refuse('invalid_dpop_proof');
  } catch {
    return refuse('invalid_dpop_proof');
  }
  if (known.scope !== 'bank.read') return reply.code(403).send({ error: 'insufficient_scope' });
});

app.get(path, async () => ({ accounts: ['ours'] }));

await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address();
htu = `http://127.0.0.1:${port}${path}`;
tell(port, path, [...tokens.keys()]);
