/** The client of an agent that asks for itself, with an API key or an access token (`/v1`, `/mplp/v1`). */

import { type ApprovalTerms, type Context, runApproved } from "./approval.js";
import { digest, type JsonObject } from "./canonical.js";
import type { Decision } from "./decision.js";
import * as decisions from "./decisions.js";
import { BadAnswer, KeyReused } from "./errors.js";
import { type Journal, MemoryJournal } from "./journal.js";
import { Plans } from "./plans.js";
import { ApiKey, type Credential, type Fetch, Wire, patiently } from "./wire.js";

export interface ClientOptions {
  project?: string;
  journal?: Journal;
  /** How long requests that may be repeated are repeated while the service is away, in seconds. */
  patience?: number;
  fetch?: Fetch;
}

export interface Confirmation {
  action: string;
  consequence: string;
  tool?: string;
  arguments?: JsonObject;
  /** Distinguishes questions without a tool. */
  idempotency_key?: string;
  timeout_seconds?: number;
  risk_level?: "low" | "medium" | "high";
  irreversible?: boolean;
  language?: string;
  extra_context?: JsonObject;
  clarification_session_id?: string;
  correlation_id?: string;
}

export interface ClarifyTerms {
  /** Values, or values with their labels. */
  choices?: readonly string[] | Readonly<Record<string, string>>;
  kinds?: readonly ("freetext" | "yes_no" | "multiple_choice" | "numeric")[];
  context?: string;
  default_response?: string;
  timeout_seconds?: number;
  language?: string;
  idempotency_key?: string;
  /** How long to wait, in seconds; by default until the question is settled. */
  timeout?: number;
}

/** A tool: its arguments are one object, which a person approves; anything behind it is passed on as it is. */
export type Tool<A extends JsonObject, M extends unknown[], R> = (args: A, ...more: M) => Promise<R> | R;

export class Countersign {
  readonly plans: Plans;
  readonly #context: Context;

  constructor(service: string, credential: string | Credential, options: ClientOptions = {}) {
    const by = typeof credential === "string" ? new ApiKey(credential) : credential;
    const wire = new Wire(service, by, options.project, options.fetch);
    this.#context = { wire, journal: options.journal ?? new MemoryJournal(), patience: options.patience ?? 60 };
    this.plans = new Plans(wire, this.#context.patience);
  }

  /** With `COUNTERSIGN_SERVICE` and `COUNTERSIGN_API_KEY`. */
  static fromEnvironment(options: ClientOptions = {}): Countersign {
    const { COUNTERSIGN_SERVICE: service, COUNTERSIGN_API_KEY: key } = process.env;
    if (!service || !key) throw new TypeError("set COUNTERSIGN_SERVICE and COUNTERSIGN_API_KEY");
    return new Countersign(service, key, options);
  }

  /**
   * Requests an approval and returns at once. A question that is pending, or approved and unclaimed, is returned instead
   * of asking again: it is recognised by `tool` and `arguments`, or else by `idempotency_key`.
   */
  async ask(question: Confirmation): Promise<Decision> {
    return decisions.ask(this.#context.wire, "/v1/confirmations", question, this.#context.patience);
  }

  async get(decisionId: string): Promise<Decision> {
    return patiently(() => decisions.get(this.#context.wire, decisionId), this.#context.patience);
  }

  /** Waits until the question is settled, over restarts of either side; `StillPending` after `timeout` seconds. */
  async wait(decisionId: string, timeout?: number): Promise<Decision> {
    return decisions.wait(this.#context.wire, decisionId, timeout);
  }

  /** Claims an approval for exactly this call. Only then may it run, once. */
  async claim(decisionId: string, call: { tool: string; arguments: JsonObject } | { digest: string }): Promise<Decision> {
    return decisions.claim(this.#context.wire, decisionId, call, this.#context.patience);
  }

  async report(
    decisionId: string,
    status: decisions.Status,
    { executionId, errorMessage }: { executionId?: string; errorMessage?: string } = {},
  ): Promise<Decision> {
    return decisions.report(this.#context.wire, decisionId, status, executionId, errorMessage, this.#context.patience);
  }

  async withdraw(decisionId: string, reason?: string): Promise<Decision> {
    return decisions.withdraw(this.#context.wire, decisionId, reason);
  }

  /** Asks a person a question and waits for the answer. */
  async clarify(question: string, terms: ClarifyTerms = {}): Promise<string | boolean | number> {
    const { choices, kinds, timeout, ...members } = terms;
    const asked = { question, ...members, accepted_response_kinds: kinds, ...choicesOf(choices, kinds) };
    let decision = await this.#asked(asked, terms.idempotency_key);
    if (decision.state === "pending") decision = await this.wait(decision.decision_id, timeout);
    return decisions.requireAnswer(decision);
  }

  /** The clarification of this key, if it was asked for before. */
  async #asked(question: object, key: string | undefined): Promise<Decision> {
    const { wire, journal, patience } = this.#context;
    const call = await digest(JSON.parse(JSON.stringify({ question })));
    const known = key === undefined ? undefined : await journal.load(key);
    if (known && known.call !== call) throw new KeyReused(key ?? "");
    if (known?.decisionId !== undefined) return this.get(known.decisionId);
    const decision = await decisions.ask(wire, "/v1/clarifications", question, patience);
    if (key !== undefined) await journal.save(key, { call, decisionId: decision.decision_id });
    return decision;
  }

  /** The actions that this agent may request. */
  async actions(): Promise<readonly { readonly name: string; readonly risk_level: string }[]> {
    const { wire, patience } = this.#context;
    const document = (await patiently(() => wire.get("/v1/actions"), patience)) as { actions?: unknown };
    if (!Array.isArray(document?.actions)) throw new BadAnswer("/v1/actions");
    return document.actions as { name: string; risk_level: string }[];
  }

  /**
   * Around a tool function: each call runs after a person's approval of exactly its arguments.
   *
   * `action`, `consequence` and `key` are texts with the arguments in braces, or functions of the arguments. A `key` makes
   * the call durable: with a `FileJournal`, an agent that was restarted goes on with the same question, and never repeats
   * a call that ran or may have run.
   */
  requireApproval<A extends JsonObject, M extends unknown[], R>(
    name: string,
    tool: Tool<A, M, R>,
    terms: ApprovalTerms<A> = {},
  ): (args: A, ...more: M) => Promise<R> {
    return (args, ...more) => runApproved(this.#context, name, args, terms, (exact) => tool(exact, ...more));
  }
}

function choicesOf(choices: ClarifyTerms["choices"], kinds: ClarifyTerms["kinds"]): object {
  if (choices === undefined) return {};
  const labels = Array.isArray(choices) ? choices.map((value: string) => [value, value]) : Object.entries(choices);
  const offered = labels.map(([value, label]) => ({ value, label }));
  return { choices: offered, accepted_response_kinds: kinds ?? ["multiple_choice"] };
}
