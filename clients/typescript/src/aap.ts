/** An AAP agent: it acts for one person, at one service, under one operator; its tokens are bound to its key (DPoP). */

import { Countersign, type ClientOptions } from "./client.js";
import { STATUS } from "./codes.js";
import * as decisions from "./decisions.js";
import { Proofs } from "./dpop.js";
import {
  AccessEnded,
  BadAnswer,
  ConfirmationNeeded,
  ConsentOver,
  CountersignError,
  type Envelope,
  OutcomeUnknown,
  ReconnectNeeded,
  type Refused,
  Unreachable,
  refusal,
} from "./errors.js";
import { type Operator, SigningKey, b64, claimsOf, sha256 } from "./jws.js";
import {
  type Credential,
  type Fetch,
  type Send,
  Wire,
  documentOf,
  exchange,
  globalFetch,
  jsonRequest,
  now,
  originOf,
  perform,
  refused,
} from "./wire.js";

export { type Operator, OperatorKey, SigningKey, verify } from "./jws.js";

const VERSION = "2.0";
const MODE = "user_delegated";
const SAFE = ["GET", "HEAD", "OPTIONS"];
/** A new token is fetched so long before the old one ends, at most. */
const EARLY_SECONDS = 60;
/** Another access token helps against these refusals, so the agent registers again, once. */
const REGISTER_AGAIN = ["access_token_expired", "access_token_invalid", "operator_jwt_invalid"];

/** The service's manifest does not allow what is asked for. Nothing was sent. */
export class NotUsable extends CountersignError {}

/** There is no session, or no delegation: connect, then register. */
export class NotRegistered extends CountersignError {}

export interface AgentOptions {
  /** The gateway's origin, if the manifest does not name it. */
  api?: string;
  project?: string;
  fetch?: Fetch;
  /** Seconds on a monotonic clock. */
  clock?: () => number;
}

/** Requests have no headers of the caller's own, so that a person's words cannot leak into one. */
export interface CallOptions {
  json?: unknown;
  body?: string | Uint8Array;
  contentType?: string;
  /** A word of the scope's vocabulary, such as `SCHEDULE_EVENT`. */
  intentType?: string;
  /** Claims an approval of exactly this call: a decision's `confirm_token`, or `true`. It authorises nothing by itself. */
  confirm?: string;
  dryRun?: boolean;
  /** Waits so many seconds for the person on the same connection. */
  wait?: number;
}

/** The API's own response, its own errors included. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  json(): unknown;
}

export interface Manifest {
  readonly service: string;
  readonly endpoints: Readonly<Record<string, string>>;
  readonly resource_origin?: string | null;
  readonly identity_modes_supported?: readonly string[];
  readonly spec_versions_accepted?: readonly string[];
  readonly spec_versions_supported?: readonly string[];
}

/** A task to register, with the session's own key. */
interface Task {
  readonly id: string;
  readonly receipt: string | undefined;
  readonly proofs: Proofs;
}

interface Session extends Task {
  readonly token: string;
  /** On the monotonic clock. */
  readonly renewAt: number;
}

export class Agent {
  readonly service: string;
  readonly #operator: Operator;
  readonly #options: AgentOptions;
  readonly #fetch: Fetch;
  readonly #clock: () => number;
  readonly #credential: SessionCredential;
  readonly #nonces = new Map<string, string>();
  /** The last attempted session: the service may have bound its key although the response was lost. */
  #attempted: Task | undefined;
  #manifest: Manifest | undefined;
  #delegation: { readonly token: string; readonly id: string } | undefined;
  #session: Session | undefined;
  #renewal: Promise<Session> | undefined;
  #ended: AccessEnded | undefined;
  #verifier: string | undefined;

  /** `service` is the public origin. */
  constructor(service: string, operator: Operator, options: AgentOptions = {}) {
    this.service = originOf(service);
    this.#operator = operator;
    this.#options = options;
    this.#fetch = options.fetch ?? globalFetch;
    this.#clock = options.clock ?? now;
    this.#credential = new SessionCredential(() => this.#live());
  }

  /** Store it safely between two runs; it grants nothing by itself. */
  get delegationToken(): string | undefined {
    return this.#delegation?.token;
  }

  get delegationId(): string | undefined {
    return this.#delegation?.id;
  }

  get sessionId(): string | undefined {
    return this.#session?.id;
  }

  get sessionKey(): SigningKey | undefined {
    return this.#session?.proofs.key;
  }

  // -- Discovery and connecting

  async discover(): Promise<Manifest> {
    const query = this.#options.project ? `?projectId=${encodeURIComponent(this.#options.project)}` : "";
    const url = `${this.service}/.well-known/agent-auth.json${query}`;
    const response = await perform(this.#fetch, { method: "GET", url, headers: { "aap-version": VERSION } });
    if (!response.ok) throw await refused(response);
    const manifest = (await documentOf(response, "the manifest")) as Manifest;
    if (typeof manifest?.endpoints !== "object") throw new BadAnswer("the manifest");
    this.#check(manifest);
    return (this.#manifest = manifest);
  }

  /** The page for the person to open. They get a code, for `finish`; with a callback, their browser brings it. */
  async connect(scopes: readonly string[], callback?: string): Promise<string> {
    const url = await this.#endpoint("connect");
    this.#verifier = hex(32);
    const asked = await this.#post(url, {
      operator_jwt: await this.#operatorJwt(),
      mode: MODE,
      scopes,
      code_challenge: b64(await sha256(this.#verifier)),
      code_challenge_method: "S256",
      state: hex(16),
      callback,
    });
    const page = new URL(String(asked["connect_url"]), this.service);
    // The person enters their password there.
    if (page.origin !== this.service) throw new NotUsable("the connect page is not on the service's own origin");
    return page.href;
  }

  /** Exchanges the code for the delegation, and returns its id. */
  async finish(code: string): Promise<string> {
    if (this.#verifier === undefined) throw new NotRegistered("no connection is pending: connect first");
    const url = await this.#endpoint("exchange");
    const proof = { code: code.trim(), code_verifier: this.#verifier };
    const granted = await this.#post(url, { operator_jwt: await this.#operatorJwt(), ...proof });
    this.#verifier = undefined;
    return this.restore(String(granted["delegation_token"]));
  }

  /** Goes on with the delegation of an earlier run; returns its id. */
  restore(delegationToken: string): string {
    const id = String(claimsOf(delegationToken)["delegation_id"]);
    this.#delegation = { token: delegationToken, id };
    this.#session = this.#ended = undefined;
    return id;
  }

  /**
   * Opens the session of one task, with the person's consent receipt, and returns its id. Each session has a key of its
   * own; `key` is that of a session from before a restart.
   */
  async register(receipt?: string, key?: SigningKey): Promise<string> {
    if (!this.#delegation) throw new NotRegistered("the person has not connected this agent: have them open the page");
    const named = receipt === undefined ? undefined : claimsOf(receipt)["session_id"];
    const id = typeof named === "string" ? named : `sess_${hex(16)}`;
    const proofs = new Proofs(key ?? (await this.#keyOf(id)), this.#nonces);
    return (await this.#open({ id, receipt, proofs })).id;
  }

  // -- Calls

  /**
   * A call of the API. Refusals of the protocol are errors; those of the API itself are its response. A held call throws
   * `ConfirmationNeeded`; a write whose effect is open throws `OutcomeUnknown`. Nothing that may have had an effect is
   * sent twice.
   */
  async call(method: string, path: string, options: CallOptions = {}): Promise<ApiResponse> {
    const send = await this.#request(method.toUpperCase(), path, options);
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#attempt(send);
      const answer = await whole(response, send);
      const refused = refusalOf(answer);
      if (!refused) return answer;
      if (attempt === 1 && REGISTER_AGAIN.includes(refused.code) && !(refused instanceof AccessEnded)) {
        const session = this.#session;
        if (session) await this.#open(session);
        continue;
      }
      this.#apply(refused);
      if (!SAFE.includes(send.method) && mayHaveRun(refused)) {
        const { decision, call } = refused.envelope;
        const named = decision?.["decision_id"] ?? call?.["call_id"];
        throw new OutcomeUnknown(typeof named === "string" ? named : undefined, refused.message, refused);
      }
      throw refused;
    }
  }

  /** A call that waits for the person if it is held, and then runs, once. */
  async callApproved(
    method: string,
    path: string,
    options: Omit<CallOptions, "confirm" | "dryRun" | "wait"> & { timeout?: number } = {},
  ): Promise<ApiResponse> {
    const { timeout, ...call } = options;
    try {
      return await this.call(method, path, call);
    } catch (why) {
      if (!(why instanceof ConfirmationNeeded) || why.decisionId === undefined) throw why;
      const wire = new Wire(this.service, this.#credential, this.#options.project, this.#fetch);
      decisions.requireClaimable(await decisions.wait(wire, why.decisionId, timeout));
    }
    return this.call(method, path, { ...call, confirm: "true" });
  }

  /** Reports that a long task goes on. A refusal means that the session is over: stop. */
  async heartbeat(status: "running" | "waiting" = "running", progress?: number): Promise<Record<string, unknown>> {
    return this.#aboutSession("heartbeat", { status, progress });
  }

  /** Reports the task as complete; the session ends. */
  async complete(summary?: string): Promise<Record<string, unknown>> {
    return this.#aboutSession("task_complete", { summary });
  }

  /** Ends the session, and has the service undo what it can. */
  async cancel(reason?: string): Promise<Record<string, unknown>> {
    return this.#aboutSession("cancel", { reason });
  }

  /** Undoes a call within its window, at the address that its response named. */
  async undo(undoUrl: string): Promise<Record<string, unknown>> {
    if (![this.service, await this.#api()].includes(originOf(undoUrl))) {
      throw new NotUsable("the address to undo is not on the service's own origin");
    }
    return this.#answered({ method: "POST", url: undoUrl, headers: { "aap-version": VERSION } });
  }

  /** A client for decisions, clarifications and plans in this session. */
  client(options: Omit<ClientOptions, "fetch" | "project"> = {}): Countersign {
    const own = { fetch: this.#fetch, ...(this.#options.project ? { project: this.#options.project } : {}) };
    return new Countersign(this.service, this.#credential, { ...options, ...own });
  }

  // -- Inside

  #check(manifest: Manifest): void {
    // An operator JWT is addressed to the manifest's own name of the service: another service could use it there.
    if (originOf(manifest.service) !== this.service) {
      throw new NotUsable(`the manifest is of ${manifest.service}, not of ${this.service}: check the address`);
    }
    const modes = manifest.identity_modes_supported ?? [MODE];
    if (!modes.includes(MODE)) throw new NotUsable("the service does not let agents act for a person");
    const theirs = manifest.spec_versions_accepted ?? manifest.spec_versions_supported ?? [VERSION];
    if (!theirs.some((version) => version.replace(/^aap\//, "") === VERSION)) {
      throw new NotUsable(`no protocol version in common: ours is ${VERSION}, the service's are ${theirs.join(", ")}`);
    }
  }

  /** Tokens are sent there, so it must be on the service's own origin. */
  async #endpoint(name: string): Promise<string> {
    const reference = (this.#manifest ?? (await this.discover())).endpoints[name];
    // Manifests do not list it: it is beside the others (AAP 12.2).
    if (reference === undefined && name === "heartbeat") return new URL(name, await this.#endpoint("cancel")).href;
    if (reference === undefined) throw new NotUsable(`the service offers no endpoint ${name}`);
    const url = new URL(reference.replace("{projectId}", this.#options.project ?? ""), this.service);
    if (url.origin !== this.service) throw new NotUsable(`the endpoint ${name} is not on the service's own origin`);
    return url.href;
  }

  async #operatorJwt(): Promise<string> {
    return this.#operator.operatorJwt((this.#manifest ?? (await this.discover())).service);
  }

  /** One key per session, the same each time that the session is registered. */
  async #keyOf(id: string): Promise<SigningKey> {
    return this.#attempted?.id === id ? this.#attempted.proofs.key : SigningKey.generate();
  }

  /** The session with a token that is valid for some time: registered again before it expires. */
  async #live(): Promise<Session> {
    if (this.#ended) throw this.#ended;
    const session = this.#session;
    if (!session) throw new NotRegistered("there is no session: register first");
    if (this.#clock() < session.renewAt) return session;
    this.#renewal ??= this.#open(session).finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  /** An access token, bound to the session's key. */
  async #open({ id, receipt, proofs }: Task): Promise<Session> {
    if (this.#ended) throw this.#ended;
    this.#attempted = { id, receipt, proofs };
    if (!this.#delegation) throw new NotRegistered("the person has not connected this agent: have them open the page");
    const url = await this.#endpoint("register");
    const proven = { operator_jwt: await this.#operatorJwt(), delegation_token: this.#delegation.token };
    const body = { mode: MODE, ...proven, session_id: id, consent_receipt: receipt };
    const given = await this.#post(url, body, proofs).catch((why: unknown) => {
      this.#apply(why);
      throw why;
    });
    const [token, seconds] = [given["access_token"], Number(given["expires_in"])];
    const isBound = String(given["token_type"]).toLowerCase() === "dpop";
    if (given["session_id"] !== id || !isBound || typeof token !== "string") throw new BadAnswer("register");
    const renewAt = this.#clock() + seconds - Math.min(EARLY_SECONDS, seconds / 10);
    return (this.#session = { id, receipt, proofs, token, renewAt });
  }

  async #api(): Promise<string> {
    const manifest = this.#manifest ?? (await this.discover());
    return originOf(this.#options.api ?? manifest.resource_origin ?? this.service);
  }

  async #request(method: string, path: string, options: CallOptions): Promise<Send> {
    const origin = await this.#api();
    // The token is sent only to the configured origin, regardless of the path.
    if (!path.startsWith("/") || path.includes("#") || originOf(origin + path) !== origin) {
      throw new TypeError("a path begins with a slash and stays on the service's origin");
    }
    const { json, contentType, intentType, confirm, dryRun, wait } = options;
    if (intentType !== undefined && !/^[A-Z0-9_]{1,64}$/.test(intentType)) {
      throw new TypeError("an intent type is a word of the service's vocabulary such as SCHEDULE_EVENT");
    }
    const body = json === undefined ? options.body : JSON.stringify(json);
    const headers = {
      "aap-version": VERSION,
      "content-type": json === undefined ? contentType : "application/json",
      "x-agent-intent-type": intentType,
      "x-agent-confirm": confirm,
      "x-agent-dry-run": dryRun ? "true" : undefined,
      prefer: wait === undefined ? undefined : `wait=${wait}`,
    };
    const present = Object.entries(headers).filter((header): header is [string, string] => header[1] !== undefined);
    const request = { method, url: origin + path, headers: Object.fromEntries(present), timeout: 90 };
    return body === undefined ? request : { ...request, body };
  }

  async #attempt(send: Send): Promise<Response> {
    const echo = { "x-agent-mode": MODE, "x-agent-delegation": this.#delegation?.id ?? "" };
    const session = await this.#live();
    const headers = { ...send.headers, ...echo, "x-agent-session": session.id };
    try {
      return await exchange(this.#fetch, this.#credential, { ...send, headers });
    } catch (why) {
      throw lostWrite(why, send) ?? why;
    }
  }

  async #aboutSession(endpoint: string, body: object): Promise<Record<string, unknown>> {
    const url = await this.#endpoint(endpoint);
    const { id } = await this.#live();
    const send = jsonRequest("POST", url, { session_id: id, ...body });
    return this.#answered({ ...send, headers: { ...send.headers, "aap-version": VERSION } });
  }

  async #answered(send: Send): Promise<Record<string, unknown>> {
    const response = await exchange(this.#fetch, this.#credential, send);
    if (!response.ok) {
      const why = await refused(response);
      this.#apply(why);
      throw why;
    }
    return (await documentOf(response, send.url)) as Record<string, unknown>;
  }

  /** Drops what no longer holds. After the end of its access an agent sends nothing more. */
  #apply(why: unknown): void {
    if (why instanceof AccessEnded) this.#ended = why;
    if (why instanceof AccessEnded || why instanceof ReconnectNeeded) this.#session = this.#delegation = undefined;
    if (why instanceof ConsentOver) this.#session = undefined;
  }

  /** Without a token; with proofs if there is a session to bind one to. */
  async #post(url: string, body: object, proofs?: Proofs): Promise<Record<string, unknown>> {
    const proofOnly: Credential = {
      headers: async (method, url) => (proofs ? { dpop: await proofs.proof(method, url) } : {}),
      wantsAgain: (url, response) => proofs?.learn(url, response) ?? false,
    };
    const send = jsonRequest("POST", url, body);
    const named = { ...send, headers: { ...send.headers, "aap-version": VERSION } };
    const response = await exchange(this.#fetch, proofOnly, named);
    if (!response.ok) throw await refused(response);
    return (await documentOf(response, new URL(url).pathname)) as Record<string, unknown>;
  }
}

/** The session's access token with a proof for each request, renewed before it expires. */
class SessionCredential implements Credential {
  readonly #session: () => Promise<Session>;
  #proofs: Proofs | undefined;

  constructor(session: () => Promise<Session>) {
    this.#session = session;
  }

  async headers(method: string, url: string): Promise<Record<string, string>> {
    const { token, proofs } = await this.#session();
    this.#proofs = proofs;
    const proof = await proofs.proof(method, url, token);
    return { authorization: `DPoP ${token}`, dpop: proof, "aap-version": VERSION };
  }

  wantsAgain(url: string, response: Response): boolean {
    return this.#proofs?.learn(url, response) ?? false;
  }
}

class Whole implements ApiResponse {
  constructor(readonly status: number, readonly headers: Headers, readonly body: Uint8Array) {}

  json(): unknown {
    return JSON.parse(new TextDecoder().decode(this.body));
  }
}

async function whole(response: Response, send: Send): Promise<ApiResponse> {
  try {
    return new Whole(response.status, response.headers, new Uint8Array(await response.arrayBuffer()));
  } catch (why) {
    throw new OutcomeUnknown(undefined, `the response to ${send.method} broke off`, why);
  }
}

function lostWrite(why: unknown, send: Send): OutcomeUnknown | undefined {
  if (!(why instanceof Unreachable) || !why.mayHaveArrived || SAFE.includes(send.method)) return undefined;
  return new OutcomeUnknown(undefined, "the response was lost", why);
}

/** Only the protocol's own refusals: those of the API itself are its response. */
function refusalOf(answer: ApiResponse): Refused | undefined {
  if (answer.status < 400) return undefined;
  let envelope: Envelope | undefined;
  try {
    envelope = answer.json() as Envelope;
  } catch {
    // The API's own page, perhaps.
  }
  const expected = typeof envelope?.request_id === "string" ? STATUS[String(envelope.error)] : undefined;
  const isOurs = answer.status === expected || (answer.status === 428 && expected === 403);
  const isRevoked = answer.status === 401 && answer.headers.has("x-agent-revoke-reason");
  return isOurs || isRevoked ? refusal(answer.status, envelope ?? {}, answer.headers) : undefined;
}

/** Whether a failed write may have had its effect: the service names the call, or says so. */
function mayHaveRun(refused: Refused): boolean {
  const isNamed = Boolean(refused.envelope.call ?? refused.envelope.decision);
  const isTold = `${refused.description} ${refused.hint ?? ""}`.includes("may have");
  return refused.status >= 500 && (isNamed || isTold || refused.code === "upstream_timeout");
}

function hex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
