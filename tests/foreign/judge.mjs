// A second judge of signatures: the npm library jose.
// Reads one question a line from standard input and answers each with one line: JSON both ways.

import { createInterface } from "node:readline";
import {
  SignJWT,
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
} from "jose";

// RSA keys take long to generate, and one serves every RSA algorithm.
let rsa;

async function pair(alg) {
  if (!/^[RP]S/.test(alg)) return generateKeyPair(alg, { extractable: true });
  return (rsa ??= await generateKeyPair("RS256", { extractable: true }));
}

const answers = {
  // A key pair for an algorithm.
  async keys({ alg, kid }) {
    const { publicKey, privateKey } = await pair(alg);
    const named = async (key) => ({ ...(await exportJWK(key)), kid, alg, use: "sig" });
    return { public: await named(publicKey), private: await named(privateKey) };
  },

  async sign({ key, header, claims }) {
    const signer = await importJWK(key, header.alg);
    return { jwt: await new SignJWT(claims).setProtectedHeader(header).sign(signer) };
  },

  // The verification of a token with nothing but the key set.
  async verify({ jwks, jwt, typ, issuer, audience, now }) {
    const currentDate = new Date(now * 1000);
    const { payload, protectedHeader } = await jwtVerify(jwt, createLocalJWKSet(jwks), {
      typ,
      issuer,
      audience,
      currentDate,
    });
    return { claims: payload, header: protectedHeader };
  },

  async thumbprint({ key }) {
    return { thumbprint: await calculateJwkThumbprint(key) };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  const answer = await answers[question.do](question).catch((why) => ({ refused: String(why) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
