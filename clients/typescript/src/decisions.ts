/** Asking, waiting, claiming and reporting. */

import { type Decision, isDecision, mayBeClaimed } from "./decision.js";
import {
  AlreadyRan,
  ApprovalLapsed,
  BadAnswer,
  Cancelled,
  Conflict,
  Expired,
  NotApproved,
  OutcomeUnknown,
  Rejected,
  ServiceFailed,
  StillPending,
  TooManyRequests,
  Unreachable,
} from "./errors.js";
import { Backoff, type Wire, isAway, now, patiently, segment, sleep } from "./wire.js";

/** The wait of one request. Below the service's limit of 55 s and the timeouts of many proxies. */
const POLL_SECONDS = 50;
/** The extra time for the response to a long poll. */
const MARGIN_SECONDS = 30;

export type Status = "running" | "committed" | "failed";

/** Raises a question. The same one is never raised twice, so it may be sent again. */
export async function ask(wire: Wire, path: string, question: object, patience: number): Promise<Decision> {
  try {
    return read(path, await patiently(() => wire.post(path, question), patience));
  } catch (why) {
    const underWay = why instanceof Conflict && /progress.*(dec_[0-9a-f]{32})/.exec(why.description);
    if (!underWay) throw why;
    throw new OutcomeUnknown(underWay[1], "exactly this call was claimed before, and has no outcome yet", why);
  }
}

export async function get(wire: Wire, decisionId: string, wait = 0): Promise<Decision> {
  const path = pathOf(decisionId, wait > 0 ? `?wait=${wait}` : "");
  return read(path, await wire.get(path, wait + MARGIN_SECONDS));
}

/**
 * Waits by repeated long polls, over restarts of either side: the decision is a record at the service. Without a
 * `timeout` it waits until the question is settled, at its deadline at the latest.
 */
export async function wait(wire: Wire, decisionId: string, timeout = Infinity): Promise<Decision> {
  const until = now() + timeout;
  const backoff = new Backoff();
  for (;;) {
    let pause = 0.05;
    try {
      const decision = await get(wire, decisionId, Math.floor(Math.min(POLL_SECONDS, Math.max(0, until - now()))));
      if (decision.state !== "pending") return decision;
      backoff.reset();
    } catch (why) {
      if (!isAway(why) && !(why instanceof TooManyRequests)) throw why;
      pause = backoff.after(why);
    }
    if (now() + pause >= until) throw new StillPending(decisionId);
    await sleep(pause);
  }
}

/**
 * Claims an approval for exactly this call. Only after it returns may the call run, once.
 *
 * A claim whose response was lost is not sent again while the decision shows an execution: that may be this one.
 */
export async function claim(wire: Wire, decisionId: string, call: object, patience: number): Promise<Decision> {
  const until = now() + patience;
  const backoff = new Backoff();
  const path = pathOf(decisionId, "/claim");
  for (;;) {
    let lost: Unreachable | ServiceFailed;
    try {
      return read(path, await wire.post(path, call));
    } catch (why) {
      if (!isAway(why)) throw why;
      lost = why;
    }
    const pause = backoff.after(lost);
    const neverSent = lost instanceof Unreachable && !lost.mayHaveArrived;
    if (now() + pause > until) {
      throw neverSent ? lost : new OutcomeUnknown(decisionId, "the response to the claim was lost", lost);
    }
    await sleep(pause);
    if (neverSent) continue;
    const decision = await patiently(() => get(wire, decisionId), patience);
    const held = ["claimed", "unknown"].includes(decision.execution?.state ?? "");
    if (held || !mayBeClaimed(decision)) {
      throw new OutcomeUnknown(decisionId, "the response to the claim was lost, and it is claimed", lost);
    }
  }
}

/** Reports an outcome. The same report again changes nothing, so it is repeated while the service is away. */
export async function report(
  wire: Wire,
  decisionId: string,
  status: Status,
  executionId: string | undefined,
  message: string | undefined,
  patience: number,
): Promise<Decision> {
  const path = pathOf(decisionId, "/outcome");
  const body = { status, execution_id: executionId, error_message: message };
  return read(path, await patiently(() => wire.post(path, body), patience));
}

export async function withdraw(wire: Wire, decisionId: string, reason?: string): Promise<Decision> {
  const path = pathOf(decisionId, "/withdraw");
  return read(path, await wire.post(path, { reason }));
}

/** Returns if the approval can be claimed; otherwise the error says why not. */
export function requireClaimable(decision: Decision): void {
  if (mayBeClaimed(decision)) return;
  const state = decision.execution?.state;
  if (state === "claimed" || state === "unknown") {
    throw new OutcomeUnknown(decision.decision_id, `its execution is ${state}`);
  }
  if (state === "committed" || state === "failed") throw new AlreadyRan(decision, state);
  throw notApproved(decision);
}

/** The answer to a clarification request, also a default that applied in time. */
export function requireAnswer(decision: Decision): string | boolean | number {
  const byDefault = decision.state === "expired" && decision.expired_as === "default_response";
  if ((decision.state === "answered" || byDefault) && decision.response !== undefined) return decision.response;
  throw notApproved(decision);
}

function notApproved(decision: Decision): NotApproved | StillPending {
  if (decision.state === "pending") return new StillPending(decision.decision_id);
  if (decision.state === "rejected") return new Rejected(decision);
  if (decision.state === "cancelled") return new Cancelled(decision);
  if (decision.state === "expired" && decision.expired_as !== "accept") return new Expired(decision);
  return new ApprovalLapsed(decision);
}

function pathOf(decisionId: string, below: string): string {
  return `/v1/decisions/${segment(decisionId)}${below}`;
}

function read(path: string, document: unknown): Decision {
  if (!isDecision(document)) throw new BadAnswer(path);
  return document;
}
