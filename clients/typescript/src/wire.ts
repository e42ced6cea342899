/** One service for one credential: addresses, headers, refusals, and what may be sent again. */

import { BadAnswer, type Envelope, type Refused, ServiceFailed, TooManyRequests, Unreachable, refusal } from "./errors.js";

/** Authenticates requests. Not to be shared between services. */
export interface Credential {
  headers(method: string, url: string): Promise<Record<string, string>>;
  /** Whether only a nonce was missing that is known now. Such a request was refused, so it may be repeated. */
  wantsAgain(url: string, response: Response): boolean;
}

/** An API key (`csk_…`), a subscriber token (`cst_…`) or an access token that is bound to no key. */
export class ApiKey implements Credential {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async headers(): Promise<Record<string, string>> {
    return { authorization: `Bearer ${this.#token}` };
  }

  wantsAgain(): boolean {
    return false;
  }
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Send {
  readonly method: string;
  readonly url: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly timeout?: number;
}

export class Wire {
  readonly origin: string;
  readonly #prefix: string;

  constructor(service: string, readonly credential: Credential, project?: string, readonly fetch: Fetch = globalFetch) {
    this.origin = originOf(service);
    this.#prefix = project ? `${this.origin}/projects/${segment(project)}` : this.origin;
  }

  url(path: string): string {
    return this.#prefix + path;
  }

  async get(path: string, timeout = 30): Promise<unknown> {
    return this.document({ method: "GET", url: this.url(path), timeout });
  }

  async post(path: string, body: unknown): Promise<unknown> {
    return this.document(jsonRequest("POST", this.url(path), body));
  }

  async document(send: Send): Promise<unknown> {
    return documentOf(await this.exchange(send), new URL(send.url).pathname);
  }

  /** One request; a refusal is an error. */
  async exchange(send: Send): Promise<Response> {
    const response = await exchange(this.fetch, this.credential, send);
    if (!response.ok) throw await refused(response);
    return response;
  }
}

/** One request. If only a nonce was missing, it is repeated once with the nonce, and never a third time. */
export async function exchange(fetch: Fetch, credential: Credential, send: Send): Promise<Response> {
  const attempt = async () =>
    perform(fetch, { ...send, headers: { ...send.headers, ...(await credential.headers(send.method, send.url)) } });
  const response = await attempt();
  if (!credential.wantsAgain(send.url, response)) return response;
  await response.body?.cancel();
  const again = await attempt();
  credential.wantsAgain(send.url, again);
  return again;
}

export async function perform(fetch: Fetch, send: Send, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = {
    method: send.method,
    headers: { ...send.headers },
    redirect: "manual",
    signal: signal ?? AbortSignal.timeout((send.timeout ?? 30) * 1000),
    ...(send.body === undefined ? {} : { body: send.body as BodyInit }),
  };
  try {
    return await fetch(send.url, init);
  } catch (why) {
    throw unreachable(why);
  }
}

/** Without a connection, nothing was sent. Only Node names the cause; elsewhere the request may have arrived. */
const NEVER_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

export function unreachable(why: unknown): Unreachable {
  const cause = (why as { cause?: { code?: string } }).cause;
  const what = cause?.code ?? (why instanceof Error ? `${why.name}: ${why.message}` : String(why));
  return new Unreachable(what, !NEVER_SENT.includes(cause?.code ?? ""), why);
}

export async function refused(response: Response): Promise<Refused> {
  return refusal(response.status, await envelopeOf(response), response.headers);
}

export async function envelopeOf(response: Response): Promise<Envelope> {
  const document: unknown = await response.json().catch(() => undefined);
  return document !== null && typeof document === "object" ? (document as Envelope) : {};
}

export async function documentOf(response: Response, where: string): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (why) {
    throw unreachable(why);
  }
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new BadAnswer(where);
  }
}

export function jsonRequest(method: string, url: string, body: unknown): Send {
  return { method, url, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

/** Pauses between attempts: a quarter of a second, doubled up to 15, with jitter. */
export class Backoff {
  #failures = 0;

  /** Seconds. */
  next(): number {
    return Math.min(15, 0.25 * 2 ** Math.min(this.#failures++, 10)) * (1 + Math.random() / 4);
  }

  after(why: unknown): number {
    const told = why instanceof ServiceFailed || why instanceof TooManyRequests ? why.retryAfter : undefined;
    return Math.max(this.next(), told ?? 0);
  }

  reset(): void {
    this.#failures = 0;
  }
}

export function isAway(why: unknown): why is Unreachable | ServiceFailed {
  return why instanceof Unreachable || why instanceof ServiceFailed;
}

/** Repeats what may be sent twice, while the service is away, for at most `patience` seconds. */
export async function patiently<T>(attempt: () => Promise<T>, patience: number): Promise<T> {
  const until = now() + patience;
  const backoff = new Backoff();
  for (;;) {
    try {
      return await attempt();
    } catch (why) {
      const pause = isAway(why) ? backoff.after(why) : Infinity;
      if (now() + pause > until) throw why;
      await sleep(pause);
    }
  }
}

/** Seconds on the monotonic clock. */
export const now = (): number => performance.now() / 1000;

export const sleep = (seconds: number): Promise<void> => new Promise((done) => setTimeout(done, seconds * 1000));

/** The origin of an http or https address. */
export function originOf(address: string): string {
  let url: URL | undefined;
  try {
    url = new URL(address);
  } catch {
    // Reported below.
  }
  if (!url || !["http:", "https:"].includes(url.protocol) || url.username || url.password) {
    throw new TypeError(`${JSON.stringify(address)} is no address of a service, such as https://plane.example`);
  }
  return url.origin;
}

/** One segment of a path: ids have letters, digits, `-` and `_` only, and nothing else gets through. */
export function segment(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "");
}

export const globalFetch: Fetch = (url, init) => fetch(url, init);
