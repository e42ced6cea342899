/** Canonical JSON (RFC 8785): the bytes that are hashed and signed. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** The value has no canonical form, so nobody can approve exactly it. */
export class NotCanonical extends TypeError {
  override name = "NotCanonical";
}

const HALF_OF_A_PAIR = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** The canonical text of a JSON value. */
export function canonical(value: unknown, place = "value"): string {
  if (value === null || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "string") return text(value, place);
  if (typeof value === "number") return number(value, place);
  if (Array.isArray(value)) return `[${value.map((item, at) => canonical(item, `${place}[${at}]`)).join(",")}]`;
  if (typeof value === "object" && isPlain(value)) {
    // The default order of strings is that of UTF-16 units, as RFC 8785 demands.
    const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    return `{${members.map(([name, item]) => `${text(name, place)}:${canonical(item, `${place}.${name}`)}`).join(",")}}`;
  }
  throw new NotCanonical(`${place} is no JSON: pass text, numbers, arrays and plain objects`);
}

/** SHA-256 of the canonical bytes, in hex. */
export async function digest(value: unknown): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(value)));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A copy that nothing else refers to. */
export function detached<T>(value: T): T {
  return JSON.parse(canonical(value)) as T;
}

function text(value: string, place: string): string {
  if (HALF_OF_A_PAIR.test(value)) throw new NotCanonical(`${place} contains half of a surrogate pair`);
  return JSON.stringify(value);
}

/** JavaScript writes numbers as RFC 8785 does. An integer beyond 2^53 - 1 would have changed silently already. */
function number(value: number, place: string): string {
  if (!Number.isFinite(value)) throw new NotCanonical(`${place} is ${value}, which JSON cannot express`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21) {
    throw new NotCanonical(`${place}: the integer ${value} is beyond 2^53 - 1: pass it as text`);
  }
  return JSON.stringify(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
