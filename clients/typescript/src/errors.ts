/**
 * Every way in which a request, an approval or an agent's access ends without a result. Messages state the cause, then
 * the next step.
 */

import type { Decision } from "./decision.js";

/** The base of all errors of this package. */
export class CountersignError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The service gave no response. `mayHaveArrived` tells whether the request may have been processed. */
export class Unreachable extends CountersignError {
  constructor(what: string, readonly mayHaveArrived: boolean, cause?: unknown) {
    super(`the service could not be reached (${what}): try again later`, { cause });
  }
}

/** The response is not the document that it should be. */
export class BadAnswer extends CountersignError {
  constructor(where: string) {
    super(`the answer of ${where} is not the document that it should be: report it to the service`);
  }
}

/** Nobody has answered yet; the question stays pending at the service. */
export class StillPending extends CountersignError {
  constructor(readonly decisionId: string) {
    super(`${decisionId} is still pending: wait for it again, the person is not asked twice`);
  }
}

/** An idempotency key stands for another call already. */
export class KeyReused extends CountersignError {
  constructor(key: string) {
    super(`the idempotency key ${JSON.stringify(key)} belongs to a call with other arguments: use another key`);
  }
}

/** Another process, or task, works under the same key right now. */
export class KeyInUse extends CountersignError {
  constructor(key: string) {
    super(`the idempotency key ${JSON.stringify(key)} is in use: wait for the other call`);
  }
}

// -- What a person, or the lack of one, decided

/** There is no approval, so nothing ran. */
export class NotApproved extends CountersignError {
  constructor(why: string, readonly decision: Decision) {
    super(`${why} (${decision.decision_id}): it did not run`);
  }
}

/** A person said no. `reason` has their words, `proposal` an alternative that needs a question of its own. */
export class Rejected extends NotApproved {
  readonly reason: string | undefined;
  readonly proposal: Readonly<Record<string, unknown>> | undefined;

  constructor(decision: Decision) {
    super(`a person rejected it${decision.reason ? `: ${decision.reason}` : ", without a reason"}`, decision);
    this.reason = decision.reason ?? undefined;
    this.proposal = decision.proposal ?? undefined;
  }
}

/** Nobody answered in time, which is not a rejection. */
export class Expired extends NotApproved {
  constructor(decision: Decision) {
    super("nobody answered in time", decision);
  }
}

/** The question was withdrawn, or the access of its agent ended. */
export class Cancelled extends NotApproved {
  constructor(decision: Decision) {
    super(`the question was cancelled: ${decision.cancelled_for ?? "no reason was given"}`, decision);
  }
}

/** It was approved, and the approval was not claimed in time or was taken back. */
export class ApprovalLapsed extends NotApproved {
  constructor(decision: Decision) {
    super("the approval is over", decision);
  }
}

/** The call of this approval or idempotency key is settled. */
export class AlreadyRan extends CountersignError {
  constructor(readonly decision: Decision, readonly outcome: "committed" | "failed") {
    super(`this call has run before (${decision.decision_id}, ${outcome}): it is not repeated`);
  }
}

/** It may have run, or may be running. Never retry it: find out, or let a person reconcile the decision. */
export class OutcomeUnknown extends CountersignError {
  constructor(readonly decisionId: string | undefined, why: string, cause?: unknown) {
    const named = decisionId ? ` (${decisionId})` : "";
    super(`it may have run${named}: ${why}; find out before anything is repeated`, { cause });
  }
}

/** It ran, with `result` or `error`, and the service could not be told. The service will call it unknown. */
export class OutcomeNotRecorded extends CountersignError {
  constructor(
    readonly decisionId: string,
    readonly status: "committed" | "failed",
    readonly result: unknown,
    readonly error: unknown,
    cause: unknown,
  ) {
    super(`it ${status}, and the service could not be told (${decisionId}): report the outcome later`, { cause });
  }
}

// -- Refusals of the service

export interface Envelope {
  readonly error?: string;
  readonly error_description?: string;
  readonly hint?: string | null;
  readonly request_id?: string;
  readonly decision?: Readonly<Record<string, unknown>> | null;
  readonly call?: Readonly<Record<string, unknown>> | null;
  readonly clarification?: Readonly<Record<string, unknown>> | null;
  readonly scope_request?: Readonly<Record<string, unknown>> | null;
}

/** A refusal, as the service worded it. Decide by `code`; `hint` is the next step. */
export class Refused extends CountersignError {
  readonly code: string;
  readonly description: string;
  readonly hint: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  /** Why a delegation ended (`X-Agent-Revoke-Reason`). */
  readonly revokeReason: string | undefined;
  /** Which limit is used up (`X-Agent-Limit-Reason`). */
  readonly limitReason: string | undefined;

  constructor(readonly status: number, readonly envelope: Envelope, headers: Headers) {
    const code = shown(envelope.error) ?? "without a code";
    const description = shown(envelope.error_description) ?? "no reason was given";
    const hint = shown(envelope.hint);
    super(`the service answered ${status} ${code}: ${description}${hint ? `; ${hint}` : ""}`);
    this.code = code;
    this.description = description;
    this.hint = hint;
    this.requestId = shown(envelope.request_id);
    const seconds = headers.get("retry-after");
    this.retryAfter = seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
    this.revokeReason = shown(headers.get("x-agent-revoke-reason"));
    this.limitReason = shown(headers.get("x-agent-limit-reason"));
  }

  /** Whether the same request may succeed later, without a change. */
  get mayPass(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** 400 and its kin: the request itself is wrong. */
export class InvalidRequest extends Refused {}
/** 401: another credential may help. */
export class NotAuthenticated extends Refused {}
/** 403: no credential that the agent can get alone would help. */
export class NotPermitted extends Refused {}
/** 404: there is nothing there, or nothing that this caller may see. */
export class NotFound extends Refused {}
/** 409: another request was first, or the state has changed. */
export class Conflict extends Refused {}
/** 429: wait for `retryAfter` seconds. */
export class TooManyRequests extends Refused {}
/** 500 and above. */
export class ServiceFailed extends Refused {}

/** A call at a gateway waits for a person: `decisionId`, and the `page` to answer on. Nothing was forwarded. */
export class ConfirmationNeeded extends NotPermitted {
  get decisionId(): string | undefined {
    return shown(this.envelope.decision?.["decision_id"]);
  }

  get page(): string | undefined {
    return shown(this.envelope.decision?.["page"]);
  }
}

/** The delegation was revoked or has ended by its policy. Tell the person, with `revokeReason`; do not retry. */
export class AccessEnded extends NotAuthenticated {}
/** There is no delegation that holds: the person must connect the agent (again). */
export class ReconnectNeeded extends NotAuthenticated {}
/** The consent to this task is missing or over: ask the person for a new receipt, and register with it. */
export class ConsentOver extends NotAuthenticated {}

const ENDED = ["delegation_revoked", "auto_revoked"];
const RECONNECT = ["delegation_expired", "delegation_not_found", "delegation_invalid", "agent_auth_required"];
const CONSENT = ["consent_expired", "consent_invalid", "consent_missing"];
const BY_STATUS = new Map([
  [401, NotAuthenticated],
  [403, NotPermitted],
  [404, NotFound],
  [409, Conflict],
  [429, TooManyRequests],
]);

/** The error of a response with a status of 400 or above. */
export function refusal(status: number, envelope: Envelope, headers: Headers): Refused {
  return new (kind(status, String(envelope.error), headers))(status, envelope, headers);
}

function kind(status: number, code: string, headers: Headers): typeof Refused {
  if (status === 401) {
    // A withdrawn key of the operator is no act of a person: the next key repairs it.
    const reason = headers.get("x-agent-revoke-reason");
    if (ENDED.includes(code) || (reason !== null && reason !== "key_rotation")) return AccessEnded;
    if (RECONNECT.includes(code)) return ReconnectNeeded;
    if (CONSENT.includes(code)) return ConsentOver;
  }
  if (code === "irreversible_requires_confirm") return ConfirmationNeeded;
  return BY_STATUS.get(status) ?? (status >= 500 ? ServiceFailed : InvalidRequest);
}

/** A service's text, safe for display: one line, without control characters, limited in length. */
export function shown(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  return text.slice(0, 1000).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").trim() || undefined;
}
