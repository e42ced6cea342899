/**
 * A subscriber (AAEP): receives the questions of a person's agents, and answers them with that person's token. The stream
 * is opened again by itself; a pending question is then repeated with the same id.
 */

import { CountersignError, Refused, Unreachable, shown } from "./errors.js";
import { Decoder } from "./sse.js";
import {
  ApiKey,
  Backoff,
  type Fetch,
  Wire,
  documentOf,
  exchange,
  jsonRequest,
  patiently,
  perform,
  refused,
  sleep,
  unreachable,
} from "./wire.js";

const AAEP_VERSION = "1.0.0";
const EXTENSION = "dev_countersign";
const CONTEXT = "https://countersign.dev/context/aaep/v1";
/** A producer silent for this long is lost: ours sends something every ten seconds. */
const SILENCE_SECONDS = 30;

type Document = Readonly<Record<string, unknown>>;

/** The producer does not accept this subscriber. */
export class SubscriptionRejected extends CountersignError {
  readonly reasonCode: string | undefined;

  constructor(readonly status: number, document: Document) {
    const code = shown(document["reason_code"]);
    super(`the subscription was rejected: ${code}; check the token and its person's access`);
    this.reasonCode = code;
  }

  get mayPass(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** Anything that an agent, or the service, says. `document` is the event as received. */
export interface AaepEvent {
  readonly type: string;
  readonly sessionId: string;
  readonly summary: string | undefined;
  readonly decisionId: string | undefined;
  /** How the decision was settled, if this event says so. */
  readonly settled: string | undefined;
  /** Set if this is a pending question. Only a received one can be answered. */
  readonly question: "confirmation" | "clarification" | undefined;
  readonly document: Document;
}

export interface SubscriberOptions {
  /** The same across restarts. */
  subscriberId?: string;
  project?: string;
  fetch?: Fetch;
}

export class Subscriber {
  readonly #wire: Wire;
  readonly #subscriberId: string;
  readonly #closed = new AbortController();
  #id: string | undefined;
  #lastEventId: string | undefined;

  constructor(service: string, token: string, options: SubscriberOptions = {}) {
    this.#wire = new Wire(service, new ApiKey(token), options.project, options.fetch);
    this.#subscriberId = options.subscriberId ?? "countersign-sdk-typescript";
  }

  /**
   * Events as they happen, until `close`. Lost connections and restarts of the service are bridged; a refusal of the
   * service ends it.
   */
  async *events(): AsyncGenerator<AaepEvent, void, undefined> {
    const backoff = new Backoff();
    while (!this.#closed.signal.aborted) {
      try {
        if (this.#id === undefined) await this.#handshake();
        yield* this.#stream(backoff);
      } catch (why) {
        if (this.#closed.signal.aborted) return;
        const passes = (why instanceof Refused || why instanceof SubscriptionRejected) && why.mayPass;
        if (!passes && !(why instanceof Unreachable)) throw why;
      }
      await sleep(backoff.next());
    }
  }

  async approve(question: AaepEvent, rationale?: string): Promise<void> {
    await this.#reply(question, { decision: "accept", decision_rationale: rationale });
  }

  /** The agent sees the reason. */
  async reject(question: AaepEvent, reason?: string): Promise<void> {
    await this.#reply(question, { decision: "reject", decision_rationale: reason });
  }

  /** Answers a clarification request. */
  async respond(question: AaepEvent, response: string | boolean | number): Promise<void> {
    await this.#reply(question, { response });
  }

  /** The pending questions, as the service lists them. */
  async questions(): Promise<readonly Document[]> {
    const document = (await this.#wire.get("/aaep/v1/questions")) as { questions: Document[] };
    return document.questions;
  }

  /** Ends the stream. Pending questions stay pending. */
  close(): void {
    this.#closed.abort();
  }

  async #handshake(): Promise<void> {
    const capabilities = {
      supports_confirmation_reply: true,
      supports_clarification_reply: true,
      supported_conformance_levels: [1, 2, 3],
      supported_extensions: [CONTEXT],
    };
    const named = { aaep_version: AAEP_VERSION, subscriber_id: this.#subscriberId };
    const request = { type: "subscription.request", ...named, capabilities };
    const send = jsonRequest("POST", this.#wire.url("/aaep/v1/subscriptions"), request);
    const response = await exchange(this.#wire.fetch, this.#wire.credential, send);
    if (!response.ok) {
      const document = (await response.clone().json().catch(() => ({}))) as Document;
      if (document["type"] === "subscription.rejected") throw new SubscriptionRejected(response.status, document);
      throw await refused(response);
    }
    const accepted = (await documentOf(response, "/aaep/v1/subscriptions")) as Document;
    this.#id = String(accepted["subscription_id"]);
    this.#lastEventId = undefined;
  }

  async *#stream(backoff: Backoff): AsyncGenerator<AaepEvent, void, undefined> {
    const url = this.#wire.url(`/aaep/v1/events?subscription_id=${this.#id}`);
    const headers: Record<string, string> = {
      ...(await this.#wire.credential.headers("GET", url)),
      accept: "text/event-stream",
      ...(this.#lastEventId ? { "last-event-id": this.#lastEventId } : {}),
    };
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, this.#closed.signal]);
    let timer = setTimeout(() => lost.abort(), SILENCE_SECONDS * 1000);
    try {
      const response = await perform(this.#wire.fetch, { method: "GET", url, headers }, signal);
      if (response.status === 404 || response.status === 410) {
        // The subscription is forgotten: the next attempt requests a new one.
        this.#id = undefined;
        return;
      }
      if (!response.ok || response.body === null) throw await refused(response);
      backoff.reset();
      const decoder = new Decoder();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      try {
        for (;;) {
          const piece = await reader.read().catch((why: unknown) => {
            throw unreachable(why);
          });
          if (piece.done) return;
          clearTimeout(timer);
          timer = setTimeout(() => lost.abort(), SILENCE_SECONDS * 1000);
          yield* this.#received(decoder, piece.value);
        }
      } finally {
        await reader.cancel().catch(() => undefined);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  *#received(decoder: Decoder, text: string): Generator<AaepEvent, void, undefined> {
    for (const message of decoder.push(text)) {
      if (this.#closed.signal.aborted) return;
      if (message.id) this.#lastEventId = message.id;
      if (message.event === "aaep.close") {
        this.#id = undefined;
        continue;
      }
      const event = read(message.data);
      if (event) yield event;
    }
  }

  /** At most one reply counts, however many arrive; only the settlement shows whether this one did. */
  async #reply(question: AaepEvent, members: object): Promise<void> {
    if (question.question === undefined) throw new TypeError("this event is no pending question");
    const addressed = { reply_token: question.document["reply_token"], subscription_id: this.#id };
    const timestamp = new Date().toISOString();
    const message = { type: `${question.question}.reply`, ...addressed, timestamp, ...members };
    await patiently(() => this.#wire.post("/aaep/v1/replies", message), 20);
  }
}

function read(data: string): AaepEvent | undefined {
  let document: Document;
  try {
    document = JSON.parse(data) as Document;
  } catch {
    return undefined;
  }
  const { type, session_id, summary_normal, summary_terse, extensions, reply_token } = document;
  if (typeof type !== "string" || typeof session_id !== "string") return undefined;
  const ours = ((extensions as Document | undefined)?.[EXTENSION] ?? {}) as Document;
  const kind = /agent\.awaiting\.(confirmation|clarification)$/.exec(type)?.[1];
  return {
    type: type.replace(/^aaep:/, ""),
    sessionId: session_id,
    summary: text(summary_normal) ?? text(summary_terse),
    decisionId: text(ours["decision_id"]),
    settled: text(ours["settled"]),
    question: reply_token === undefined ? undefined : (kind as "confirmation" | "clarification" | undefined),
    document,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
