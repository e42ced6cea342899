/** Proof of possession (DPoP, RFC 9449): a proof for each request, with the service's nonce. */

import { type SigningKey, b64, sha256 } from "./jws.js";

/** More than any service needs for a nonce; a longer one is ignored. */
const MAX_NONCE = 1024;

/** Makes proofs with one key. Nonces are kept by origin: they are not shared between services. */
export class Proofs {
  readonly #nonces: Map<string, string>;

  constructor(readonly key: SigningKey, nonces: Map<string, string>) {
    this.#nonces = nonces;
  }

  async proof(method: string, url: string, token?: string): Promise<string> {
    const claims = {
      jti: crypto.randomUUID(),
      htm: method,
      htu: url.split("#")[0]?.split("?")[0],
      iat: Math.floor(Date.now() / 1000),
      ath: token === undefined ? undefined : b64(await sha256(token)),
      nonce: this.#nonces.get(new URL(url).origin),
    };
    return this.key.sign({ typ: "dpop+jwt", alg: "ES256", jwk: this.key.jwk }, claims);
  }

  /** Keeps the nonce of a response; true if the request was refused only for lack of this one. */
  learn(url: string, response: Response): boolean {
    const nonce = response.headers.get("dpop-nonce") ?? "";
    if (nonce.length === 0 || nonce.length > MAX_NONCE) return false;
    const { origin } = new URL(url);
    const isNew = this.#nonces.get(origin) !== nonce;
    this.#nonces.set(origin, nonce);
    const challenge = response.headers.get("www-authenticate") ?? "";
    return isNew && response.status === 401 && challenge.includes("use_dpop_nonce");
  }
}
