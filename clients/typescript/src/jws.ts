/** ES256 keys and compact JWS, as AAP needs them (RFC 7515, 7518, 7638). */

import { canonical } from "./canonical.js";

const P256 = { name: "ECDSA", namedCurve: "P-256" };
const ES256 = { name: "ECDSA", hash: "SHA-256" };

export interface PublicJwk {
  readonly kty: "EC";
  readonly crv: "P-256";
  readonly x: string;
  readonly y: string;
}

/** A JWS is malformed, or not signed by this key. */
export class NotVerified extends Error {
  override name = "NotVerified";
}

/** A P-256 key. Its private half leaves only by `toJwk`, and only if it was generated as extractable. */
export class SigningKey {
  private constructor(readonly jwk: PublicJwk, private readonly key: CryptoKey) {}

  static async generate({ extractable = false } = {}): Promise<SigningKey> {
    const pair = await crypto.subtle.generateKey(P256, extractable, ["sign", "verify"]);
    return new SigningKey(publicHalf(await crypto.subtle.exportKey("jwk", pair.publicKey)), pair.privateKey);
  }

  static async fromJwk(jwk: JsonWebKey, { extractable = false } = {}): Promise<SigningKey> {
    const members = { kty: "EC", crv: "P-256", x: jwk.x, y: jwk.y, d: jwk.d } as JsonWebKey;
    return new SigningKey(publicHalf(jwk), await crypto.subtle.importKey("jwk", members, P256, extractable, ["sign"]));
  }

  /** Both halves. Store them for their owner only. */
  async toJwk(): Promise<JsonWebKey> {
    return crypto.subtle.exportKey("jwk", this.key);
  }

  /** RFC 7638. */
  async thumbprint(): Promise<string> {
    return b64(await sha256(canonical({ ...this.jwk })));
  }

  async sign(header: object, claims: object): Promise<string> {
    const signed = [header, claims].map((part) => b64(bytes(JSON.stringify(part)))).join(".");
    return `${signed}.${b64(await crypto.subtle.sign(ES256, this.key, bytes(signed)))}`;
  }
}

/** Whoever signs for the operator's domain: an `OperatorKey`, or a service of the operator's. */
export interface Operator {
  operatorJwt(service: string): Promise<string>;
}

/** The key of an operator: it states that an agent is this operator's own, to exactly one service. */
export class OperatorKey implements Operator {
  constructor(
    readonly domain: string,
    readonly kid: string,
    readonly key: SigningKey,
    readonly lifetime = 300,
  ) {}

  async operatorJwt(service: string): Promise<string> {
    const iat = Math.floor(Date.now() / 1000);
    const header = { alg: "ES256", kid: this.kid, typ: "aap-operator+jwt" };
    return this.key.sign(header, { iss: this.domain, aud: service, iat, exp: iat + this.lifetime });
  }
}

/** The claims of a JWS that this ES256 key signed. Times and audience are the caller's to check. */
export async function verify(jws: string, jwk: PublicJwk): Promise<Record<string, unknown>> {
  const [header = "", claims = "", signature = "", ...more] = jws.split(".");
  try {
    const { kty, crv, x, y } = jwk;
    const key = await crypto.subtle.importKey("jwk", { kty, crv, x, y }, P256, false, ["verify"]);
    const isEs256 = more.length === 0 && (parsed(header) as { alg?: unknown }).alg === "ES256";
    const holds = isEs256 && (await crypto.subtle.verify(ES256, key, unb64(signature), bytes(`${header}.${claims}`)));
    if (holds) return parsed(claims) as Record<string, unknown>;
  } catch {
    throw new NotVerified("it is no JWS");
  }
  throw new NotVerified("the signature is not by this key");
}

/** The claims without a check, for what is only passed on. */
export function claimsOf(jws: string): Record<string, unknown> {
  try {
    return parsed(jws.split(".")[1] ?? "") as Record<string, unknown>;
  } catch {
    throw new NotVerified("it is no JWS");
  }
}

export function b64(data: ArrayBuffer | Uint8Array): string {
  const text = Array.from(new Uint8Array(data), (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export async function sha256(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", bytes(text));
}

function unb64(text: string): Uint8Array<ArrayBuffer> {
  const decoded = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(decoded, (character) => character.charCodeAt(0));
}

function parsed(part: string): unknown {
  return JSON.parse(new TextDecoder().decode(unb64(part)));
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}

function publicHalf(jwk: JsonWebKey): PublicJwk {
  if (jwk.kty !== "EC" || jwk.crv !== "P-256" || !jwk.x || !jwk.y) throw new TypeError("ES256 needs a key on P-256");
  return { kty: "EC", crv: "P-256", x: jwk.x, y: jwk.y };
}
